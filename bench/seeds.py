"""Train recipes over seeds, side by side on one device, and measure them on the test file.

    python bench/seeds.py --data UD_English-EWT --out runs/seeds \
        --configs configs/paper-ewt.toml configs/paper-ewt-pei.toml --seeds 1 2 3

Each training is a `headwise train` of its own, so a killed bench resumes. Test is parsed by PyTorch
and by the ONNX runtime in both precisions, greedily and repaired; every word counts.
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

import headwise
from headwise.config import DecodeConfig
from headwise.evaluate.scores import score

SYSTEMS = (
    ("torch", "greedy", "float32"),
    ("torch", "mst", "float32"),
    ("onnx", "mst", "float32"),
    ("onnx", "greedy", "int8"),
    ("onnx", "mst", "int8"),
)
KEPT = ("uas", "las", "label_accuracy", "uem", "lem", "tree_rate", "projective_rate")


def train(config: Path, seed: int, data: Path, out: Path, device: str) -> float:
    """Run one training to its end; give its seconds."""
    folder = out / f"{config.stem}-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    command = [sys.executable, "-m", "headwise", "train", str(config), "--seed", str(seed)]
    command += ["--train", str(data / "train.conllu.xz"), "--dev", str(data / "dev.conllu.xz")]
    command += ["--out", str(folder), "--device", device]
    with (folder / "stderr.txt").open("a") as log:
        subprocess.run(command, check=True, stderr=log, env={**os.environ, "OMP_NUM_THREADS": "2"})
    return time.monotonic() - started


def measure(folder: Path, test: Path, device: str) -> list[dict[str, object]]:
    """Parse test with one model in every way, and score it."""
    gold = [sentence for sentence in headwise.read_sentences(test) if len(sentence)]
    own = json.loads((folder / "model" / "model.json").read_text())["decode"]
    rows: list[dict[str, object]] = []
    for runtime, decoder, precision in SYSTEMS:
        decode = DecodeConfig(**{**own, "decoder": decoder})
        where = device if runtime == "torch" else "cpu"
        parser = headwise.load(folder, device=where, precision=precision, decode=decode)
        if runtime == "torch" and where == "cpu":
            from headwise.learn.scorer import load_torch_parser

            parser = load_torch_parser(folder, "cpu", decode)
        parsed = [
            sentence.with_parse(p) for sentence, p in zip(gold, parser.parse(gold), strict=True)
        ]
        full = score(gold, parsed)
        universal = score(gold, parsed, universal_labels=True)
        row: dict[str, object] = {"runtime": runtime, "decoder": decoder, "precision": precision}
        row |= {name: round(getattr(full, name), 4) for name in KEPT}
        rows.append(row | {"las_universal": round(universal.las, 4)})
    return rows


def summarise(results: dict[str, list[list[dict[str, object]]]]) -> str:
    """Write means over seeds as a Markdown table."""
    lines = [
        "| recipe | runtime | trees by | UAS | LAS | LAS, universal | UEM | trees | projective |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, seeds in results.items():
        for rows in zip(*seeds, strict=True):
            cells = []
            for key in ("uas", "las", "las_universal", "uem", "tree_rate", "projective_rate"):
                values = [float(str(row[key])) for row in rows]
                spread = f" ± {stdev(values):.2f}" if len(values) > 1 else ""
                cells.append(f"{mean(values):.2f}{spread}")
            first = rows[0]
            runtime = f"{first['runtime']} {first['precision']}"
            lines.append(f"| {name} | {runtime} | {first['decoder']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, measure, write `results.json` and `results.md`."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    options.add_argument("--data", type=Path, required=True, help="folder with train, dev, test")
    options.add_argument("--out", type=Path, default=Path("runs/seeds"))
    options.add_argument("--configs", type=Path, nargs="+", required=True)
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options.add_argument("--device", default="cuda")
    options.add_argument("--side-by-side", type=int, default=8)
    given = options.parse_args(arguments)
    runs = [(config, seed) for config in given.configs for seed in given.seeds]
    with ThreadPoolExecutor(given.side_by_side) as pool:
        seconds = list(pool.map(lambda run: train(*run, given.data, given.out, given.device), runs))
    test = given.data / "test.conllu.xz"
    results: dict[str, list[list[dict[str, object]]]] = {}
    for config, seed in runs:
        folder = given.out / f"{config.stem}-{seed}"
        results.setdefault(config.stem, []).append(measure(folder, test, given.device))
    table = summarise(results)
    times = {
        f"{config.stem}-{seed}": round(s, 1)
        for (config, seed), s in zip(runs, seconds, strict=True)
    }
    report = {"seeds": given.seeds, "seconds": times, "results": results}
    (given.out / "results.json").write_text(json.dumps(report, indent=1) + "\n")
    (given.out / "results.md").write_text(table)
    print(table)
    print(json.dumps(times))


if __name__ == "__main__":
    main()
