"""Random kills of `headwise corpus` and `headwise train`, resumed until done: the same bytes?

    python -m bench.kills corpus --times 50
    python -m bench.kills corpus --times 5 --workers 2
    python -m bench.kills train --times 20

A command runs once undisturbed. Then it is killed (SIGKILL, its whole process group) at a random
moment and given again, until it ends by itself; if that comes before the last kill, it starts over
in a new folder. Each result must equal the undisturbed one: of a corpus all files but the lock, of
a training run the model, without any other file beside them.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import headwise

SAMPLE = "tests/fixtures/ewt-dev-100.conllu"
MAX_SECONDS = 900.0
RECIPE = """
[model]
word_size = 24
tag_size = 12
hidden_size = 24
label_size = 24
min_count = 1
[train]
adam_epochs = 30
adam_rate = 0.01
sgd_epochs = 5
patience = 30
batch_size = 4
[label]
epochs = 10
batch_size = 32
"""


class Trial(NamedTuple):
    """A command, which writes to `out` in its working directory, and what is compared."""

    arguments: list[str]
    compared: str
    ignored: frozenset[str]


def corpus_trial(folder: Path, n_workers: int) -> Trial:
    """Make a corpus of 150 units."""
    texts = [sentence.text for sentence in headwise.read_sentences(SAMPLE)]
    order = random.Random(1)  # noqa: S311
    lines = [json.dumps({"text": " ".join(order.choices(texts, k=6))}) for _ in range(900)]
    path = folder / "input.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    size = path.stat().st_size / 150 / 2**20
    arguments = ["corpus", str(path), "--output", "out", "--workers", str(n_workers), "--quiet"]
    return Trial([*arguments, "--unit-size", f"{size:.6f}"], "out", frozenset({"_lock"}))


def train_trial(folder: Path) -> Trial:
    """Make a small recipe, of 45 epochs."""
    treebank, recipe = folder / "train.conllu", folder / "recipe.toml"
    sentences = [sentence for sentence in headwise.read_sentences(SAMPLE) if len(sentence) <= 25]
    treebank.write_text("".join(one.conllu for one in sentences[:40]), encoding="utf-8")
    recipe.write_text(RECIPE, encoding="utf-8")
    data = ["--train", str(treebank), "--dev", str(treebank)]
    arguments = ["train", str(recipe), *data, "--out", "out", "--device", "cpu"]
    return Trial(arguments, "out/model", frozenset())


def run(trial: Trial, folder: Path, seconds: float | None = None) -> bool:
    """Run the command, and kill it after some seconds; tell whether it ended by itself."""
    command = [sys.executable, "-m", "headwise", *trial.arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    with (
        (folder / "stderr").open("wb") as stderr,
        subprocess.Popen(
            command, cwd=folder, stderr=stderr, env=environment, start_new_session=True
        ) as process,
    ):
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return False
    if code:
        text = (folder / "stderr").read_text(encoding="utf-8", errors="replace")
        raise SystemExit(f"{command} failed with code {code}:\n{text}")
    return True


def contents(trial: Trial, folder: Path) -> dict[str, bytes]:
    """Read what is compared, and the names of files that should not be there."""
    compared = folder / trial.compared
    files = {
        str(path.relative_to(compared)): path.read_bytes()
        for path in sorted(compared.rglob("*"))
        if path.is_file() and path.name not in trial.ignored
    }
    temporary = (path for path in (folder / "out").rglob(".*"))
    return files | {f"left over: {path.relative_to(folder)}": b"" for path in temporary}


def main() -> None:
    """Kill and resume, and print the result."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument("command", choices=["corpus", "train"])
    options.add_argument("--times", type=int, default=20)
    options.add_argument("--workers", type=int, default=0, help="Of corpus; 0: without Ray.")
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    moments = random.Random(arguments.seed)  # noqa: S311
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        is_corpus = arguments.command == "corpus"
        trial = corpus_trial(root, arguments.workers) if is_corpus else train_trial(root)
        (root / "undisturbed").mkdir()
        started = time.monotonic()
        run(trial, root / "undisturbed")
        usual = time.monotonic() - started
        expected = contents(trial, root / "undisturbed")
        print(f"undisturbed: {usual:.1f} s, {len(expected)} files", flush=True)
        # So late that some of the work is done, and early enough to meet every stage of it.
        latest = min(usual, 6.0) if is_corpus else usual
        n_kills = n_done = n_same = 0
        started = time.monotonic()
        while n_kills < arguments.times and time.monotonic() - started < MAX_SECONDS:
            folder = root / f"run-{n_done}"
            folder.mkdir()
            is_over = False
            while not is_over:
                is_last = n_kills >= arguments.times
                seconds = None if is_last else moments.uniform(0.1 * latest, latest)
                is_over = run(trial, folder, seconds)
                n_kills += not is_over
            n_done += 1
            found = contents(trial, folder)
            n_same += found == expected
            for path in sorted(found.keys() | expected.keys()):
                if found.get(path) != expected.get(path):
                    print(f"run {n_done}: {path} differs", flush=True)
            print(f"{n_kills} kills, {n_done} runs finished, {n_same} the same bytes", flush=True)
        print(
            f"{arguments.command}: {n_kills} kills in {time.monotonic() - started:.0f} s,", end=" "
        )
        print(f"{n_same} of {n_done} finished runs have the bytes of the undisturbed one")
    sys.exit(n_same != n_done or n_kills < arguments.times)


if __name__ == "__main__":
    main()
