"""A run on disk, so that a kill loses one epoch, or a few if epochs are short.

One safetensors file holds the weights, the best weights so far and the optimiser, with the progress
of the run as JSON in its header; it is replaced by a rename. It holds no state of a random
generator: every epoch draws from its own seed (`learn.fit.loop`), so that a resumed run and one
that never stopped give the same model. The vocabulary lies beside it, so that a model can be made
of the best epoch without the treebank (`learn.export.best_epoch`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

import msgspec
import safetensors
import safetensors.torch
import torch
from torch import Tensor

from headwise.errors import ConfigError, ModelError
from headwise.files import make_folder, whole_file
from headwise.learn.fit.reports import EpochReport, Phase
from headwise.model.bundle import LEXICON, VOCAB
from headwise.model.find import CHECKPOINT
from headwise.settings.recipe import Recipe
from headwise.vocabulary.lexicon import pack_lexicon, unpack_lexicon
from headwise.vocabulary.vocab import Vocab, vocab_from_json, vocab_to_json

_PARTS = ("weights", "kept", "best", "optimiser")
_SHARE = 0.05
"""The share of a run's time that may go into checkpoints."""


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run has come."""

    recipe: bytes
    """The recipe as JSON; a run resumes only with the recipe that it was started with."""
    data: str
    """A checksum of the treebanks; the files of these names may have changed."""
    phase: Phase = "adam"
    epoch: int = 0
    """Epochs done in this phase."""
    best_score: float = -1.0
    n_worse: int = 0
    """Epochs in a row without a better score."""
    n_steps: int = 0
    """Steps that the moving average of the weights has seen."""
    segment: dict[str, float] = {}
    """Dev scores of the segmenter, once it is trained."""
    finished: bool = False
    provenance: dict[str, str] = {}
    """Data, command, seed and machine, for the model."""
    history: list[EpochReport] = []


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Progress and the tensors that go with it."""

    progress: Progress
    weights: Mapping[str, Tensor]
    kept: Mapping[str, Tensor]
    """The moving average of the weights; empty if the recipe has none."""
    best: Mapping[str, Tensor]
    optimiser: Mapping[str, Tensor]


def require_same_run(folder: Path, progress: Progress, recipe: Recipe, data: str) -> None:
    """Refuse to resume a run of another recipe or of other treebanks.

    A setting that is newer than the run has its default there.
    """
    try:
        before = msgspec.json.decode(progress.recipe, type=Recipe)
    except msgspec.ValidationError:  # it has a setting that no longer exists
        before = None
    for what, is_same in (
        ("recipe", before == recipe),
        ("treebank or teacher", progress.data == data),
    ):
        if not is_same:
            raise ConfigError(
                f"{folder}: contains a run with another {what}",
                "choose another --out, or remove it",
            )


class CheckpointWriter:
    """Writes checkpoints, as often as they take no more than their share of the time."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Start with nothing saved."""
        self._clock = clock
        self._saved_at = clock()
        self._seconds = 0.0

    def is_due(self) -> bool:
        """Return whether the last checkpoint is old enough for another."""
        return (self._clock() - self._saved_at) * _SHARE >= self._seconds

    def save(self, folder: Path, checkpoint: Checkpoint) -> None:
        """Replace the last checkpoint, and measure how long that takes."""
        started = self._clock()
        tensors = {
            f"{part}/{name}": tensor.detach().cpu().contiguous()
            for part in _PARTS
            for name, tensor in getattr(checkpoint, part).items()
        }
        progress = msgspec.json.encode(checkpoint.progress).decode()
        data = safetensors.torch.save(tensors, {"progress": progress})
        with whole_file(folder / CHECKPOINT) as stream:
            stream.write(data)
        self._saved_at = self._clock()
        self._seconds = self._saved_at - started


def load_checkpoint(folder: Path) -> Checkpoint | None:
    """Read the checkpoint of a run; None if it has none yet."""
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    parts: dict[str, dict[str, Tensor]] = {part: {} for part in _PARTS}
    try:
        with safetensors.safe_open(path, "pt") as stored:
            progress = msgspec.json.decode((stored.metadata() or {})["progress"], type=Progress)
            for key in stored.keys():  # noqa: SIM118 (not a dict)
                part, _, name = key.partition("/")
                parts[part][name] = stored.get_tensor(key)
    except (safetensors.SafetensorError, KeyError, msgspec.MsgspecError, OSError) as error:
        raise ModelError(f"{path}: not a checkpoint: {error}", "remove it to start over") from error
    return Checkpoint(progress, **parts)


def keep_vocab(folder: Path, vocab: Vocab) -> None:
    """Write a vocabulary, with its lexicon, into a folder of its own."""
    make_folder(folder)
    files = {VOCAB: vocab_to_json(vocab)}
    if vocab.lexicon is not None:
        files[LEXICON] = pack_lexicon(vocab.lexicon)
    for name, data in files.items():
        with whole_file(folder / name) as stream:
            stream.write(data)


def read_kept_vocab(folder: Path) -> Vocab:
    """Read what `keep_vocab` wrote."""
    try:
        vocab = vocab_from_json((folder / VOCAB).read_bytes(), str(folder / VOCAB))
        if (folder / LEXICON).exists():
            data = (folder / LEXICON).read_bytes()
            vocab = replace(vocab, lexicon=unpack_lexicon(data, str(folder / LEXICON)))
    except OSError as error:
        raise ModelError(
            f"{folder / VOCAB}: {error.strerror}", "remove the folder to start over"
        ) from error
    return vocab


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Flatten the state of an optimiser: `parameter number/name`."""
    state = optimiser.state_dict()["state"]
    return {
        f"{number}/{name}": torch.as_tensor(value)
        for number, values in state.items()
        for name, value in values.items()
        if value is not None
    }


def restore_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put flattened state back."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition("/")
        state.setdefault(int(number), {})[name] = tensor
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
