"""Measure time and peak memory of parsing raw text from stdin, each input in a new process.

python bench/text.py --model en --megabytes 1 5 10 --no-space 1 --no-end 10000
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import BinaryIO

SAMPLE = Path(__file__).parent.parent / "tests" / "fixtures" / "ewt-dev-100.conllu"
MEGABYTE = 1_000_000


def running_text(n_megabytes: float) -> Iterator[bytes]:
    """Repeat the sentences of the sample, five to a paragraph."""
    sentences = re.findall("^# text = (.*)$", SAMPLE.read_text(encoding="utf-8"), re.MULTILINE)
    n_left = round(n_megabytes * MEGABYTE)
    for number, sentence in enumerate(cycle(sentences), 1):
        data = (sentence + ("\n\n" if number % 5 == 0 else " ")).encode()
        yield data[:n_left].decode(errors="ignore").encode()
        n_left -= len(data)
        if n_left <= 0:
            return


def without_space(n_megabytes: float) -> Iterator[bytes]:
    """Repeat the letters of the alphabet."""
    letters = cycle(b"abcdefghijklmnopqrstuvwxyz")
    yield bytes(islice(letters, round(n_megabytes * MEGABYTE)))


def without_end(n_words: int) -> Iterator[bytes]:
    """Repeat words without any end of sentence."""
    for word in islice(cycle(["and", "then", "the", "dog", "saw", "another", "cat"]), n_words):
        yield word.encode() + b" "


def measure(text: Iterator[bytes], command: list[str]) -> tuple[float, float]:
    """Parse one text; return seconds and the peak in MiB."""
    with tempfile.TemporaryFile() as file:
        file.writelines(text)
        file.seek(0)
        return _run(command, file)


def _run(command: list[str], file: BinaryIO) -> tuple[float, float]:
    started = time.monotonic()
    process = subprocess.Popen(command, stdin=file, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return time.monotonic() - started, usage.ru_maxrss / 1024


def main() -> None:
    """Print a table, each row as soon as it is measured."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", default="en")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--megabytes", type=float, nargs="*", default=[1, 5, 10])
    options.add_argument("--no-space", type=float, nargs="*", default=[1], metavar="MEGABYTES")
    options.add_argument("--no-end", type=int, nargs="*", default=[10_000], metavar="WORDS")
    given = options.parse_args()
    texts = [(f"{size:g} MB of running text", running_text(size)) for size in given.megabytes]
    texts += [(f"{size:g} MB without a space", without_space(size)) for size in given.no_space]
    texts += [(f"{n:,} words without a sentence end", without_end(n)) for n in given.no_end]
    command = [sys.executable, "-m", "headwise", "parse", "-m", given.model]
    command += ["--input", "text", "--threads", str(given.threads), "--quiet"]
    print("| input | seconds | peak MiB |\n|---|---|---|")
    for name, text in texts:
        seconds, peak = measure(text, command)
        print(f"| {name} | {seconds:.1f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
