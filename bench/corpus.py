"""Parsing of corpora on Ray: throughput by number of workers, memory of workers and of the driver.

    python -m bench.corpus                                  both tables, on small inputs
    python -m bench.corpus throughput --megabytes 16 --workers 1 2
    python -m bench.corpus driver --megabytes 16 128 1024

`throughput` makes paragraphs out of the sentences of a treebank and parses them with each number
of workers, by the command that users give. Two rates are printed: of the whole command, with the
start of Ray, and of the steady state, between the first unit that was done and the last. The memory
of workers is the largest that any of them had.

`driver` shows whether the memory of the driver grows with the input. What a driver sees are units
and outcomes; so that a gigabyte passes in minutes, the input is JSONL with one sentence of text to
20 kB of metadata, which the workers read, carry along and write like any other. Everything else is
the real thing: as many units, outcomes, shards and records as a gigabyte of text would have.
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
EVERY = 0.25
"""Seconds between two looks at the memory."""
METADATA = 20_000


class Measured(NamedTuple):
    """What a run was like."""

    seconds: float
    n_words: int
    n_units: int
    steady: float
    """Words a second between the first unit that was done and the last."""
    driver: list[int]
    """Resident MiB over time."""
    worker: int
    """The largest of all workers, MiB."""


def status_of(pid: int) -> dict[str, int]:
    """Give what /proc knows of a process in numbers; nothing of one that is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    found = (re.match(r"(\w+):\s+(\d+)", line) for line in lines)
    return {match[1]: int(match[2]) for match in found if match}


def descendants(pid: int) -> Iterator[int]:
    """Find the processes that a process has started, and those that they have."""
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
    """Tell a process that parses from the others of Ray."""
    try:
        return "RayWorker" in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False


def measure(inputs: Path, output: Path, workers: int, flags: list[str]) -> Measured:
    """Run the command, and watch it."""
    command = [sys.executable, "-m", "headwise", "corpus", str(inputs), "--output", str(output)]
    started = time.monotonic()
    driver: list[int] = []
    worker = 0
    with subprocess.Popen([*command, "--workers", str(workers), "--quiet", *flags]) as process:
        while process.poll() is None:
            driver.append(status_of(process.pid).get("VmRSS", 0) // 1024)
            peaks = [status_of(p).get("VmHWM", 0) for p in descendants(process.pid) if is_worker(p)]
            worker = max([worker, *(peak // 1024 for peak in peaks)])
            time.sleep(EVERY)
    if process.returncode:
        raise SystemExit(f"headwise corpus ended with code {process.returncode}")
    seconds = time.monotonic() - started
    records = sorted((output / "_records").iterdir(), key=lambda path: path.stat().st_mtime)
    counts = [json.loads(path.read_bytes())["n_words"] for path in records]
    lasted = records[-1].stat().st_mtime - records[0].stat().st_mtime
    steady = sum(counts[1:]) / lasted if lasted else 0.0
    return Measured(seconds, sum(counts), len(counts), steady, [m for m in driver if m], worker)


def write_text(path: Path, n_bytes: int, texts: list[str]) -> None:
    """Write paragraphs of five sentences, in an order that is always the same."""
    order = random.Random(1)  # noqa: S311
    with path.open("w", encoding="utf-8") as stream:
        while stream.tell() < n_bytes:
            stream.write(" ".join(order.choices(texts, k=5)) + "\n\n")


def write_documents(path: Path, n_bytes: int, texts: list[str]) -> None:
    """Write JSONL with little text and many metadata."""
    order = random.Random(1)  # noqa: S311
    with path.open("w", encoding="utf-8") as stream:
        while stream.tell() < n_bytes:
            words = order.choices(texts, k=METADATA // 100)
            row = {"text": order.choice(texts), "metadata": " ".join(words)[:METADATA]}
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
            done = measure(path, Path(folder) / f"out-{n_workers}", n_workers, flags)
            first = first or done.steady
            print(
                f"| {n_workers} | {done.n_words:,} | {done.seconds:.0f} "
                f"| {done.n_words / done.seconds:,.0f} | {done.steady:,.0f} "
                f"| {done.steady / first if first else 0:.2f} | {done.worker} |",
                flush=True,
            )


def driver(megabytes: list[int], workers: int, texts: list[str], flags: list[str]) -> None:
    """Print the memory of the driver for inputs that grow."""
    print(
        "| input MB | units | seconds | driver MiB at 25% | at 50% | at 75% | at the end | peak |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for size in megabytes:
            path = Path(folder) / f"{size}.jsonl"
            write_documents(path, size * MEGABYTE, texts)
            output = Path(folder) / f"out-{size}"
            done = measure(path, output, workers, ["--compression", "zstd", *flags])
            at = [
                done.driver[int(share * (len(done.driver) - 1))] for share in (0.25, 0.5, 0.75, 1)
            ]
            print(
                f"| {size:,} | {done.n_units} | {done.seconds:.0f} "
                f"| {' | '.join(map(str, at))} | {max(done.driver)} |",
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
    given = options.parse_args()
    texts = [sentence.text for sentence in headwise.read_sentences(given.sample)]
    flags = ["--unit-size", given.unit_size, "--device", given.device, "--model", given.model]
    if given.table != "driver":
        throughput(max(given.megabytes), given.workers, texts, flags)
    if given.table != "throughput":
        driver(given.megabytes, max(given.workers), texts, flags)


if __name__ == "__main__":
    main()
