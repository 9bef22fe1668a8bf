"""`headwise train`."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwise.cli.terminal import help_examples, put
from headwise.cli.training_progress import show_reports
from headwise.errors import ConfigError, ModelError, install
from headwise.model.find import CHECKPOINT
from headwise.settings.choices import Dtype
from headwise.settings.recipe import (
    RECIPE_HINT,
    Recipe,
    find_recipe,
    named_recipes,
    read_recipe,
)
from headwise.version import VERSION

if TYPE_CHECKING:
    from headwise.learn.fit.distributed import Launch


@click.command(
    short_help="Train a parser by a recipe.",
    epilog=help_examples(
        "headwise train --list",
        "headwise train small --train train.conllu --dev dev.conllu --out runs/mine",
        "headwise train small --train train.conllu --set train.adam_epochs=20",
        "headwise train columns --train UD_Finnish-TDT --dev UD_Finnish-TDT --device cuda",
        "headwise train best --train UD_English-EWT --train UD_English-GUM ...",
        "headwise train adapt --start runs/ewt --train mine.conllu --dev dev.conllu",
        "torchrun --nproc-per-node 2 -m headwise train my-recipe.toml --train ...",
    ),
)
@click.argument("name_or_path", metavar="RECIPE", required=False)
@click.option(
    "--list",
    "lists",
    is_flag=True,
    help="List the recipes that come with headwise, and who each is for.",
)
@click.option(
    "--train",
    "train_paths",
    multiple=True,
    help="Treebank to learn from, a file or a folder. Repeatable, the main one first.",
)
@click.option(
    "--dev",
    "dev_paths",
    multiple=True,
    help="Treebank on which the best epoch is chosen; others are only scored at the end. "
    "Repeatable.  [default: the last 10 of every 100 sentences of the main --train]",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder of the run; the model is in OUT/model.  [default: runs/RECIPE-SEED]",
)
@click.option(
    "--start",
    "start_model",
    metavar="MODEL",
    help="Start from a trained model: the folder of a run, or a name such as en. Settings are in "
    "[start] of the recipe.",
)
@click.option("--seed", type=int, help="Random seed.  [default: train.seed of the recipe]")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="SECTION.KEY=VALUE",
    help="Change a setting. Repeatable.",
)
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N.")
@click.option(
    "--precision",
    type=click.Choice(["float32", "bfloat16"]),
    default="float32",
    show_default=True,
    help="Precision of the computation; bfloat16 is faster on a GPU.",
)
def train(
    name_or_path: str | None,
    lists: bool,
    train_paths: tuple[str, ...],
    dev_paths: tuple[str, ...],
    out: Path | None,
    start_model: str | None,
    seed: int | None,
    settings: tuple[str, ...],
    device: str,
    precision: Dtype,
) -> None:
    """Train a parser by RECIPE, a name that --list shows or a TOML file.

    The same command resumes an interrupted run.
    """
    if lists:
        put(_recipe_list())
        return
    if name_or_path is None:
        raise ConfigError("no recipe is given", f"for a laptop: small; {RECIPE_HINT}")
    flags = {
        "data.train": _one_or_all(train_paths),
        "data.dev": _one_or_all(dev_paths),
        "start.model": start_model,
        "train.seed": seed,
    }
    given = {key: value for key, value in flags.items() if value is not None}
    with _launch() as launch:
        path = find_recipe(name_or_path)
        recipe = read_recipe(path, settings, given)
        folder = out or Path("runs") / f"{path.stem}-{recipe.train.seed}"
        follow_run(recipe, folder, device, precision, launch)


def follow_run(
    recipe: Recipe, folder: Path, device: str, precision: Dtype, launch: "Launch | None"
) -> None:
    """Train to the end and show the reports; only the first of several processes shows them."""
    with _needs_torch():
        from headwise.learn.compute import Compute, describe_device, find_device
        from headwise.learn.fit.distributed import ALONE
        from headwise.learn.recipe import train_parser
    chosen = find_device(launch.own_device(device) if launch else device)
    group = launch.join(chosen) if launch else ALONE
    processes = f", {group.size} processes" if group.size > 1 else ""
    provenance = _provenance(recipe) | {"machine": describe_device(chosen) + processes}
    reports = train_parser(recipe, folder, Compute(chosen, precision, group), provenance)
    if not group.leads:
        for _ in reports:
            pass
        return
    click.echo(f"training on {provenance['machine']} in {folder}", err=True)
    try:
        show_reports(reports)
    except KeyboardInterrupt:
        _end_early(folder)
        raise
    click.echo(f"model: {folder / 'model'}", err=True)


def _end_early(folder: Path) -> None:
    """Say how to go on after Ctrl-C, and keep the best epoch as a model, if there is one."""
    if not (folder / CHECKPOINT).is_file():
        click.echo(
            "\ninterrupted before an epoch was saved: the same command starts over", err=True
        )
        return
    click.echo("\ninterrupted; run the same command again to resume from the last epoch", err=True)
    try:
        write_best_epoch(folder)
    except ModelError as error:
        click.echo(error.what, err=True)


def write_best_epoch(folder: Path) -> None:
    """Write the model of the best epoch of a run that has not finished, and say so."""
    with _needs_torch():
        from headwise.learn.export.best_epoch import export_best_epoch
    click.echo(f"{folder}: writing the model of its best epoch", err=True)
    report = export_best_epoch(folder)
    click.echo(f"model: {folder / 'model'}, {report.brief()}", err=True)


def _recipe_list() -> str:
    """Write each recipe with what it is for, what it needs and how long it takes."""
    notes = named_recipes()
    width = max(map(len, notes)) + 2
    return "\n\n".join(
        f"{name:{width}}for {note.for_whom}\n{'':{width}}needs {note.needs}\n"
        f"{'':{width}}takes {note.takes}"
        for name, note in notes.items()
    )


def _one_or_all(paths: tuple[str, ...]) -> str | tuple[str, ...] | None:
    return (paths[0] if len(paths) == 1 else paths) if paths else None


def _launch() -> "AbstractContextManager[Launch | None]":
    """Meet the other processes, if a launcher such as torchrun has started several."""
    if not {"RANK", "WORLD_SIZE"} <= os.environ.keys():
        return nullcontext()
    with _needs_torch():
        from headwise.learn.fit.distributed import meet
    local_rank = int(os.environ.get("LOCAL_RANK", "0"))
    return meet(local_rank, int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


@contextmanager
def _needs_torch() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        what = f"training needs {error.name}, which is not installed"
        raise ConfigError(what, install("train")) from error


def _provenance(recipe: Recipe) -> dict[str, str]:
    started_from = {} if recipe.start is None else {"start": recipe.start.model}
    return started_from | {
        "command": shlex.join(["headwise", *sys.argv[1:]]),
        "train": _listed(recipe.data.train),
        "dev": _listed(recipe.data.dev) or "the last 10 of every 100 sentences of train",
        "seed": str(recipe.train.seed),
        "headwise": VERSION,
    }


def _listed(paths: str | tuple[str, ...]) -> str:
    return paths if isinstance(paths, str) else ", ".join(paths)
