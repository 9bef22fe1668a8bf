"""What the benches that train have in common: their flags, their plans, and how they end."""

import argparse
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

from msgspec import Meta

from bench.jobs import Place
from headwise.errors import ConfigError, HeadwiseError
from headwise.settings.recipe import convert

Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]*$")]
Seed = Annotated[int, Meta(ge=0, lt=2**31)]
T = TypeVar("T")


def add_flags(parser: argparse.ArgumentParser, plan_path: Path, side_by_side: int) -> None:
    """Add the flags that all of them have."""
    add = parser.add_argument
    n = side_by_side
    add("--data", type=Path, help="folder that holds the data")
    add("--out", type=Path, required=True, help="folder for results, models and the report")
    add("--plan", type=Path, default=plan_path, help=f"what there is to do [{plan_path.name}]")
    add("--time-limit", type=float, metavar="SECONDS", help="then end; call again to go on")
    add("--side-by-side", type=int, default=n, metavar="N", help=f"trainings at a time [{n}]")
    add("--device", default="auto", help="auto, cpu, cuda or cuda:N [auto]")
    add("--precision", default="float32", choices=["float32", "bfloat16"], help="of training")
    add("--threads", type=int, default=2, help="to measure with [2]")
    add("--report-only", action="store_true", help="make the report of the results there are")


def place_of(given: argparse.Namespace) -> Place:
    """Say where things are, once it is clear that there is work to do."""
    if given.data is None:
        raise ConfigError("--data is missing", "to make the report only: --report-only")
    return Place(
        given.plan.resolve(),
        given.data.resolve(),
        given.out.resolve(),
        given.device,
        given.precision,
        given.threads,
    )


def deadline_of(given: argparse.Namespace) -> float | None:
    """Give the time to end at, on the clock of `time.monotonic`."""
    return None if given.time_limit is None else time.monotonic() + given.time_limit


def end_well(prog: str, work: Callable[[], bool], report: Callable[[], list[Path]]) -> int:
    """Work, report, and give an exit code: 0 if nothing failed, even if the time ran out."""
    try:
        all_well = work()
        for path in report():
            print(path)
    except HeadwiseError as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 1
    return 0 if all_well else 1


def read_toml(path: Path, kind: type[T], usual: Path) -> T:
    """Read a plan; what is in it is checked by whoever made `kind`."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", f"the usual plan is {usual}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    return convert(table, kind, str(path))
