"""Compare the probabilities of a model with how many of its values are right, column by column.

    python -m bench.confidence en=UD_English-EWT/test.conllu.xz en=UD_English-PUD/test.conllu.xz

Gold words, every word, and every column that the model predicts: heads, labels, tags, features,
lemmas. With a file in between, `headwise parse --probabilities` and then `headwise evaluate
--calibration` do the same. `headwise.evaluate.calibration` says what is right, and
`headwise.evaluate.confidence` defines the error. With `--limit 1` the exit status is 1 if a column
is more than one point off.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import headwise
from headwise import Sentence
from headwise.evaluate.calibration import CalibrationTable, ColumnCalibration, measure_calibration
from headwise.treebank.probabilities import with_probabilities

HEADER = "| column | words | right | mean probability | calibration error |\n|---|---|---|---|---|"
RANGE_HEADER = "| {} | share of words | mean probability | right |\n|---|---|---|---|"


def calibration_of(model: str, path: Path) -> CalibrationTable:
    """Parse gold words, and compare the probability of each value with the gold value."""
    gold = [sentence for sentence in headwise.read_sentences(path) if len(sentence)]
    parsed = headwise.load(model).annotate(gold)
    predicted = (
        with_probabilities(sentence, parse)
        for sentence, parse in parsed
        if isinstance(sentence, Sentence) and parse is not None
    )
    return measure_calibration(gold, predicted)


def table_of(calibration: CalibrationTable) -> Iterator[str]:
    """Make a row for each column."""
    yield HEADER
    for column, found in calibration.items():
        shares = f"{found.accuracy:.2f} | {found.probability:.2f} | {found.error:.2f}"
        yield f"| {column} | {found.n_words:,} | {shares} |"


def ranges_of(column: str, found: ColumnCalibration) -> Iterator[str]:
    """Make a row for each range of probabilities that contains words."""
    yield RANGE_HEADER.format(column)
    for part in found.ranges:
        shares = f"{part.share:.1f}% | {part.probability:.1f}% | {part.accuracy:.1f}%"
        yield f"| {part.low:.0%} to {part.high:.0%} | {shares} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables for each model and file."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("pairs", nargs="+", metavar="MODEL=FILE")
    options.add_argument("--limit", type=float, help="points that no column may exceed")
    given = options.parse_args(arguments)
    exceeded = []
    for pair in given.pairs:
        model, _, path = pair.partition("=")
        calibration = calibration_of(model, Path(path))
        print(f"{model}, {Path(path).parent.name}\n", *table_of(calibration), sep="\n", end="\n\n")
        for column, found in calibration.items():
            print(*ranges_of(column, found), sep="\n", end="\n\n")
            if given.limit is not None and found.error > given.limit:
                exceeded.append(f"{pair}: {column} {found.error:.2f}")
    for line in exceeded:
        print(f"over {given.limit:g} points: {line}", file=sys.stderr)
    return int(bool(exceeded))


if __name__ == "__main__":
    sys.exit(main())
