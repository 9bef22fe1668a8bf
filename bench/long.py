"""Measure time and peak memory of parsing very long sentences and words, each in a new process.

python bench/long.py --model en --words 1000 2000 5000
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import headwise

SAMPLE = Path(__file__).parent.parent / "tests" / "fixtures" / "ewt-dev-100.conllu"


def measure(sentence: headwise.Sentence, flags: list[str]) -> tuple[float, float]:
    """Parse one sentence; return seconds and the peak in MiB (the largest of all runs so far)."""
    with tempfile.NamedTemporaryFile("w", suffix=".conllu", encoding="utf-8") as file:
        file.write(sentence.conllu)
        file.flush()
        started = time.monotonic()
        command = [sys.executable, "-m", "headwise", "parse", file.name, "--quiet", *flags]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        seconds = time.monotonic() - started
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    """Print a table, the shortest sentence first, so that each peak belongs to its row."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", default="en")
    options.add_argument("--decoder", default="mst")
    options.add_argument("--words", type=int, nargs="+", default=[100, 1000, 2000, 5000])
    given = options.parse_args()
    flags = ["--model", given.model, "--decoder", given.decoder]
    sample = [(w.form, w.xpos) for s in headwise.read_sentences(SAMPLE) for w in s.words]
    print("| sentence | seconds | peak MiB |\n|---|---|---|")
    word = headwise.sentence_from_words([("Kids", "NNS"), ("o" * 100_000, "VBP")], ["form", "xpos"])
    print("| a word of 100,000 characters | {:.1f} | {:.0f} |".format(*measure(word, flags)))
    for n_words in sorted(given.words):
        words = (sample * (n_words // len(sample) + 1))[:n_words]
        sentence = headwise.sentence_from_words(words, ["form", "xpos"])
        seconds, peak = measure(sentence, flags)
        print(f"| {n_words:,} words | {seconds:.1f} | {peak:.0f} |")


if __name__ == "__main__":
    main()
