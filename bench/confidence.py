"""Compare the probabilities of arcs with how many of them are right.

    python -m bench.confidence en=UD_English-EWT/test.conllu.xz en=UD_English-PUD/test.conllu.xz

Gold words, every word. An arc is right if its head is; labels are ignored, because the probability
is that of the head (Eq. 5). `headwise.evaluate.confidence` defines the calibration error.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import headwise
from headwise import Sentence
from headwise.evaluate.confidence import Bools, Floats, calibration_error

INTERVALS = ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 0.99), (0.99, 1.0))
HEADER = "| probability | share of words | mean probability | right heads |\n|---|---|---|---|"


def arcs_of(model: str, path: Path) -> tuple[Floats, Bools]:
    """Parse gold words: the probability of each arc, and whether its head is right."""
    gold = [sentence for sentence in headwise.read_sentences(path) if len(sentence)]
    probabilities: list[float] = []
    right: list[bool] = []
    for expected, (sentence, parse) in zip(gold, headwise.load(model).annotate(gold), strict=True):
        assert isinstance(sentence, Sentence)
        assert parse is not None
        probabilities += [float(p) for p in parse.probabilities]
        right += [w.head == g.head for w, g in zip(sentence.words, expected.words, strict=True)]
    return np.array(probabilities), np.array(right)


def rows_of(probabilities: Floats, right: Bools) -> list[str]:
    """Make a row for each interval that contains words."""
    rows = []
    for low, high in INTERVALS:
        inside = (probabilities >= low) & ((probabilities < high) | (high == 1.0))
        if inside.any():
            share, mean = inside.mean(), probabilities[inside].mean()
            accuracy = right[inside].mean()
            rows.append(f"| {low:.0%} to {high:.0%} | {share:.1%} | {mean:.1%} | {accuracy:.1%} |")
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each model and file."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("pairs", nargs="+", metavar="MODEL=FILE")
    for pair in options.parse_args(arguments).pairs:
        model, _, path = pair.partition("=")
        probabilities, right = arcs_of(model, Path(path))
        error = calibration_error(probabilities, right)
        print(f"{model}, {Path(path).parent.name}: calibration error {error:.2f} points\n")
        print("\n".join([HEADER, *rows_of(probabilities, right)]), end="\n\n")


if __name__ == "__main__":
    main()
