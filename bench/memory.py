"""Measure time and peak memory of parsing very long input, each in a new process.

    python -m bench.memory --model en --words 1000 2000 5000
    python -m bench.memory --model en --text --megabytes 1 5 10 --no-space 1 --no-end 10000

Without `--text` the input is one sentence in CoNLL-U; with it, raw text from stdin.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path

import headwise

SAMPLE = Path(__file__).parents[1] / "tests/fixtures/ewt-dev-100.conllu"
MEGABYTE = 1_000_000
Inputs = Iterator[tuple[str, Iterable[bytes]]]


def sentence(words: list[tuple[str, str]]) -> list[bytes]:
    """Write one sentence of words and tags as CoNLL-U."""
    return [headwise.sentence_from_words(words, ["form", "xpos"]).conllu.encode()]


def running_text(n_megabytes: float) -> Iterator[bytes]:
    """Repeat the sentences of the sample, five to a paragraph."""
    sentences = re.findall("^# text = (.*)$", SAMPLE.read_text(encoding="utf-8"), re.MULTILINE)
    n_left = round(n_megabytes * MEGABYTE)
    for number, text in enumerate(cycle(sentences), 1):
        data = (text + ("\n\n" if number % 5 == 0 else " ")).encode()
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


def long_sentences(lengths: list[int]) -> Inputs:
    """List a sentence with a very long word, and sentences of several lengths."""
    yield "a word of 100,000 characters", sentence([("Kids", "NNS"), ("o" * 100_000, "VBP")])
    sample = [(w.form, w.xpos) for s in headwise.read_sentences(SAMPLE) for w in s.words]
    for n_words in sorted(lengths):
        yield f"{n_words:,} words", sentence(list(islice(cycle(sample), n_words)))


def long_texts(given: argparse.Namespace) -> Inputs:
    """List raw texts, also without spaces and without ends of sentences."""
    for size in given.megabytes:
        yield f"{size:g} MB of running text", running_text(size)
    for size in given.no_space:
        yield f"{size:g} MB without a space", without_space(size)
    for n_words in given.no_end:
        yield f"{n_words:,} words without a sentence end", without_end(n_words)


def measure(data: Iterable[bytes], command: list[str]) -> tuple[float, float]:
    """Parse one input; return seconds and the peak in MiB."""
    with tempfile.TemporaryFile() as file:
        file.writelines(data)
        file.seek(0)
        started = time.monotonic()
        process = subprocess.Popen(command, stdin=file, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return time.monotonic() - started, usage.ru_maxrss / 1024


def main() -> None:
    """Print a table, each row as soon as it is measured."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--model", default="en")
    options.add_argument("--decoder", default="mst")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--words", type=int, nargs="+", default=[100, 1000, 2000, 5000])
    options.add_argument("--text", action="store_true", help="parse raw text")
    options.add_argument("--megabytes", type=float, nargs="*", default=[1, 5, 10])
    options.add_argument("--no-space", type=float, nargs="*", default=[1], metavar="MEGABYTES")
    options.add_argument("--no-end", type=int, nargs="*", default=[10_000], metavar="WORDS")
    given = options.parse_args()
    command = [sys.executable, "-m", "headwise", "parse", "--model", given.model, "--quiet"]
    command += ["--decoder", given.decoder, "--threads", str(given.threads)]
    command += ["--input", "text" if given.text else "conllu"]
    print("| input | seconds | peak MiB |\n|---|---|---|")
    for name, data in long_texts(given) if given.text else long_sentences(given.words):
        seconds, peak = measure(data, command)
        print(f"| {name} | {seconds:.1f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
