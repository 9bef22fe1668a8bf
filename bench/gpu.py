"""Measure a GPU: training, memory of the pair scorer, parsing, and how long it idles.

    python -m bench.gpu --data UD_English-EWT
    python -m bench.gpu --data UD_English-EWT --model runs/paper-ewt-1/model --processes 1 4 8

Without `--model`, the model trained here is the one that parses. Printed are: seconds and words per
second of 15 epochs of Adam with the paper's recipe, each scored on dev, and the seconds before the
first; the memory of the pair scorer at several lengths; words per second of the network alone
and, from CoNLL-U to CoNLL-U in memory, of several processes that share the GPU. `--json` saves the
numbers. Nothing else should run on the machine.
"""

import argparse
import io
import itertools
import json
import multiprocessing
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier
from pathlib import Path

import torch

import headwise
from headwise.learn.compute import Compute, describe_device, find_device
from headwise.learn.fit.reports import EpochReport, StartReport
from headwise.learn.recipe import train_parser
from headwise.learn.scorer import (
    batches_by_length,
    load_network,
    put_batch,
)
from headwise.model.bundle import load_bundle
from headwise.network.pairs import pair_scores
from headwise.settings.recipe import read_recipe
from headwise.treebank.conllu import read_stream
from headwise.treebank.sentence import Sentence
from headwise.vocabulary.encode import encode

CONFIG = Path("configs/paper-ewt.toml")
LENGTHS = (50, 100, 200, 400)
N_TIMES = 5


@contextmanager
def watch_gpu(device: torch.device, idle: dict[str, float], phase: str) -> Iterator[None]:
    """Sample the utilisation of the GPU ten times a second; save the share of time it idles."""
    if device.type != "cuda":
        yield
        return
    query = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
    process = subprocess.Popen([*query, "-lms", "100"], stdout=subprocess.PIPE, text=True)
    samples: list[float] = []
    assert process.stdout
    lines = process.stdout
    reader = threading.Thread(target=lambda: samples.extend(float(line) for line in lines))
    reader.start()
    try:
        yield
    finally:
        process.terminate()
        reader.join()
        idle[phase] = 1 - sum(samples) / (100 * max(1, len(samples)))


def train(given: argparse.Namespace, device: torch.device, folder: Path) -> dict[str, float]:
    """Train with the paper's recipe for 15 epochs of Adam, each scored on dev."""
    paths = {f"data.{name}": str(given.data / f"{name}.conllu.xz") for name in ("train", "dev")}
    n_epochs = f"train.adam_epochs={given.epochs}"
    settings = (n_epochs, f"train.patience={given.epochs}", "train.sgd_epochs=0", "label.epochs=0")
    recipe = read_recipe(CONFIG, (*settings, *given.set), paths)
    started = time.perf_counter()
    times: list[float] = []
    n_words = 0
    for report in train_parser(recipe, folder, Compute(device, given.precision), {}):
        if isinstance(report, StartReport):
            n_words = report.n_words
            times.append(time.perf_counter())
        elif isinstance(report, EpochReport):
            times.append(time.perf_counter())
    epochs = sorted(after - before for before, after in itertools.pairwise(times))
    return {
        "start": times[0] - started,
        "epochs": times[-1] - times[0],
        "epoch": epochs[len(epochs) // 2],
        "words_per_second": n_words / epochs[len(epochs) // 2],
    }


def pair_memory(device: torch.device) -> dict[str, float]:
    """Measure the memory to score pairs of 8 sentences, forward and backward, without inputs."""
    mebibytes = {}
    for n in LENGTHS:
        factors = [torch.randn(8, n, 600, device=device, requires_grad=True) for _ in range(2)]
        factors.append(torch.randn(600, device=device, requires_grad=True))
        torch.autograd.grad(pair_scores(*factors).sum(), factors)  # compiles
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        torch.autograd.grad(pair_scores(*factors).sum(), factors)
        mebibytes[str(n)] = (torch.cuda.max_memory_allocated() - before) / 2**20
    return mebibytes


def network_alone(model: Path, parsed: list[Sentence], device: torch.device) -> float:
    """Run the network over batches that are on the device already; return words per second."""
    bundle = load_bundle(model)
    network = load_network(bundle, device)
    sentences = [encode(sentence, bundle.vocab) for sentence in parsed]
    batches = []
    for numbers in batches_by_length([len(s) for s in sentences]):
        batches.append(put_batch([sentences[i] for i in numbers], device))
    seconds = []
    for _ in range(N_TIMES):
        started = time.perf_counter()
        with torch.inference_mode():
            for batch in batches:
                network(*batch)
        if device.type == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - started)
    return sum(len(s) - 1 for s in sentences) / min(seconds)


def parse_copy(model: str, device: str, data: bytes, barrier: Barrier) -> None:
    """Parse a copy of the data in memory once all other processes are ready."""
    parser = headwise.load(model, device=device)
    for _ in range(1 + N_TIMES):
        barrier.wait(300)
        sentences = read_stream(io.BytesIO(data), "test", "conllu", "raise")
        b"".join(sentence.data for sentence, _ in parser.annotate(sentences))
        barrier.wait(300)


def end_to_end(model: Path, device: str, data: bytes, n_processes: int, n_words: int) -> float:
    """Let each process parse a copy; return the median words per second of all after a warm-up."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(n_processes + 1)
    given = (str(model), device, data, barrier)
    workers = [context.Process(target=parse_copy, args=given) for _ in range(n_processes)]
    for worker in workers:
        worker.start()
    seconds = []
    for _ in range(1 + N_TIMES):
        barrier.wait(300)
        started = time.perf_counter()
        barrier.wait(300)
        seconds.append(time.perf_counter() - started)
    for worker in workers:
        worker.join()
    return n_processes * n_words / statistics.median(seconds[1:])


class Measurements:
    """The numbers so far, saved after each step so that nothing is lost if the bench is stopped."""

    def __init__(self, path: Path | None) -> None:
        """Save to `path`, if given."""
        self._path = path
        self._all: dict[str, object] = {}

    def add(self, **numbers: object) -> None:
        """Add numbers and save all of them."""
        self._all |= numbers
        print(", ".join(numbers), file=sys.stderr, flush=True)
        if self._path:
            self._path.write_text(json.dumps(self._all, indent=1) + "\n", encoding="utf-8")

    def show(self) -> None:
        """Print them all."""
        self.add()
        print(json.dumps(self._all, indent=1))


def main() -> None:
    """Print the measurements."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument("--data", type=Path, required=True, help="folder of the treebank")
    options.add_argument("--model", type=Path, help="model with weights to parse with")
    options.add_argument("--device", default="cuda")
    options.add_argument("--precision", choices=("float32", "bfloat16"), default="float32")
    options.add_argument("--epochs", type=int, default=15)
    options.add_argument("--processes", type=int, nargs="+", default=[1, 4, 8])
    options.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE")
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    device = find_device(given.device)
    idle: dict[str, float] = {}
    measurements = Measurements(given.json)
    measurements.add(machine=describe_device(device), command=sys.argv[1:], idle=idle)
    with tempfile.TemporaryDirectory() as folder:
        with watch_gpu(device, idle, "training"):
            measurements.add(training=train(given, device, Path(folder)))
        if device.type == "cuda":
            measurements.add(pair_memory_mib=pair_memory(device))
        model = given.model or Path(folder) / "model"
        sentences = list(headwise.read_sentences(str(given.data / "test.conllu.xz")))
        n_words = sum(map(len, sentences))
        data = b"".join(item.data for item in sentences)
        measurements.add(network_words_per_second=network_alone(model, sentences, device))
        for n in given.processes:
            with watch_gpu(device, idle, f"parsing, {n} processes"):
                speed = end_to_end(model, given.device, data, n, n_words)
            measurements.add(**{f"end_to_end_words_per_second_{n}": speed})
    measurements.show()


if __name__ == "__main__":
    main()
