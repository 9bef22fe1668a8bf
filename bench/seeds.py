"""Train recipes over seeds, side by side on one device, and score them on the test file.

    python -m bench.seeds --data UD_English-EWT --out runs/seeds \
        --configs configs/paper-ewt.toml configs/paper-ewt-pei.toml --seeds 1 2 3

Each training is a `headwise train` of its own, so a killed bench resumes. The test file is parsed
with PyTorch and with ONNX Runtime in both precisions, greedily and repaired; every word counts.
Unfinished trainings are listed, not averaged. `bench.paper` has all datasets of the paper.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

import headwise
from bench.accuracy.measure import torch_device
from bench.experiment.command import show
from bench.experiment.jobs import SECONDS, Job, Step, run_jobs
from bench.experiment.plan import Options, train_step
from bench.experiment.tables import Cell, Table, average, markdown_table
from headwise.evaluate.scores import score
from headwise.files import whole_file
from headwise.settings.recipe import Recipe

Row = dict[str, str | float]
SYSTEMS = (
    ("torch", "greedy", "float32"),
    ("torch", "mst", "float32"),
    ("onnx", "mst", "float32"),
    ("onnx", "greedy", "int8"),
    ("onnx", "mst", "int8"),
)
KEPT = ("uas", "las", "label_accuracy", "uem", "lem", "tree_rate", "projective_rate")
SHOWN = ("uas", "las", "las_universal", "uem", "tree_rate", "projective_rate")
COLUMNS = ("UAS", "LAS", "LAS, universal", "UEM", "trees", "projective")
SCORES = "scores.json"


def job_of(config: Path, seed: int, given: argparse.Namespace) -> Job:
    """Make the two steps of a run, each in its own process."""
    folder = given.out / f"{config.stem}-{seed}"
    options = Options(Path(), given.data, given.out, given.device, given.precision, 1)
    train_path, dev_path = (given.data / f"{part}.conllu.xz" for part in ("train", "dev"))
    measure = [sys.executable, "-m", "bench.seeds", "--data", str(given.data)]
    measure += ["--device", given.device, "--measure", str(folder)]
    recipe = str(config.resolve())
    steps = (
        train_step(recipe, [train_path], dev_path, seed, folder, options, given.set),
        Step("measure", tuple(measure), folder / SCORES),
    )
    return Job(folder.name, "device", folder, folder / "stderr.txt", steps)


def measure(folder: Path, test: Path, device: str) -> list[Row]:
    """Parse the test file with one model in every way, and score it."""
    gold = [sentence for sentence in headwise.read_sentences(test) if len(sentence)]
    recipe = msgspec.json.decode((folder / "recipe.json").read_bytes(), type=Recipe)
    rows: list[Row] = []
    for runtime, decoder, precision in SYSTEMS:
        decode = msgspec.structs.replace(recipe.decode, decoder=decoder)
        if runtime == "torch":
            parser = headwise.load(folder, device=torch_device(device), decode=decode)
        else:
            parser = headwise.load(folder, precision=precision, decode=decode)  # type: ignore[arg-type]
        parses = parser.parse(gold)
        parsed = [sentence.with_parse(p) for sentence, p in zip(gold, parses, strict=True)]
        full = score(gold, parsed)
        universal = score(gold, parsed, universal_labels=True)
        row: Row = {"runtime": runtime, "decoder": decoder, "precision": precision}
        row |= {name: round(getattr(full, name), 4) for name in KEPT}
        rows.append(row | {"las_universal": round(universal.las, 4)})
    return rows


def averages(results: dict[str, list[list[Row]]]) -> str:
    """Write averages over seeds as a Markdown table."""
    lines: list[tuple[Cell, ...]] = []
    for name, seeds in results.items():
        for rows in zip(*seeds, strict=True):
            first = rows[0]
            runtime = f"{first['runtime']} {first['precision']}"
            cells = [average(float(row[key]) for row in rows) for key in SHOWN]
            lines.append((name, len(rows), runtime, str(first["decoder"]), *cells))
    columns = ("recipe", "seeds", "runtime", "trees by", *COLUMNS)
    return markdown_table(Table("", "", columns, tuple(lines))) + "\n"


def collect(out: Path, jobs: Sequence[tuple[str, Job]]) -> None:
    """Write `results.json` and `results.md` of the finished runs."""
    results: dict[str, list[list[Row]]] = {}
    seconds: dict[str, dict[str, float]] = {}
    for recipe, job in jobs:
        if not (job.folder / SCORES).exists():
            print(f"not finished: {job.name} (see {job.log_path})")
            continue
        results.setdefault(recipe, []).append(json.loads((job.folder / SCORES).read_text()))
        seconds[job.name] = json.loads((job.folder / SECONDS).read_text())
    report = {"seconds": seconds, "results": results}
    (out / "results.json").write_text(json.dumps(report, indent=1) + "\n")
    (out / "results.md").write_text(averages(results))
    print(averages(results))
    print(seconds)


def main() -> None:
    """Train, measure, collect."""
    options = argparse.ArgumentParser(description="Train recipes over seeds and score them.")
    options.add_argument("--data", type=Path, required=True, help="folder with train, dev, test")
    options.add_argument("--out", type=Path, default=Path("runs/seeds"))
    options.add_argument("--configs", type=Path, nargs="+", default=[])
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options.add_argument("--device", default="cuda")
    options.add_argument("--precision", default="float32", help="of the training")
    options.add_argument("--set", action="append", default=[], help="section.key=value")
    options.add_argument("--side-by-side", type=int, default=10)
    options.add_argument("--measure", type=Path, help="only measure the run in this folder")
    given = options.parse_args()
    if given.measure:
        rows = measure(given.measure, given.data / "test.conllu.xz", given.device)
        with whole_file(given.measure / SCORES) as stream:
            stream.write(json.dumps(rows, indent=1).encode() + b"\n")
        return
    jobs = [(c.stem, job_of(c, seed, given)) for c in given.configs for seed in given.seeds]
    pending = [job for _, job in jobs if not (job.folder / SCORES).exists()]
    for event in run_jobs(pending, {"device": given.side_by_side, "cpu": 0}):
        show(event)
    collect(given.out, jobs)


if __name__ == "__main__":
    main()
