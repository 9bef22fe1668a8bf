"""What a model says of its arcs, and how many of them are right.

    python -m bench.confidence en=UD_English-EWT/test.conllu.xz en=UD_English-PUD/test.conllu.xz

Gold words, every word. An arc counts as right when its head is; labels are not looked at, since the
probability is that of the head (Eq. 5). The calibration error is explained in
`headwise.evaluate.confidence`.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import headwise
from headwise import Sentence
from headwise.evaluate.confidence import Bools, Floats, calibration_error

INTERVALS = ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 0.99), (0.99, 1.0))
HEADER = "| it says | of the words | in the mean | heads that are right |\n|---|---|---|---|"


def arcs_of(model: str, path: Path) -> tuple[Floats, Bools]:
    """Parse the gold words of a file: what was said of each arc, and whether its head is right."""
    gold = [sentence for sentence in headwise.read_sentences(path) if len(sentence)]
    said: list[float] = []
    right: list[bool] = []
    for own, (sentence, parse) in zip(gold, headwise.load(model).annotate(gold), strict=True):
        assert isinstance(sentence, Sentence)
        assert parse is not None
        said += [float(p) for p in parse.probabilities]
        right += [w.head == g.head for w, g in zip(sentence.words, own.words, strict=True)]
    return np.array(said), np.array(right)


def rows_of(said: Floats, right: Bools) -> list[str]:
    """Make a row for each interval that has words."""
    rows = []
    for low, high in INTERVALS:
        own = (said >= low) & ((said < high) | (high == 1.0))
        if own.any():
            share, mean, found = own.mean(), said[own].mean(), right[own].mean()
            rows.append(f"| {low:.0%} to {high:.0%} | {share:.1%} | {mean:.1%} | {found:.1%} |")
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each model and file."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("pairs", nargs="+", metavar="MODEL=FILE")
    for pair in options.parse_args(arguments).pairs:
        model, _, path = pair.partition("=")
        said, right = arcs_of(model, Path(path))
        error = calibration_error(said, right)
        print(f"{model}, {Path(path).parent.name}: calibration error {error:.2f} points\n")
        print("\n".join([HEADER, *rows_of(said, right)]), end="\n\n")


if __name__ == "__main__":
    main()
