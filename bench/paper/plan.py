"""Which runs there are: datasets and systems from a TOML file, and every pair of them over seeds.

A dataset names its files (below `--data`), the recipe for it and how it is scored; a system is
either a set of changes to that recipe or the two commands of an outside parser. One run is one
training; greedy and repaired trees (Sec. 3.3) both come from it.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from bench.command import Name, Seed, read_toml
from bench.jobs import ROOT
from headwise.errors import ConfigError
from headwise.settings.choices import Format, Punctuation

PLAN_PATH = Path(__file__).with_name("paper.toml")
PARTS = ("train", "dev", "test")

Part = Literal["train", "dev", "test"]
PaperDataset = Literal["ptb", "ctb", "czech", "german"]


class System(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A parser to train: changes to the recipe of a dataset, or an outside parser."""

    title: str
    set: tuple[str, ...] = ()
    """`section.key=value`, laid over what the dataset sets."""
    train: tuple[str, ...] = ()
    """Command of an outside parser; {python} {train} {dev} {model} {seed} are filled in."""
    predict: tuple[str, ...] = ()
    """Its command to parse a file; {python} {model} {input} {output} are filled in."""
    seeds: tuple[Seed, ...] = ()
    """Instead of the seeds of the plan, for a parser that knows no seeds."""
    datasets: tuple[Name, ...] = ()
    """Where it is trained, if not everywhere."""

    @property
    def is_outside(self) -> bool:
        """Whether its commands are somebody else's; it then runs on the CPU."""
        return bool(self.train)


class Dataset(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A treebank, the recipe for it, and how it is scored."""

    title: str
    stands_for: PaperDataset
    """The dataset of the paper whose figures go beside; for the paper's own data, itself."""
    is_own: bool = False
    """It is the paper's own data, and no stand-in for it."""
    folder: str
    """Below `--data`."""
    train: str = "train.conllu.xz"
    dev: str = "dev.conllu.xz"
    test: str = "test.conllu.xz"
    format: Format = "conllu"
    recipe: str
    set: tuple[str, ...] = ()
    """`section.key=value`, laid over the recipe."""
    overrides: dict[Name, tuple[str, ...]] = {}
    """More of them for one system, laid over all others."""
    vectors: str = ""
    """Pre-trained word vectors, below `--data`."""
    punctuation: Punctuation
    """Words that are not scored."""
    decoder: Literal["mst", "eisner"]
    """How trees are repaired: `eisner` where the paper is projective, `mst` elsewhere."""

    def path(self, data: Path, part: str) -> Path:
        """Where a part of it is."""
        return data / self.folder / str(getattr(self, part))

    def is_there(self, data: Path) -> bool:
        """Whether all of its files are."""
        return all(self.path(data, part).is_file() for part in PARTS)


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole of `paper.toml`."""

    seeds: Annotated[tuple[Seed, ...], Meta(min_length=1)]
    systems: dict[Name, System]
    datasets: dict[Name, Dataset]


@dataclass(frozen=True, slots=True)
class Run:
    """One training and what is measured on it."""

    dataset: str
    system: str
    seed: int

    def __str__(self) -> str:
        """Name it as `--only` does."""
        return f"{self.dataset}/{self.system}/{self.seed}"


def read_plan(path: Path) -> Plan:
    """Read and check a plan."""
    plan = read_toml(path, Plan, PLAN_PATH)
    for name, system in plan.systems.items():
        if bool(system.train) != bool(system.predict) or (system.train and system.set):
            raise ConfigError(
                f"{path}: systems.{name}: an outside parser has train and predict, and no set"
            )
        for dataset_name in system.datasets:
            if dataset_name not in plan.datasets:
                raise ConfigError(f"{path}: systems.{name}.datasets: no dataset {dataset_name}")
    for name, dataset in plan.datasets.items():
        for system_name in dataset.overrides:
            if system_name not in plan.systems:
                raise ConfigError(f"{path}: datasets.{name}.overrides: no system {system_name}")
        if not (ROOT / dataset.recipe).is_file():
            raise ConfigError(f"{path}: datasets.{name}.recipe: no file {dataset.recipe}")
    return plan


def runs_of(plan: Plan, only: Sequence[str] = ()) -> list[Run]:
    """List the runs, the first seed of everything first, that some pattern of `only` matches.

    A pattern is DATASET, DATASET/SYSTEM or DATASET/SYSTEM/SEED, `*` for any: `*/dense/1`.
    """
    runs = sorted(_all_runs(plan), key=lambda run: run.seed)
    if not only:
        return runs
    for pattern in only:
        if not any(_matches(run, pattern) for run in runs):
            raise ConfigError(
                f"--only {pattern}: no such run",
                f"datasets: {', '.join(plan.datasets)}; systems: {', '.join(plan.systems)}",
            )
    return [run for run in runs if any(_matches(run, pattern) for pattern in only)]


def _all_runs(plan: Plan) -> Iterator[Run]:
    for dataset in plan.datasets:
        for name, system in plan.systems.items():
            if dataset in system.datasets or not system.datasets:
                yield from (Run(dataset, name, seed) for seed in system.seeds or plan.seeds)


def _matches(run: Run, pattern: str) -> bool:
    given = pattern.split("/")
    parts = (run.dataset, run.system, str(run.seed))
    return len(given) <= len(parts) and all(
        fnmatchcase(part, wanted) for part, wanted in zip(parts, given, strict=False)
    )


def settings_of(plan: Plan, run: Run) -> tuple[str, ...]:
    """Give the settings of a run that `headwise train --set` takes, word vectors left out."""
    dataset = plan.datasets[run.dataset]
    return (
        f"data.format={dataset.format}",
        f"data.punctuation={dataset.punctuation}",
        f"decode.decoder={dataset.decoder}",
        *dataset.set,
        *plan.systems[run.system].set,
        *dataset.overrides.get(run.system, ()),
    )


def key_of(plan: Plan, run: Run) -> str:
    """Make a checksum of all that a run depends on but the data; other settings, other key."""
    system, dataset = plan.systems[run.system], plan.datasets[run.dataset]
    if system.is_outside:
        own: list[object] = [system.train, system.predict, dataset.format, dataset.punctuation]
    else:
        recipe = tomllib.loads((ROOT / dataset.recipe).read_text(encoding="utf-8"))
        own = [recipe, settings_of(plan, run), dataset.vectors]
    whole = [str(run), own]
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:12]
