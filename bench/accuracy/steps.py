"""The commands that make a run, each with the file that tells that it is done."""

import json
import sys
from pathlib import Path

from bench.accuracy.plan import Plan, Run, key_of, needs_of
from bench.jobs import ROOT, Job, Place, Step


def folder_of(plan: Plan, run: Run, out: Path) -> Path:
    """Where a run is. Other settings make another folder, so nothing stale is resumed."""
    return out / f"{run.row}-{run.seed}-{key_of(plan, run)}"


def model_of(plan: Plan, run: Run, out: Path) -> Path:
    """Where the model of a run will be."""
    return folder_of(plan, run, out) / "model" / "model.json"


def job_of(plan: Plan, run: Run, place: Place) -> Job:
    """Make the steps of a run: train and measure, or measure alone for an ensemble."""
    folder = folder_of(plan, run, place.out)
    needs = [model_of(plan, one, place.out) for one in needs_of(plan, run)]
    is_ensemble = bool(plan.rows[run.row].ensemble)
    models = [path.parent for path in needs] if is_ensemble else [folder / "model"]
    scores = folder / "scores.json"
    given = (run.row, place.device, place.threads, scores, *models)
    measure = Step("measure", place.module("bench.accuracy.measure", *given), scores)
    train = () if is_ensemble else (_train_step(plan, run, place, needs),)
    return Job(
        name=str(run),
        lane="device",
        folder=folder,
        log_path=place.out / f"{run.row}-{run.seed}.log",
        steps=(*train, measure),
        needs=tuple(needs),
    )


def _train_step(plan: Plan, run: Run, place: Place, teachers: list[Path]) -> Step:
    row, folder = plan.rows[run.row], folder_of(plan, run, place.out)
    own = plan.treebanks[row.treebank]
    command = [sys.executable, "-m", "headwise", "train", str(ROOT / row.recipe)]
    for name in (row.treebank, *row.also):
        command += ["--train", str(plan.treebanks[name].path(place.data, "train"))]
    command += ["--dev", str(own.path(place.data, "dev"))]
    command += ["--seed", str(run.seed), "--out", str(folder)]
    command += ["--device", place.device, "--precision", row.precision or place.precision]
    settings = [*row.set]
    settings += [f"{key}={json.dumps(str(place.data / at))}" for key, at in row.paths.items()]
    if teachers:
        settings.append(f"teach.models={json.dumps([str(path.parent) for path in teachers])}")
    if row.text:
        files = [str(plan.treebanks[name].path(place.data, "train")) for name in row.text]
        settings.append(f"teach.text={json.dumps(files)}")
    command += [part for setting in settings for part in ("--set", setting)]
    return Step("train", tuple(command), folder / "model" / "model.json")
