"""`headwise train`."""

import os
import shlex
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwise.cli.terminal import ProgressLine, duration, help_examples
from headwise.errors import ConfigError, install
from headwise.settings.choices import Dtype
from headwise.settings.recipe import Recipe, read_recipe
from headwise.version import VERSION

if TYPE_CHECKING:
    from headwise.learn.fit.distributed import Launch
    from headwise.learn.fit.reports import Report


@click.command(
    short_help="Train a parser by a recipe.",
    epilog=help_examples(
        "headwise train configs/paper-ewt.toml --train train.conllu.xz --dev dev.conllu.xz",
        "headwise train configs/paper-ewt.toml --set model.hidden_size=150 --out runs/small",
        "torchrun --nproc-per-node 2 -m headwise train configs/paper-ewt.toml --train ...",
        "headwise train configs/best-lstm.toml --train UD_English-EWT --train UD_English-GUM ...",
        "headwise train configs/adapt.toml --start runs/ewt --train mine.conllu --dev dev.conllu",
    ),
)
@click.argument("config", metavar="RECIPE", type=click.Path(path_type=Path))
@click.option(
    "--train",
    "train_paths",
    multiple=True,
    help="Treebank to learn from, a file or a folder; give several with the main one first.",
)
@click.option(
    "--dev",
    "dev_paths",
    multiple=True,
    help="Treebank that chooses the best epoch; further ones are scored at the end.",
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
    help="Start from a trained model with weights: a model folder, a run or a name. The table "
    "[start] of the recipe says how.",
)
@click.option("--seed", type=int, help="Random seed.  [default: train.seed of the recipe]")
@click.option(
    "--set", "settings", multiple=True, metavar="SECTION.KEY=VALUE", help="Change a setting."
)
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N.")
@click.option(
    "--precision",
    type=click.Choice(["float32", "bfloat16"]),
    default="float32",
    show_default=True,
)
def train(
    config: Path,
    train_paths: tuple[str, ...],
    dev_paths: tuple[str, ...],
    out: Path | None,
    start_model: str | None,
    seed: int | None,
    settings: tuple[str, ...],
    device: str,
    precision: Dtype,
) -> None:
    """Train a parser by a recipe; the same command resumes an interrupted run."""
    flags = {
        "data.train": _one_or_all(train_paths),
        "data.dev": _one_or_all(dev_paths),
        "start.model": start_model,
        "train.seed": seed,
    }
    given = {key: value for key, value in flags.items() if value is not None}
    with _launch() as launch:
        recipe = read_recipe(config, settings, given)
        folder = out or Path("runs") / f"{config.stem}-{recipe.train.seed}"
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
    _show(reports)
    click.echo(f"model: {folder / 'model'}", err=True)


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


def _show(reports: "Iterable[Report]") -> None:
    from headwise.learn.fit.reports import EpochReport, StepReport

    progress = ProgressLine()
    started = time.monotonic()
    for report in reports:
        if isinstance(report, StepReport):
            left = duration(report.seconds_left(time.monotonic() - started))
            progress.show(f"{report.line()}  at most {left} left in this phase")
            continue
        if isinstance(report, EpochReport):
            progress.clear()
            started = time.monotonic()
        click.echo(report.line(), err=True)
    progress.clear()


def _provenance(recipe: Recipe) -> dict[str, str]:
    started_from = {} if recipe.start is None else {"start": recipe.start.model}
    return started_from | {
        "command": shlex.join(["headwise", *sys.argv[1:]]),
        "train": _listed(recipe.data.train),
        "dev": _listed(recipe.data.dev),
        "seed": str(recipe.train.seed),
        "headwise": VERSION,
    }


def _listed(paths: str | tuple[str, ...]) -> str:
    return paths if isinstance(paths, str) else ", ".join(paths)
