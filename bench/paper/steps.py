"""The commands that make a run, each with the file that tells that it is done."""

import json
import sys
from pathlib import Path

from bench.jobs import ROOT, Job, Place, Step
from bench.paper.plan import Plan, Run, key_of, settings_of
from bench.paper.results import treebank_path


def job_of(plan: Plan, run: Run, place: Place) -> Job:
    """Make the steps of a run. Other settings make another folder, so nothing stale is resumed."""
    stem = f"{run.system}-{run.seed}"
    folder = place.out / run.dataset / f"{stem}-{key_of(plan, run)}"
    is_outside = plan.systems[run.system].is_outside
    steps = _outside_steps(plan, run, place, folder) if is_outside else ()
    return Job(
        name=str(run),
        lane="cpu" if is_outside else "device",
        folder=folder,
        log_path=place.out / run.dataset / f"{stem}.log",
        steps=steps or _own_steps(plan, run, place, folder),
    )


def describe_job(dataset: str, place: Place) -> Job:
    """Make the step that counts a treebank (Table 1)."""
    path = treebank_path(place.out, dataset)
    command = place.module("bench.paper.treebank", dataset, "figures", path)
    return Job(
        name=f"{dataset}/treebank",
        lane="count",
        folder=path.parent / "treebank",
        log_path=path.with_suffix(".log"),
        steps=(Step("count", command, path),),
    )


def _own_steps(plan: Plan, run: Run, place: Place, folder: Path) -> tuple[Step, ...]:
    dataset = plan.datasets[run.dataset]
    settings = list(settings_of(plan, run))
    if dataset.vectors:
        settings.append(f"model.vectors={json.dumps(str(place.data / dataset.vectors))}")
    train = [sys.executable, "-m", "headwise", "train", str(ROOT / dataset.recipe)]
    train += ["--train", str(dataset.path(place.data, "train"))]
    train += ["--dev", str(dataset.path(place.data, "dev"))]
    train += ["--seed", str(run.seed), "--out", str(folder)]
    train += ["--device", place.device, "--precision", place.precision]
    train += [part for setting in settings for part in ("--set", setting)]
    measure = place.module("bench.paper.measure", run.dataset, folder, place.threads)
    return (
        Step("train", tuple(train), folder / "model" / "model.json"),
        Step("measure", measure, folder / "scores.json"),
    )


def _outside_steps(plan: Plan, run: Run, place: Place, folder: Path) -> tuple[Step, ...]:
    system = plan.systems[run.system]
    names = {
        "python": sys.executable,
        "seed": str(run.seed),
        "model": str(folder / "outside.model"),
    }
    names |= {part: str(folder / f"{part}.conllu") for part in ("train", "dev")}
    steps = [
        Step(
            "plain",
            place.module("bench.paper.treebank", run.dataset, "plain", folder),
            folder / "plain",
        ),
        Step("train", _fill(system.train, names), folder / "outside.model"),
    ]
    for part in ("dev", "test"):
        output = folder / f"{part}.parsed.conllu"
        files = names | {"input": str(folder / f"{part}.input.conllu"), "output": str(output)}
        steps.append(Step(f"parse {part}", _fill(system.predict, files), output))
    measure = place.module("bench.paper.measure", run.dataset, folder, place.threads, "--parsed")
    return (*steps, Step("measure", measure, folder / "scores.json"))


def _fill(template: tuple[str, ...], names: dict[str, str]) -> tuple[str, ...]:
    """Put values for {names}; anything else in braces stays as it is."""
    filled = []
    for part in template:
        for name, value in names.items():
            part = part.replace(f"{{{name}}}", value)  # noqa: PLW2901 (one name after the other)
        filled.append(part)
    return tuple(filled)
