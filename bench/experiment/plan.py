"""What a plan must answer: which runs it has, what each one needs, and the commands that make it.

A run is one training (or one ensemble of trained models) and its measurement. Its files start with
`OUT/.../NAME-SEED`: `.json` is the result, `.log` the output of its commands, and `-KEY/` the run
itself. KEY is a checksum of the settings, so changed settings never resume an old
run.
"""

import hashlib
import json
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Protocol, TypeVar

from msgspec import Meta

from bench.experiment.jobs import ROOT, Job, Lane, Step
from headwise.errors import ConfigError
from headwise.settings.recipe import to_struct

Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]*$")]
Seed = Annotated[int, Meta(ge=0, lt=2**31)]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Run:
    """One training, or one ensemble (seed 0); `names` is a row, or a dataset and a system."""

    names: tuple[str, ...]
    seed: int

    def __str__(self) -> str:
        """Write it as `--only` takes it."""
        return "/".join([*self.names, str(self.seed)])

    def matches(self, pattern: str) -> bool:
        """Whether `--only pattern` selects it: `ewt`, `ewt/dense`, `*/dense/1`."""
        parts, wanted = str(self).split("/"), pattern.split("/")
        return len(wanted) <= len(parts) and all(map(fnmatchcase, parts, wanted))

    def path(self, out: Path, suffix: str) -> Path:
        """Name one of its files in `out`."""
        return out.joinpath(*self.names[:-1], f"{self.names[-1]}-{self.seed}{suffix}")


@dataclass(frozen=True, slots=True)
class Options:
    """Where the data and the results are, and how to train and measure."""

    plan_path: Path
    data: Path
    out: Path
    device: str
    precision: str
    threads: int

    def module_command(self, name: str, *arguments: object) -> tuple[str, ...]:
        """Make the command that runs a module of a bench on this plan and this data."""
        first = (sys.executable, "-m", name, str(self.plan_path), str(self.data))
        return (*first, *map(str, arguments))


class Plan(Protocol):
    """A plan, usually read from a TOML file."""

    def runs(self) -> list[Run]:
        """List all runs."""

    def needs(self, run: Run) -> list[Run]:
        """List the runs whose models a run takes: its teachers, or members of its ensemble."""

    def key_parts(self, run: Run) -> list[object]:
        """List everything except the data that a run depends on, as JSON values."""

    def inputs(self, run: Run, data: Path) -> list[Path]:
        """List the files that a run reads."""

    def lane(self, run: Run) -> Lane:
        """Where a run is trained."""

    def steps(self, run: Run, options: Options) -> tuple[Step, ...]:
        """List its commands; the last one writes `scores.json` into the folder of the run."""


def read_toml(path: Path, kind: type[T], default_path: Path) -> T:
    """Read a plan; the caller checks how its parts fit together."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        hint = f"the default plan is {default_path}"
        raise ConfigError(f"{path}: {error.strerror}", hint) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    return to_struct(table, kind, str(path))


def select_runs(plan: Plan, only: Sequence[str] = ()) -> list[Run]:
    """List the runs that match a pattern and all the runs they need, the first seeds first."""
    runs = sorted(plan.runs(), key=lambda run: run.seed)
    if not only:
        return runs
    for pattern in only:
        if not any(run.matches(pattern) for run in runs):
            names = ", ".join(dict.fromkeys("/".join(run.names) for run in runs))
            raise ConfigError(f"--only {pattern}: no run matches", f"runs: {names}")
    selected: set[Run] = set()
    waiting = [run for run in runs if any(run.matches(pattern) for pattern in only)]
    while waiting:
        run = waiting.pop()
        selected.add(run)
        waiting += plan.needs(run)
    return [run for run in runs if run in selected]


def key_of(plan: Plan, run: Run) -> str:
    """Compute a checksum of everything except the data that a run depends on."""
    parts = [str(run), *plan.key_parts(run)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def read_recipe_table(recipe: str) -> dict[str, object]:
    """Read a recipe of the repository as it stands, for the checksum."""
    return tomllib.loads((ROOT / recipe).read_text(encoding="utf-8"))


def run_folder(plan: Plan, run: Run, out: Path) -> Path:
    """Name the folder in which a run works."""
    return run.path(out, f"-{key_of(plan, run)}")


def model_path(plan: Plan, run: Run, out: Path) -> Path:
    """Name the file that exists once a run has been trained."""
    return run_folder(plan, run, out) / "model" / "model.json"


def missing_inputs(plan: Plan, run: Run, data: Path) -> list[Path]:
    """List the files that a run, or a run it needs, would read and that do not exist."""
    paths = [path for path in plan.inputs(run, data) if not path.exists()]
    needs = {one.names: one for one in plan.needs(run)}  # seeds of a row read the same files
    return paths + [path for one in needs.values() for path in missing_inputs(plan, one, data)]


def job_of(plan: Plan, run: Run, options: Options) -> Job:
    """Make the job of a run."""
    return Job(
        name=str(run),
        lane=plan.lane(run),
        folder=run_folder(plan, run, options.out),
        log_path=run.path(options.out, ".log"),
        steps=plan.steps(run, options),
        needs=tuple(model_path(plan, one, options.out) for one in plan.needs(run)),
    )


def train_step(
    recipe: str,
    train_paths: Iterable[Path],
    dev_path: Path,
    seed: int,
    folder: Path,
    options: Options,
    settings: Iterable[str],
    precision: str | None = None,
) -> Step:
    """Make the command that trains a model of ours; `settings` are `section.key=value`."""
    command = [sys.executable, "-m", "headwise", "train", str(ROOT / recipe)]
    for path in train_paths:
        command += ["--train", str(path)]
    command += ["--dev", str(dev_path), "--seed", str(seed), "--out", str(folder)]
    command += ["--device", options.device, "--precision", precision or options.precision]
    for setting in settings:
        command += ["--set", setting]
    return Step("train", tuple(command), folder / "model" / "model.json")
