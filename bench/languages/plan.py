"""The treebanks and variants of a plan, the runs they make and their commands.

A run is one treebank with one variant of the recipe. The number of epochs follows the amount of
data, so that every treebank gets about as many steps. A treebank with `also` is a group, which is
trained as one, and scored on the dev file of its first member. Other trainings can start from it.
"""

import json
import sys
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
from headwise.errors import ConfigError

PLAN_PATH = Path(__file__).with_name("languages.toml")
SHARES = "shares.json"
"""Written last into the folder with the shares of a group."""


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
    """More treebanks of the plan to train on, if this is a group."""
    most_words: int = 0
    """Words that a group takes of each member at most (`bench.languages.shares`); 0 for all."""
    family: Name = ""
    """A group that has this treebank and its relatives."""
    set: tuple[str, ...] = ()
    """`section.key=value`, settings that dev asks for in this treebank."""
    note: str = ""
    """What a user has to know, for the card."""


class Variant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Changes to the recipe, for all treebanks."""

    title: str
    set: tuple[str, ...] = ()
    treebanks: tuple[Name, ...] = ()
    """Those that are trained with it; empty for all that are no groups."""
    start: Name = ""
    """The variant whose model of `group` the training starts from."""
    group: Name = ""
    """Empty for the family of each treebank."""
    epochs: "Epochs | None" = None
    """Instead of those of the plan."""
    seeds: tuple[Seed, ...] = ()
    """Instead of those of the plan."""
    raw: bool = True
    """Whether the models read raw text, if those of the plan do."""


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

    def runs(self) -> list[Run]:
        """List the runs of all variants."""
        return [
            Run((treebank, name), seed)
            for treebank in self.treebanks
            for name, variant in self.variants.items()
            if treebank in (variant.treebanks or self.single())
            for seed in variant.seeds or self.seeds
        ]

    def single(self) -> list[Name]:
        """List the treebanks that are no groups."""
        return [name for name, treebank in self.treebanks.items() if not treebank.also]

    def members(self, name: str) -> list[str]:
        """List the treebanks that are read when this one, or this group, is trained."""
        return [name, *self.treebanks[name].also]

    def n_words(self, name: str) -> int:
        """Count the words that an epoch reads."""
        most = self.treebanks[name].most_words or sys.maxsize
        return sum(min(most, self.treebanks[one].words) for one in self.members(name))

    def needs(self, run: Run) -> list[Run]:
        """List the run that this one starts from, if any: of the same seed if there is one."""
        treebank, variant = self.treebanks[run.names[0]], self.variants[run.names[1]]
        if not variant.start:
            return []
        start = self.variants.get(variant.start)
        seeds = (start.seeds if start else ()) or self.seeds
        seed = run.seed if run.seed in seeds else seeds[0]
        return [Run((variant.group or treebank.family, variant.start), seed)]

    def reads_raw(self, variant: str) -> bool:
        """Tell whether the models of a variant get a segmenter, and are scored on raw text."""
        return self.raw and self.variants[variant].raw

    def key_parts(self, run: Run) -> list[object]:
        """List everything except the data that a run depends on."""
        treebank, variant = self.treebanks[run.names[0]], self.variants[run.names[1]]
        return [
            read_recipe_table(self.recipe),
            self.settings(run),
            treebank.folder,
            treebank.also,
            *([treebank.most_words] if treebank.most_words else []),
            [key_of(self, one) for one in self.needs(run)],
            variant.start,
        ]

    def settings(self, run: Run) -> list[str]:
        """List the changes to the recipe, those of the treebank last."""
        treebank, variant = self.treebanks[run.names[0]], self.variants[run.names[1]]
        n_epochs = (variant.epochs or self.epochs).of(self.n_words(run.names[0]))
        settings = [f"train.adam_epochs={n_epochs}", f"train.patience={n_epochs}"]
        if not self.reads_raw(run.names[1]):
            settings += ["segment.epochs=1", "segment.steps=1"]
        if treebank.also or variant.start:
            settings.append('model.marks=["treebank"]')
        if variant.start:
            settings.append("start.vocabulary=new")
        return [*settings, *variant.set, *treebank.set]

    def path(self, name: str, data: Path, part: str) -> Path:
        """Name the train or dev file of a treebank."""
        folder = self.treebanks[name].folder or f"languages/{name}"
        return data / folder / f"{part}.conllu.xz"

    def share_path(self, name: str, data: Path, folder: Path) -> Path:
        """Name the file with the share of a treebank; its name is also that of the treebank."""
        return folder / f"{self.path(name, data, 'train').parent.name}-train.conllu.xz"

    def inputs(self, run: Run, data: Path) -> list[Path]:
        """List the files that a run reads."""
        name = run.names[0]
        train = [self.path(one, data, "train") for one in self.members(name)]
        return [*train, self.path(name, data, "dev"), ROOT / self.recipe]

    def lane(self, run: Run) -> Lane:
        """All are trained on the device."""
        return "device"

    def steps(self, run: Run, options: Options) -> tuple[Step, ...]:
        """List the commands: train, then measure."""
        name, variant = run.names
        folder = run_folder(self, run, options.out)
        settings = self.settings(run)
        for one in self.needs(run):
            model = model_path(self, one, options.out).parent
            settings.append(f"start.model={json.dumps(str(model))}")
        train_paths = [self.path(one, options.data, "train") for one in self.members(name)]
        steps: list[Step] = []
        if self.treebanks[name].most_words:
            shares = folder / "shares"
            train_paths = [self.share_path(one, options.data, shares) for one in self.members(name)]
            command = options.module_command("bench.languages.shares", name, shares)
            steps.append(Step("shares", command, shares / SHARES))
        dev_path = self.path(name, options.data, "dev")
        train = train_step(self.recipe, train_paths, dev_path, run.seed, folder, options, settings)
        scores_path = folder / "scores.json"
        command = options.module_command(
            "bench.languages.measure", name, variant, folder / "model", scores_path
        )
        return (*steps, train, Step("measure", command, scores_path))


def read_plan(path: Path) -> Plan:
    """Read and check a plan."""
    plan = read_toml(path, Plan, PLAN_PATH)
    named = [(f"treebanks.{name}", one.also) for name, one in plan.treebanks.items()]
    named += [(f"variants.{name}", one.treebanks) for name, one in plan.variants.items()]
    for where, names in named:
        for name in names:
            if name not in plan.treebanks:
                raise ConfigError(f"{path}: {where}: no treebank {name}")
    runs = set(plan.runs())
    for run in runs:
        for needed in plan.needs(run):
            if needed not in runs:
                raise ConfigError(f"{path}: {run} starts from {needed}, which is no run")
    return plan
