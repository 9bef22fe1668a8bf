"""A finished run as a small JSON file, `OUT/ROW-SEED.json`; the report is made from these alone."""

from pathlib import Path
from typing import Literal

import msgspec

from bench.accuracy.plan import Plan, Run, key_of

Runtime = Literal["torch", "int8"]


class PartScores(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one file, every word, in percent."""

    n_words: int
    uas: float
    las: float


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured on one model or ensemble, by `dev`, `test` and the names of other tests."""

    torch: dict[str, PartScores]
    int8: dict[str, PartScores]
    machine: str
    """What the training ran on."""
    n_bytes: int
    """Of the files that int8 needs."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A finished run."""

    row: str
    seed: int
    key: str
    """A checksum of the settings; see `plan.key_of`."""
    commands: dict[str, str]
    seconds: dict[str, float]
    """Of each command, interruptions left out."""
    side_by_side: int
    """How many runs at most shared the machine."""
    scores: Scores


def result_path(out: Path, run: Run) -> Path:
    """Where the result of a run is."""
    return out / f"{run.row}-{run.seed}.json"


def is_current(plan: Plan, run: Run, result: Result) -> bool:
    """Whether a result was made with the settings of the plan."""
    return result.key == key_of(plan, run)
