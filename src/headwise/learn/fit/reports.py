"""What a run reports while it trains, and how each report reads as a line of text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from headwise.learn.segment.score import SegmentScores
from headwise.settings.choices import Column

if TYPE_CHECKING:
    from headwise.learn.segment.train import TrainedSegmenter

Phase = Literal["adam", "sgd", "label"]
HELD_OUT = "the last 10 of every 100 sentences of train, as there is no --dev"


@dataclass(frozen=True, slots=True)
class StartReport:
    """The size of the training data; sentences over `train.max_length` words are not counted."""

    n_sentences: int
    n_words: int
    n_too_long: int
    n_dev_sentences: int
    n_teachers: int = 0
    is_held_out: bool = False

    def line(self) -> str:
        """Describe the data."""
        left_out = f", {self.n_too_long:,} longer ones left out" if self.n_too_long else ""
        held_out = f", {HELD_OUT}" if self.is_held_out else ""
        taught = f"; taught by {self.n_teachers}" if self.n_teachers else ""
        return (
            f"{self.n_sentences:,} sentences, {self.n_words:,} words to learn from{left_out}; "
            f"{self.n_dev_sentences:,} sentences of dev{held_out}{taught}"
        )


@dataclass(frozen=True, slots=True)
class TakenReport:
    """What a network takes over from the model that it starts from.

    `rows` counts, for each kind of string, those that the model knew and all; `n_whole` counts the
    tensors that were taken over unchanged. `anew` are tensors that keep their random values,
    `unused` those of the model that do not fit anywhere.
    """

    model: str
    rows: Mapping[str, tuple[int, int]]
    n_whole: int
    anew: Sequence[str]
    unused: Sequence[str]
    n_replayed: int = 0

    def line(self) -> str:
        """Describe what was taken over and what was not."""
        rows = ", ".join(f"{known:,} of {n:,} {name}" for name, (known, n) in self.rows.items())
        anew = ", ".join(self.anew) or "nothing"
        unused = f"; not used: {', '.join(self.unused)}" if self.unused else ""
        replayed = f"; {self.n_replayed:,} sentences to replay" if self.n_replayed else ""
        return (
            f"starts from {self.model}, which knows {rows}; {self.n_whole} tensors as they were; "
            f"initialised randomly: {anew}{unused}{replayed}"
        )


@dataclass(frozen=True, slots=True)
class StepReport:
    """Progress within an epoch; `loss` is the mean so far, `n_epochs` the most of this phase."""

    phase: Phase
    epoch: int
    n_epochs: int
    n_done: int
    n_batches: int
    loss: float

    def line(self) -> str:
        """Describe the progress."""
        share = self.n_done / self.n_batches
        return f"{self.phase} {self.epoch}/{self.n_epochs}  {share:4.0%}  loss {self.loss:.4f}"

    def seconds_left(self, seconds: float) -> float:
        """Estimate the rest of the phase from the `seconds` that this epoch has taken so far."""
        share = self.n_done / self.n_batches
        return seconds / share * (1 - share + self.n_epochs - self.epoch)


@dataclass(frozen=True, slots=True)
class PhaseReport:
    """A phase begins: its number among those of the run, and what it does."""

    number: int
    n_phases: int
    what: str

    def line(self) -> str:
        """Describe the phase."""
        return f"{self.number}/{self.n_phases} {self.what}"


class EpochReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an epoch; dev scores are percentages, punctuation by the recipe's rule."""

    phase: Phase
    epoch: int
    loss: float
    dev_uas: float
    dev_las: float | None = None
    """On repaired trees; None until labels are trained."""
    dev_tags: dict[str, float] = {}
    """Accuracy of each column of predicted tags; every word counts."""
    tree_rate: float
    """Share of the dev sentences whose greedy heads form a tree."""
    is_best: bool
    seconds: float

    def line(self) -> str:
        """Describe the epoch."""
        las = "" if self.dev_las is None else f"  LAS {self.dev_las:.2f}"
        tags = "".join(f"  {name.upper()} {score:.2f}" for name, score in self.dev_tags.items())
        best = "  best" if self.is_best else ""
        return (
            f"{self.phase:5} {self.epoch:2}  loss {self.loss:.4f}  dev UAS {self.dev_uas:.2f}"
            f"{las}{tags}  trees {self.tree_rate:.1f}%  {self.seconds:.1f} s{best}"
        )

    def brief(self) -> str:
        """Name the epoch, with its scores."""
        las = "" if self.dev_las is None else f", LAS {self.dev_las:.2f}"
        return f"epoch {self.epoch} of {self.phase}: dev UAS {self.dev_uas:.2f}{las}"


@dataclass(frozen=True, slots=True, eq=False)
class SegmentReport:
    """An epoch of the segmenter: the mean loss, F1 on dev, and the best segmenter so far."""

    epoch: int
    n_epochs: int
    loss: float
    dev: SegmentScores
    best_dev: SegmentScores
    best: "TrainedSegmenter"
    what: str = "words in text"
    """What is learned."""

    def line(self) -> str:
        """Describe the epoch."""
        return (
            f"{self.what} {self.epoch}/{self.n_epochs}  loss {self.loss:.4f}  "
            f"dev words {self.dev.words:.2f}  sentences {self.dev.sentences:.2f}"
        )


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """The number that the scores of a column were divided by, and the calibration error on dev."""

    column: Column
    temperature: float
    error_before: float
    error: float
    n_left: int = 0
    """Columns that are still to be calibrated."""

    def line(self) -> str:
        """Describe the calibration."""
        return (
            f"probabilities of {self.column}: scores divided by {self.temperature:.2f}; "
            f"calibration error on dev {self.error:.2f} points, before {self.error_before:.2f}"
        )


Report = (
    StartReport
    | TakenReport
    | PhaseReport
    | StepReport
    | EpochReport
    | SegmentReport
    | CalibrationReport
)
