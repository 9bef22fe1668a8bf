"""Train recipes over seeds, side by side on one device, and measure them on the test file.

    python bench/seeds.py --data UD_English-EWT --out runs/seeds \
        --configs configs/paper-ewt.toml configs/paper-ewt-pei.toml --seeds 1 2 3

Each training is a `headwise train` of its own, so a killed bench resumes. Test is parsed by PyTorch
and by the ONNX runtime in both precisions, greedily and repaired; every word counts. Trainings that
have not come to their end are named, not averaged.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean, stdev

import msgspec

import headwise
from headwise.config import Recipe
from headwise.evaluate.scores import score
from headwise.model.bundle import load_bundle

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


def train_and_measure(config: Path, seed: int, given: argparse.Namespace) -> None:
    """Run one training to its end, then measure it, each in a process of its own."""
    folder = given.out / f"{config.stem}-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    train = ["-m", "headwise", "train", str(config), "--seed", str(seed), "--out", str(folder)]
    train += ["--train", str(given.data / "train.conllu.xz"), "--device", given.device]
    train += ["--dev", str(given.data / "dev.conllu.xz")]
    train += ["--precision", given.precision]
    train += [part for setting in given.set for part in ("--set", setting)]
    measure = [__file__, "--data", str(given.data), "--device", given.device]
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    with (folder / "stderr.txt").open("a") as log:
        for command in (train, [*measure, "--measure", str(folder)]):
            done = subprocess.run(
                [sys.executable, *command], stderr=log, env=environment, check=False
            )
            if done.returncode:
                return
    (folder / "seconds.txt").write_text(f"{time.monotonic() - started:.0f}\n")


def measure(folder: Path, test: Path, device: str) -> list[Row]:
    """Parse test with one model in every way, and score it."""
    from headwise.learn.scorer import load_torch_parser

    gold = [sentence for sentence in headwise.read_sentences(test) if len(sentence)]
    own = msgspec.json.decode((folder / "recipe.json").read_bytes(), type=Recipe).decode
    rows: list[Row] = []
    for runtime, decoder, precision in SYSTEMS:
        decode = msgspec.structs.replace(own, decoder=decoder)
        if runtime == "torch":
            parser = load_torch_parser(load_bundle(folder / "model"), device, decode)
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


def summarise(results: dict[str, list[list[Row]]]) -> str:
    """Write means over seeds as a Markdown table."""
    lines = [
        "| recipe | seeds | runtime | trees by | UAS | LAS | LAS, universal | UEM | trees | "
        "projective |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, seeds in results.items():
        for rows in zip(*seeds, strict=True):
            cells = []
            for key in SHOWN:
                values = [float(row[key]) for row in rows]
                spread = f" ± {stdev(values):.2f}" if len(values) > 1 else ""
                cells.append(f"{mean(values):.2f}{spread}")
            first = rows[0]
            runtime = f"{first['runtime']} {first['precision']}"
            lines.append(
                f"| {name} | {len(rows)} | {runtime} | {first['decoder']} | {' | '.join(cells)} |"
            )
    return "\n".join(lines) + "\n"


def collect(out: Path, runs: Sequence[tuple[Path, int]]) -> None:
    """Write `results.json` and `results.md` of what has come to its end."""
    results: dict[str, list[list[Row]]] = {}
    seconds: dict[str, int] = {}
    for config, seed in runs:
        name = f"{config.stem}-{seed}"
        if not (out / name / "seconds.txt").exists():
            print(f"not finished: {name} (see {out / name / 'stderr.txt'})")
            continue
        rows = json.loads((out / name / "scores.json").read_text())
        results.setdefault(config.stem, []).append(rows)
        seconds[name] = int((out / name / "seconds.txt").read_text())
    report = {"seconds": seconds, "results": results}
    (out / "results.json").write_text(json.dumps(report, indent=1) + "\n")
    (out / "results.md").write_text(summarise(results))
    print(summarise(results))
    print(seconds)


def main() -> None:
    """Train, measure, collect."""
    options = argparse.ArgumentParser(description="Train recipes over seeds and measure them.")
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
        (given.measure / "scores.json").write_text(json.dumps(rows, indent=1) + "\n")
        return
    runs = [(config, seed) for config in given.configs for seed in given.seeds]
    unfinished = [
        run for run in runs if not (given.out / f"{run[0].stem}-{run[1]}/seconds.txt").exists()
    ]
    with ThreadPoolExecutor(given.side_by_side) as pool:
        list(pool.map(lambda run: train_and_measure(run[0], run[1], given), unfinished))
    collect(given.out, runs)


if __name__ == "__main__":
    main()
