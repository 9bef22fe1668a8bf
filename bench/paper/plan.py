"""Datasets and systems from a TOML file; every pair of them over seeds is a run.

A dataset names its files (below `--data`), its recipe and how it is scored. A system is either a
set of changes to that recipe or the two commands of another parser. One run is one training;
greedy and repaired trees (Sec. 3.3) both come from it.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from bench.experiment.jobs import ROOT, Lane, Step
from bench.experiment.plan import (
    Name,
    Options,
    Run,
    Seed,
    read_recipe_table,
    read_toml,
    run_folder,
    train_step,
)
from headwise.errors import ConfigError
from headwise.settings.choices import Format, Punctuation

PLAN_PATH = Path(__file__).with_name("paper.toml")

PaperDataset = Literal["ptb", "ctb", "czech", "german"]


class System(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A parser to train: changes to the recipe of a dataset, or another parser."""

    title: str
    set: tuple[str, ...] = ()
    """`section.key=value`, applied after those of the dataset."""
    train: tuple[str, ...] = ()
    """Command that trains another parser; {python} {train} {dev} {model} {seed} are filled in."""
    predict: tuple[str, ...] = ()
    """Its command to parse a file; {python} {model} {input} {output} are filled in."""
    seeds: tuple[Seed, ...] = ()
    """Instead of the seeds of the plan, for a parser that has no seeds."""
    datasets: tuple[Name, ...] = ()
    """Datasets it is trained on; empty for all."""

    @property
    def is_external(self) -> bool:
        """Whether it is another parser, which runs on the CPU."""
        return bool(self.train)


class Dataset(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A treebank, the recipe for it, and how it is scored."""

    title: str
    stands_for: PaperDataset
    """The dataset of the paper whose scores are shown beside; the paper's own data: itself."""
    is_own: bool = False
    """It is the paper's own data, not a stand-in for it."""
    folder: str
    """Below `--data`."""
    train: str = "train.conllu.xz"
    dev: str = "dev.conllu.xz"
    test: str = "test.conllu.xz"
    format: Format = "conllu"
    recipe: str
    set: tuple[str, ...] = ()
    """`section.key=value`, changes to the recipe."""
    overrides: dict[Name, tuple[str, ...]] = {}
    """More changes for single systems, applied last."""
    vectors: str = ""
    """Pre-trained word vectors, below `--data`."""
    punctuation: Punctuation
    """Which words are not scored."""
    decoder: Literal["mst", "eisner"]
    """How trees are repaired: `eisner` where the paper's trees are projective, else `mst`."""

    def path(self, data: Path, part: str) -> Path:
        """Name the file of train, dev or test."""
        return data / self.folder / str(getattr(self, part))

    def paths(self, data: Path) -> list[Path]:
        """Name all three files."""
        return [self.path(data, part) for part in ("train", "dev", "test")]


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All of `paper.toml`; a run is named by dataset and system."""

    seeds: Annotated[tuple[Seed, ...], Meta(min_length=1)]
    systems: dict[Name, System]
    datasets: dict[Name, Dataset]

    def runs(self) -> list[Run]:
        """List every system on every dataset it is for, over seeds."""
        return [
            Run((dataset, name), seed)
            for dataset in self.datasets
            for name, system in self.systems.items()
            if dataset in system.datasets or not system.datasets
            for seed in system.seeds or self.seeds
        ]

    def needs(self, run: Run) -> list[Run]:
        """No run needs the model of another."""
        return []

    def parts(self, run: Run) -> tuple[Dataset, System]:
        """Look up the dataset and the system of a run."""
        dataset, system = run.names
        return self.datasets[dataset], self.systems[system]

    def settings(self, run: Run) -> tuple[str, ...]:
        """List the settings for `headwise train --set`, except word vectors."""
        dataset, system = self.parts(run)
        return (
            f"data.format={dataset.format}",
            f"data.punctuation={dataset.punctuation}",
            f"decode.decoder={dataset.decoder}",
            *dataset.set,
            *system.set,
            *dataset.overrides.get(run.names[1], ()),
        )

    def key_parts(self, run: Run) -> list[object]:
        """List everything except the data that a run depends on."""
        dataset, system = self.parts(run)
        if system.is_external:
            return [[system.train, system.predict, dataset.format, dataset.punctuation]]
        return [[read_recipe_table(dataset.recipe), self.settings(run), dataset.vectors]]

    def inputs(self, run: Run, data: Path) -> list[Path]:
        """List the files that a run reads."""
        dataset, system = self.parts(run)
        vectors = [data / dataset.vectors] if dataset.vectors and not system.is_external else []
        return dataset.paths(data) + vectors

    def lane(self, run: Run) -> Lane:
        """Other parsers run on the CPU."""
        return "cpu" if self.parts(run)[1].is_external else "device"

    def steps(self, run: Run, options: Options) -> tuple[Step, ...]:
        """List the commands of a run."""
        folder = run_folder(self, run, options.out)
        dataset, system = self.parts(run)
        if system.is_external:
            return _external_steps(run, system, folder, options)
        settings = list(self.settings(run))
        if dataset.vectors:
            settings.append(f"model.vectors={json.dumps(str(options.data / dataset.vectors))}")
        train, dev, _ = dataset.paths(options.data)
        arguments = (run.names[0], folder, options.threads)
        measure = options.module_command("bench.paper.measure", *arguments)
        return (
            train_step(dataset.recipe, [train], dev, run.seed, folder, options, settings),
            Step("measure", measure, folder / "scores.json"),
        )


def read_plan(path: Path) -> Plan:
    """Read and check a plan."""
    plan = read_toml(path, Plan, PLAN_PATH)
    for name, system in plan.systems.items():
        if bool(system.train) != bool(system.predict) or (system.train and system.set):
            raise ConfigError(
                f"{path}: systems.{name}: another parser has train and predict, and no set"
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


def _external_steps(run: Run, system: System, folder: Path, options: Options) -> tuple[Step, ...]:
    """Convert the treebank, train, parse dev and test, and measure."""
    values = {
        "python": sys.executable,
        "seed": str(run.seed),
        "model": str(folder / "outside.model"),
        "train": str(folder / "train.conllu"),
        "dev": str(folder / "dev.conllu"),
    }
    convert = options.module_command("bench.paper.treebank", run.names[0], folder)
    arguments = (run.names[0], folder, options.threads, "--parsed")
    measure = options.module_command("bench.paper.measure", *arguments)
    steps = [
        Step("plain", convert, folder / "plain"),
        Step("train", _fill(system.train, values), folder / "outside.model"),
    ]
    for part in ("dev", "test"):
        output = folder / f"{part}.parsed.conllu"
        files = values | {"input": str(folder / f"{part}.input.conllu"), "output": str(output)}
        steps.append(Step(f"parse {part}", _fill(system.predict, files), output))
    return (*steps, Step("measure", measure, folder / "scores.json"))


def _fill(template: tuple[str, ...], values: dict[str, str]) -> tuple[str, ...]:
    """Replace {names} by their values; other braces stay as they are."""
    filled = []
    for part in template:
        for name, value in values.items():
            part = part.replace(f"{{{name}}}", value)  # noqa: PLW2901 (one name after the other)
        filled.append(part)
    return tuple(filled)
