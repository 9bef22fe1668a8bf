"""Parsing corpora on Ray: throughput by number of workers, memory of workers and of the driver.

    python -m bench.corpus                                  both tables, on small inputs
    python -m bench.corpus throughput --megabytes 16 --workers 1 2
    python -m bench.corpus driver --megabytes 16 128 1024

`throughput` makes paragraphs from the sentences of a treebank and parses them with each number of
workers, with the command that users run. It prints two rates: of the whole command, including the
start of Ray, and of the steady state, between the first finished unit and the last. The memory of
workers is the largest of any worker.

`driver` shows whether the memory of the driver grows with the input. A driver only sees units and
results. So that a gigabyte takes minutes, the input is JSONL with one sentence of text and 20 kB of
metadata in each line, which the workers read and write like any other. The number of units,
results, shards and records is that of a gigabyte of text.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import headwise

SAMPLE = "tests/fixtures/ewt-dev-100.conllu"
MEGABYTE = 10**6
SAMPLING_SECONDS = 0.25
"""Between two measurements of the memory."""
METADATA_BYTES = 20_000


class Measured(NamedTuple):
    """Measurements of a run."""

    seconds: float
    n_words: int
    n_units: int
    steady: float
    """Words a second between the first finished unit and the last."""
    driver: list[int]
    """Resident memory over time in MiB."""
    worker: int
    """Largest resident memory of any worker in MiB."""


def status_of(pid: int) -> dict[str, int]:
    """Read the numbers in /proc/PID/status; empty if the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    matches = (re.match(r"(\w+):\s+(\d+)", line) for line in lines)
    return {match[1]: int(match[2]) for match in matches if match}


def descendants(pid: int) -> Iterator[int]:
    """Find the child processes of a process, at any depth."""
    parents = {
        int(entry.name): status_of(int(entry.name)).get("PPid", 0)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit()
    }
    wanted = {pid}
    while more := {child for child, parent in parents.items() if parent in wanted} - wanted:
        wanted |= more
    return iter(wanted - {pid})


def is_worker(pid: int) -> bool:
    """Tell whether a process is a Ray worker that parses."""
    try:
        return "UnitWorker" in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False


def measure(inputs: Path, output: Path, workers: int, flags: list[str]) -> Measured:
    """Run the command and measure it."""
    command = [sys.executable, "-m", "headwise", "corpus", str(inputs), "--output", str(output)]
    started = time.monotonic()
    driver: list[int] = []
    worker = 0
    with subprocess.Popen([*command, "--workers", str(workers), "--quiet", *flags]) as process:
        while process.poll() is None:
            driver.append(status_of(process.pid).get("VmRSS", 0) // 1024)
            peaks = [status_of(p).get("VmHWM", 0) for p in descendants(process.pid) if is_worker(p)]
            worker = max([worker, *(peak // 1024 for peak in peaks)])
            time.sleep(SAMPLING_SECONDS)
    if process.returncode:
        raise SystemExit(f"headwise corpus failed with exit code {process.returncode}")
    seconds = time.monotonic() - started
    records = sorted((output / "_records").iterdir(), key=lambda path: path.stat().st_mtime)
    counts = [json.loads(path.read_bytes())["n_words"] for path in records]
    lasted = records[-1].stat().st_mtime - records[0].stat().st_mtime
    steady = sum(counts[1:]) / lasted if lasted else 0.0
    return Measured(seconds, sum(counts), len(counts), steady, [m for m in driver if m], worker)


def write_text(path: Path, n_bytes: int, texts: list[str]) -> None:
    """Write paragraphs of five sentences, in a fixed random order."""
    order = random.Random(1)  # noqa: S311
    with path.open("w", encoding="utf-8") as stream:
        while stream.tell() < n_bytes:
            stream.write(" ".join(order.choices(texts, k=5)) + "\n\n")


def write_documents(path: Path, n_bytes: int, texts: list[str]) -> None:
    """Write JSONL with little text and much metadata."""
    order = random.Random(1)  # noqa: S311
    with path.open("w", encoding="utf-8") as stream:
        while stream.tell() < n_bytes:
            words = order.choices(texts, k=METADATA_BYTES // 100)
            row = {"text": order.choice(texts), "metadata": " ".join(words)[:METADATA_BYTES]}
            stream.write(json.dumps(row) + "\n")


def throughput(megabytes: int, workers: list[int], texts: list[str], flags: list[str]) -> None:
    """Print words a second for each number of workers."""
    print("| workers | words | seconds | words/s | steady words/s | of one | worker MiB |")
    print("|---|---|---|---|---|---|---|")
    first = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        write_text(path, megabytes * MEGABYTE, texts)
        for n_workers in workers:
            measured = measure(path, Path(folder) / f"out-{n_workers}", n_workers, flags)
            first = first or measured.steady
            print(
                f"| {n_workers} | {measured.n_words:,} | {measured.seconds:.0f} "
                f"| {measured.n_words / measured.seconds:,.0f} | {measured.steady:,.0f} "
                f"| {measured.steady / first if first else 0:.2f} | {measured.worker} |",
                flush=True,
            )


def driver(megabytes: list[int], workers: int, texts: list[str], flags: list[str]) -> None:
    """Print the memory of the driver for growing inputs."""
    print(
        "| input MB | units | seconds | driver MiB at 25% | at 50% | at 75% | at the end | peak |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for size in megabytes:
            path = Path(folder) / f"{size}.jsonl"
            write_documents(path, size * MEGABYTE, texts)
            output = Path(folder) / f"out-{size}"
            measured = measure(path, output, workers, ["--compression", "zstd", *flags])
            at = [
                measured.driver[int(share * (len(measured.driver) - 1))]
                for share in (0.25, 0.5, 0.75, 1)
            ]
            print(
                f"| {size:,} | {measured.n_units} | {measured.seconds:.0f} "
                f"| {' | '.join(map(str, at))} | {max(measured.driver)} |",
                flush=True,
            )
            path.unlink()


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument(
        "table", nargs="?", choices=["throughput", "driver", "both"], default="both"
    )
    options.add_argument("--megabytes", type=int, nargs="+", default=[2, 8])
    options.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    options.add_argument("--unit-size", default="0.5", help="MiB")
    options.add_argument("--sample", default=SAMPLE, help="A treebank to take sentences from.")
    options.add_argument("--device", default="cpu")
    options.add_argument("--model", default="en")
    arguments = options.parse_args()
    texts = [sentence.text for sentence in headwise.read_sentences(arguments.sample)]
    flags = [
        "--unit-size",
        arguments.unit_size,
        "--device",
        arguments.device,
        "--model",
        arguments.model,
    ]
    if arguments.table != "driver":
        throughput(max(arguments.megabytes), arguments.workers, texts, flags)
    if arguments.table != "throughput":
        driver(arguments.megabytes, max(arguments.workers), texts, flags)


if __name__ == "__main__":
    main()
