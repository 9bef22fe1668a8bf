"""The rows of the table of accuracy, from a TOML file, the runs they make and their commands.

A row is a recipe with changes, trained on a treebank over seeds; or an ensemble of all seeds of
other rows, which is only measured. A row may learn from other rows as teachers; its runs wait for
theirs.
"""

import json
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from bench.experiment.jobs import ROOT, Lane, Step
from bench.experiment.plan import (
    Name,
    Options,
    Run,
    Seed,
    key_of,
    model_path,
    read_recipe_table,
    read_toml,
    run_folder,
    train_step,
)
from bench.experiment.tables import Pair
from headwise.errors import ConfigError
from headwise.settings.choices import Dtype

PLAN_PATH = Path(__file__).with_name("accuracy.toml")


class Treebank(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a treebank is, below `--data`, and its name in `bench.paper`."""

    title: str
    folder: str
    train: str = "train.conllu.xz"
    dev: str = "dev.conllu.xz"
    test: str = "test.conllu.xz"
    peers: Name = ""
    """The dataset of `bench.paper` whose results of other parsers are shown; empty for none."""

    def path(self, data: Path, part: str) -> Path:
        """Name the file of train, dev or test."""
        return data / self.folder / str(getattr(self, part))


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A row of the table."""

    title: str
    treebank: Name
    reads: str = "words"
    """What it reads, for people."""
    recipe: str = ""
    """Path from the root of the repository; an ensemble has none."""
    set: tuple[str, ...] = ()
    """`section.key=value`, changes to the recipe."""
    paths: dict[str, str] = {}
    """Settings whose value is a path below `--data`, such as `model.vectors`."""
    also: tuple[Name, ...] = ()
    """More treebanks to train on."""
    tests: tuple[Name, ...] = ()
    """More treebanks whose test files are scored."""
    teachers: tuple[Name, ...] = ()
    """Rows to learn from, all seeds."""
    text: tuple[Name, ...] = ()
    """Treebanks of which the teachers parse the words of the train file."""
    ensemble: tuple[Name, ...] = ()
    """Rows to combine, all seeds."""
    seeds: tuple[Seed, ...] = ()
    """Instead of those of the plan."""
    precision: Dtype | None = None
    """Of training, instead of `--precision`."""
    goal: Pair | None = None
    """UAS and LAS to reach on test, in float32."""


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All of `accuracy.toml`; a run is named by its row."""

    seeds: Annotated[tuple[Seed, ...], Meta(min_length=1)]
    treebanks: dict[Name, Treebank]
    rows: dict[Name, Row]

    def row(self, run: Run) -> Row:
        """Look up the row of a run."""
        return self.rows[run.names[0]]

    def runs(self) -> list[Run]:
        """List the runs of all rows."""
        return [run for name in self.rows for run in self.runs_of_row(name)]

    def runs_of_row(self, name: str) -> list[Run]:
        """List the runs of one row; an ensemble has one, with seed 0."""
        row = self.rows[name]
        seeds = (0,) if row.ensemble else row.seeds or self.seeds
        return [Run((name,), seed) for seed in seeds]

    def needs(self, run: Run) -> list[Run]:
        """List the teachers of a run, or the members of its ensemble."""
        row = self.row(run)
        return [one for name in row.teachers + row.ensemble for one in self.runs_of_row(name)]

    def key_parts(self, run: Run) -> list[object]:
        """List everything except the data that a run depends on."""
        row = self.row(run)
        return [
            read_recipe_table(row.recipe) if row.recipe else None,
            row.set,
            sorted(row.paths.items()),
            [self.treebanks[name].folder for name in (row.treebank, *row.also, *row.text)],
            row.tests,
            row.precision,
            [key_of(self, one) for one in self.needs(run)],
        ]

    def paths(self, names: tuple[str, ...], data: Path, part: str) -> list[Path]:
        """Name one part of several treebanks."""
        return [self.treebanks[name].path(data, part) for name in names]

    def inputs(self, run: Run, data: Path) -> list[Path]:
        """List the files that a run reads."""
        row = self.row(run)
        own = self.treebanks[row.treebank]
        return [
            *(own.path(data, part) for part in ("train", "dev", "test")),
            *self.paths(row.also + row.text, data, "train"),
            *self.paths(row.tests, data, "test"),
            *(data / path for path in row.paths.values()),
            *([ROOT / row.recipe] if row.recipe else []),
        ]

    def measured_files(self, name: str, data: Path) -> dict[str, Path]:
        """List the files that a row is measured on: dev, test, and the tests of other treebanks."""
        row = self.rows[name]
        own = {part: self.treebanks[row.treebank].path(data, part) for part in ("dev", "test")}
        return own | dict(zip(row.tests, self.paths(row.tests, data, "test"), strict=True))

    def lane(self, run: Run) -> Lane:
        """All rows are trained on the device."""
        return "device"

    def steps(self, run: Run, options: Options) -> tuple[Step, ...]:
        """List the commands: train and measure, or only measure for an ensemble."""
        row, folder = self.row(run), run_folder(self, run, options.out)
        needs = [model_path(self, one, options.out).parent for one in self.needs(run)]
        models = needs if row.ensemble else [folder / "model"]
        scores_path = folder / "scores.json"
        arguments = (run.names[0], options.device, options.threads, scores_path, *models)
        command = options.module_command("bench.accuracy.measure", *arguments)
        measure = Step("measure", command, scores_path)
        if row.ensemble:
            return (measure,)
        settings = list(row.set)
        settings += [
            f"{key}={json.dumps(str(options.data / path))}" for key, path in row.paths.items()
        ]
        if row.teachers:
            settings.append(f"teach.models={json.dumps([*map(str, needs)])}")
        if row.text:
            texts = self.paths(row.text, options.data, "train")
            settings.append(f"teach.text={json.dumps([*map(str, texts)])}")
        train_paths = self.paths((row.treebank, *row.also), options.data, "train")
        dev_path = self.treebanks[row.treebank].path(options.data, "dev")
        train = train_step(
            row.recipe, train_paths, dev_path, run.seed, folder, options, settings, row.precision
        )
        return (train, measure)


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
            raise ConfigError(f"{path}: rows.{name}: a row has either a recipe or an ensemble")
        if row.text and not row.teachers:
            raise ConfigError(f"{path}: rows.{name}: text needs teachers")
        above.add(name)
    return plan
