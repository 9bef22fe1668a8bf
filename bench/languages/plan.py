"""The treebanks and variants of a plan, the runs they make and their commands.

A run is one treebank with one variant of the recipe. The number of epochs follows the amount of
data, so that every treebank gets about as many steps.
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
    model_path,
    read_recipe_table,
    read_toml,
    run_folder,
    train_step,
)
from headwise.errors import ConfigError

PLAN_PATH = Path(__file__).with_name("languages.toml")


class Treebank(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A treebank: where it is, below `--data`, and what its card says."""

    title: str
    language: str
    words: int
    """Words of the training file, which the number of epochs follows."""
    licence: str = ""
    folder: str = ""
    """Empty for `languages/NAME`."""
    also: tuple[Name, ...] = ()
    """More treebanks of the plan to train on."""
    set: tuple[str, ...] = ()
    """`section.key=value`, settings that dev asks for in this treebank."""
    note: str = ""
    """What a user has to know, for the card."""


class Variant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Changes to the recipe, for all treebanks."""

    title: str
    set: tuple[str, ...] = ()
    start: Name = ""
    """A treebank of the plan whose model the training starts from, with the same variant's name
    or with `start_variant`."""
    start_variant: Name = ""


class Epochs(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How many epochs a treebank gets: as many as make up `words`, within bounds."""

    words: int
    least: int
    most: int

    def of(self, n_words: int) -> int:
        """Give the epochs of a treebank of so many words."""
        return max(self.least, min(self.most, round(self.words / n_words)))


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A plan; a run is named by its treebank and its variant."""

    seeds: Annotated[tuple[Seed, ...], Meta(min_length=1)]
    recipe: str
    epochs: Epochs
    raw: bool = True
    """Train a segmenter, and score raw text too."""
    variants: dict[Name, Variant]
    treebanks: dict[Name, Treebank]
    trained: tuple[Name, ...] = ()
    """The treebanks that are trained on their own; empty for all."""

    def runs(self) -> list[Run]:
        """List the runs of all treebanks and variants."""
        return [
            Run((treebank, variant), seed)
            for treebank in self.trained or self.treebanks
            for variant in self.variants
            for seed in self.seeds
        ]

    def needs(self, run: Run) -> list[Run]:
        """List the run that this one starts from, if any."""
        variant = self.variants[run.names[1]]
        if not variant.start:
            return []
        return [Run((variant.start, variant.start_variant or run.names[1]), run.seed)]

    def key_parts(self, run: Run) -> list[object]:
        """List everything except the data that a run depends on."""
        treebank, variant = self.treebanks[run.names[0]], self.variants[run.names[1]]
        return [
            read_recipe_table(self.recipe),
            self.settings(run),
            treebank.folder,
            treebank.also,
            [str(one) for one in self.needs(run)],
            variant.start,
        ]

    def settings(self, run: Run) -> list[str]:
        """List the changes to the recipe, those of the treebank last."""
        treebank, variant = self.treebanks[run.names[0]], self.variants[run.names[1]]
        n_words = treebank.words + sum(self.treebanks[name].words for name in treebank.also)
        n_epochs = self.epochs.of(n_words)
        settings = [f"train.adam_epochs={n_epochs}", f"train.patience={n_epochs}"]
        if not self.raw:
            settings += ["segment.epochs=1", "segment.steps=1"]
        if treebank.also:
            settings.append('model.marks=["treebank"]')
        return [*settings, *variant.set, *treebank.set]

    def path(self, name: str, data: Path, part: str) -> Path:
        """Name the train or dev file of a treebank."""
        folder = self.treebanks[name].folder or f"languages/{name}"
        return data / folder / f"{part}.conllu.xz"

    def inputs(self, run: Run, data: Path) -> list[Path]:
        """List the files that a run reads."""
        name = run.names[0]
        also = [self.path(other, data, "train") for other in self.treebanks[name].also]
        return [
            self.path(name, data, "train"),
            self.path(name, data, "dev"),
            *also,
            ROOT / self.recipe,
        ]

    def lane(self, run: Run) -> Lane:
        """All are trained on the device."""
        return "device"

    def steps(self, run: Run, options: Options) -> tuple[Step, ...]:
        """List the commands: train, then measure."""
        name, folder = run.names[0], run_folder(self, run, options.out)
        settings = self.settings(run)
        for one in self.needs(run):
            model = model_path(self, one, options.out).parent
            settings.append(f"start.model={json.dumps(str(model))}")
        train_paths = [
            self.path(one, options.data, "train") for one in (name, *self.treebanks[name].also)
        ]
        dev_path = self.path(name, options.data, "dev")
        train = train_step(self.recipe, train_paths, dev_path, run.seed, folder, options, settings)
        scores_path = folder / "scores.json"
        command = options.module_command(
            "bench.languages.measure", name, folder / "model", scores_path
        )
        return (train, Step("measure", command, scores_path))


def read_plan(path: Path) -> Plan:
    """Read and check a plan."""
    plan = read_toml(path, Plan, PLAN_PATH)
    for name, treebank in plan.treebanks.items():
        for other in treebank.also:
            if other not in plan.treebanks:
                raise ConfigError(f"{path}: treebanks.{name}: no treebank {other}")
    for name in plan.trained:
        if name not in plan.treebanks:
            raise ConfigError(f"{path}: trained: no treebank {name}")
    for name, variant in plan.variants.items():
        if variant.start and variant.start not in plan.treebanks:
            raise ConfigError(f"{path}: variants.{name}: no treebank {variant.start}")
        if variant.start_variant and variant.start_variant not in plan.variants:
            raise ConfigError(f"{path}: variants.{name}: no variant {variant.start_variant}")
    return plan
