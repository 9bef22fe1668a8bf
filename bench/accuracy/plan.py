"""Which rows the table has, and which runs they make, from a TOML file.

A row is a recipe with changes, trained on a treebank over seeds; or an ensemble, which is made of
all seeds of other rows and only measured. A row may learn from others as teachers, and its runs
then wait for theirs.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from bench.command import Name, Seed, read_toml
from bench.jobs import ROOT
from headwise.errors import ConfigError
from headwise.settings.choices import Dtype

PLAN_PATH = Path(__file__).with_name("accuracy.toml")
Pair = tuple[float, float]


class Treebank(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a treebank is, below `--data`, and what `bench.paper` calls it."""

    title: str
    folder: str
    train: str = "train.conllu.xz"
    dev: str = "dev.conllu.xz"
    test: str = "test.conllu.xz"
    peers: Name = ""
    """The dataset of `bench.paper` whose results of other parsers go beside; empty for none."""

    def path(self, data: Path, part: str) -> Path:
        """Where a part of it is."""
        return data / self.folder / str(getattr(self, part))


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A row of the table."""

    title: str
    treebank: Name
    reads: str = "words"
    """What it reads, for people."""
    recipe: str = ""
    """From the root of the repository; an ensemble has none."""
    set: tuple[str, ...] = ()
    """`section.key=value`, laid over the recipe."""
    paths: dict[str, str] = {}
    """Settings whose value is a path below `--data`, as `model.vectors`."""
    also: tuple[Name, ...] = ()
    """Treebanks to learn from besides."""
    tests: tuple[Name, ...] = ()
    """Treebanks whose test files are parsed besides."""
    teachers: tuple[Name, ...] = ()
    """Rows to learn from: all seeds of them."""
    text: tuple[Name, ...] = ()
    """Treebanks whose train files the teachers parse anew, for the words alone."""
    ensemble: tuple[Name, ...] = ()
    """Rows to put together: all seeds of them."""
    seeds: tuple[Seed, ...] = ()
    """Instead of those of the plan."""
    precision: Dtype | None = None
    """Of training, instead of `--precision`."""
    goal: Pair | None = None
    """UAS and LAS on test to reach, in float32."""


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole of `accuracy.toml`."""

    seeds: Annotated[tuple[Seed, ...], Meta(min_length=1)]
    treebanks: dict[Name, Treebank]
    rows: dict[Name, Row]


@dataclass(frozen=True, slots=True)
class Run:
    """One training, or one ensemble (of seed 0), and what is measured on it."""

    row: str
    seed: int

    def __str__(self) -> str:
        """Name it as `--only` does."""
        return f"{self.row}/{self.seed}"


def read_plan(path: Path) -> Plan:
    """Read and check a plan."""
    plan = read_toml(path, Plan, PLAN_PATH)
    above: set[str] = set()
    for name, row in plan.rows.items():
        for treebank in (row.treebank, *row.also, *row.tests, *row.text):
            if treebank not in plan.treebanks:
                raise ConfigError(f"{path}: rows.{name}: no treebank {treebank}")
        for other in row.teachers + row.ensemble:
            if other not in above:
                raise ConfigError(f"{path}: rows.{name}: no row {other} above it")
        if bool(row.recipe) == bool(row.ensemble) or (row.ensemble and row.teachers):
            raise ConfigError(f"{path}: rows.{name}: it has either a recipe or an ensemble")
        if row.text and not row.teachers:
            raise ConfigError(f"{path}: rows.{name}: text needs teachers")
        above.add(name)
    return plan


def runs_of(plan: Plan, only: Sequence[str] = ()) -> list[Run]:
    """List the runs, the first seeds first, that a pattern matches, and those that they need.

    A pattern is ROW or ROW/SEED, `*` for any: `ewt-*`, `*/1`.
    """
    runs = sorted(
        (run for name in plan.rows for run in runs_of_row(plan, name)), key=lambda run: run.seed
    )
    for pattern in only:
        if not any(_matches(run, pattern) for run in runs):
            raise ConfigError(f"--only {pattern}: no such run", f"rows: {', '.join(plan.rows)}")
    chosen = [run for run in runs if not only or any(_matches(run, p) for p in only)]
    wanted = set(chosen)
    for run in chosen:
        wanted |= set(_all_needs(plan, run))
    return [run for run in runs if run in wanted]


def runs_of_row(plan: Plan, name: str) -> list[Run]:
    """List the runs of one row."""
    row = plan.rows[name]
    return [Run(name, seed) for seed in ((0,) if row.ensemble else row.seeds or plan.seeds)]


def needs_of(plan: Plan, run: Run) -> list[Run]:
    """List the runs whose models a run takes: its teachers, or its members."""
    row = plan.rows[run.row]
    return [one for name in row.teachers + row.ensemble for one in runs_of_row(plan, name)]


def _all_needs(plan: Plan, run: Run) -> Iterator[Run]:
    for one in needs_of(plan, run):
        yield one
        yield from _all_needs(plan, one)


def _matches(run: Run, pattern: str) -> bool:
    row, _, seed = pattern.partition("/")
    return fnmatchcase(run.row, row) and fnmatchcase(str(run.seed), seed or "*")


def key_of(plan: Plan, run: Run) -> str:
    """Make a checksum of all that a run depends on but the data; other settings, other key."""
    row = plan.rows[run.row]
    recipe: object = None
    if row.recipe:
        recipe = tomllib.loads((ROOT / row.recipe).read_text(encoding="utf-8"))
    treebanks = [plan.treebanks[name].folder for name in (row.treebank, *row.also, *row.text)]
    needs = [key_of(plan, one) for one in needs_of(plan, run)]
    whole = [
        str(run),
        recipe,
        row.set,
        sorted(row.paths.items()),
        treebanks,
        row.tests,
        row.precision,
        needs,
    ]
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:12]


def lacking(plan: Plan, run: Run, data: Path) -> list[str]:
    """List the files that a run, or one that it needs, would read and that are not there."""
    row = plan.rows[run.row]
    own = plan.treebanks[row.treebank]
    paths = [own.path(data, part) for part in ("train", "dev", "test")]
    paths += [plan.treebanks[name].path(data, "train") for name in row.also + row.text]
    paths += [plan.treebanks[name].path(data, "test") for name in row.tests]
    paths += [data / path for path in row.paths.values()]
    if row.recipe:
        paths.append(ROOT / row.recipe)
    missing = [str(path) for path in paths if not path.exists()]
    needs = {one.row: one for one in needs_of(plan, run)}
    return missing + [path for one in needs.values() for path in lacking(plan, one, data)]
