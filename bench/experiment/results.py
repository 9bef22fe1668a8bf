"""A finished run as a small JSON file.

Reports are made from these files alone, so results can be copied between machines.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec

from bench.experiment.plan import Plan, Run, key_of, select_runs
from headwise.errors import DataError
from headwise.files import whole_file

MAX_BYTES = 1_000_000
"""A result is a few kilobytes; a much larger file is something else."""


class Summary(Protocol):
    """What the command needs of a measurement."""

    def summary(self) -> str:
        """Give the main scores in a few words, to show while other runs are training."""


S = TypeVar("S", bound=Summary)
T = TypeVar("T")


class Result(msgspec.Struct, Generic[S], frozen=True, kw_only=True, omit_defaults=True):
    """A finished run, named by its row or by its dataset and system."""

    row: str = ""
    dataset: str = ""
    system: str = ""
    seed: int
    key: str
    """A checksum of the settings; see `plan.key_of`."""
    commands: dict[str, str]
    seconds: dict[str, float]
    """Time of each command, without interruptions."""
    side_by_side: int
    """How many runs at most shared the machine."""
    scores: S

    @property
    def run(self) -> Run:
        """The run that this is the result of."""
        return Run((self.row,) if self.row else (self.dataset, self.system), self.seed)


def write_json(path: Path, value: object) -> None:
    """Write a struct atomically, indented for people to read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")


def read_json(path: Path, kind: type[T]) -> T | None:
    """Read a struct; None if the file does not exist."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError("too large for a result", str(path), hint="move it elsewhere")
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise DataError(f"not a result: {error}", str(path), hint="remove it") from error


def read_result(path: Path, scores_type: type[S]) -> Result[S] | None:
    """Read a result; None if the run has not finished."""
    return read_json(path, Result[scores_type])  # type: ignore[valid-type]


def read_results(out: Path, runs: Iterable[Run], scores_type: type[S]) -> list[Result[S]]:
    """Read the results that exist, in the order of the runs."""
    found = [read_result(run.path(out, ".json"), scores_type) for run in runs]
    return [result for result in found if result is not None]


def is_done(plan: Plan, run: Run, out: Path, scores_type: type[S]) -> bool:
    """Whether a run has a result with the current settings of the plan."""
    result = read_result(run.path(out, ".json"), scores_type)
    return result is not None and result.key == key_of(plan, run)


def outdated(plan: Plan, results: Iterable[Result[S]]) -> list[str]:
    """Name the results made with settings that the plan no longer has."""
    return [str(one.run) for one in results if one.key != key_of(plan, one.run)]


def unfinished(plan: Plan, results: Iterable[Result[S]]) -> list[Run]:
    """List the runs of a plan without a result."""
    finished = {one.run for one in results}
    return [run for run in select_runs(plan) if run not in finished]
