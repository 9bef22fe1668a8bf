"""A finished run as a small JSON file, `OUT/DATASET/SYSTEM-SEED.json`, and a treebank likewise.

The report is made from these files alone, so they can be copied between machines.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from bench.paper.plan import Run
from headwise.errors import DataError
from headwise.files import whole_file

T = TypeVar("T", bound=msgspec.Struct)
MAX_BYTES = 1_000_000
"""A result is a few kilobytes; anything much larger is something else."""


class Bin(msgspec.Struct, frozen=True, kw_only=True):
    """A tenth of the sentences, sorted by length (Figure 3)."""

    last_length: int
    n_sentences: int
    uas: float | None


class PartScores(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one file, in percent; rates are of the predicted heads, over all words."""

    n_sentences: int
    n_words: int
    """Scored ones, without punctuation."""
    uas: float
    las: float
    uem: float
    lem: float
    label_accuracy: float
    tree_rate: float
    projective_rate: float
    all_words: tuple[float, float]
    """UAS and LAS with punctuation."""
    bins: tuple[Bin, ...]


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """What one way of making trees gave."""

    dev: PartScores
    test: PartScores


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured on one model."""

    greedy: Output | None = None
    """Eq. 8; outside parsers have none."""
    repaired: Output
    """Trees by the decoder of the dataset, or those of an outside parser."""
    machine: str
    """What the training ran on."""
    versions: dict[str, str]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A finished run."""

    dataset: str
    system: str
    seed: int
    key: str
    """A checksum of the settings; see `plan.key_of`."""
    commands: dict[str, str]
    seconds: dict[str, float]
    """Of each command, interruptions left out."""
    side_by_side: int
    """How many runs at most shared the machine."""
    scores: Scores


class TreebankPart(msgspec.Struct, frozen=True, kw_only=True):
    """Size and shape of one file."""

    n_sentences: int
    n_words: int
    projective: float
    """Share of projective trees, in percent."""
    sha256: str
    """Of the file as it lies there."""


class Treebank(msgspec.Struct, frozen=True, kw_only=True):
    """What Table 1 tells of a dataset, `OUT/DATASET/treebank.json`."""

    train: TreebankPart
    dev: TreebankPart
    test: TreebankPart


def result_path(out: Path, run: Run) -> Path:
    """Where the result of a run is."""
    return out / run.dataset / f"{run.system}-{run.seed}.json"


def treebank_path(out: Path, dataset: str) -> Path:
    """Where the figures of a treebank are."""
    return out / dataset / "treebank.json"


def write_json(path: Path, value: msgspec.Struct) -> None:
    """Write a struct whole or not at all, in a form that people can read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")


def read_result(path: Path) -> Result | None:
    """Read a result, None if there is none yet."""
    return read_json(path, Result)


def read_treebank(path: Path) -> Treebank | None:
    """Read the figures of a treebank, None if there are none yet."""
    return read_json(path, Treebank)


def read_scores(path: Path) -> Scores:
    """Read what a run has measured just now."""
    found = read_json(path, Scores)
    assert found is not None
    return found


def read_json(path: Path, kind: type[T]) -> T | None:
    """Read a struct, None if the file is not there."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError("too large for a result", str(path), hint="move it elsewhere")
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise DataError(f"not a result: {error}", str(path), hint="remove it") from error


def results_in(out: Path, runs: list[Run]) -> Iterator[Result]:
    """Read the results that are there, in the order of the runs."""
    for run in runs:
        found = read_result(result_path(out, run))
        if found is not None:
            yield found
