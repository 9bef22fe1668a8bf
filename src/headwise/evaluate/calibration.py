"""Can the probabilities in a file be believed? Calibration of every column.

`headwise parse --probabilities` writes how probable each value is into MISC (`HeadProb=0.9712`).
Here the values are compared with gold ones, in full: all features, labels with their subtypes. The
probability of a label is that of the label given the head, so labels are judged where the head is
right. An arc is right if head and label are; its probability is the product of both. A word without
a probability is left out, and so is one without a gold value, except in FEATS, where a blank says
that there are no features. `confidence.calibration_error` defines the error.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from headwise.errors import DataError
from headwise.evaluate.confidence import Bools, Floats, calibration_error
from headwise.evaluate.pairs import pair_sentences
from headwise.evaluate.scores import is_punctuation
from headwise.settings.choices import Column, Punctuation
from headwise.treebank.probabilities import MISC_KEYS
from headwise.treebank.sentence import BLANK, Sentence, Word

MEASURED = ("heads", "labels", "arcs", "upos", "xpos", "feats", "lemma")
"""What is measured, in the order of tables: columns, and arcs, which are heads and labels."""
RANGES = ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 0.99), (0.99, 1.0))
"""Probabilities from and below, the last with 1."""
_Judged: TypeAlias = tuple[str, float, bool]
"""One of `MEASURED`, the probability of a value, and whether it is right."""


@dataclass(frozen=True, slots=True)
class CalibrationRange:
    """The values whose probability is in one of `RANGES`; shares and means are in percent."""

    low: float
    high: float
    share: float
    probability: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class ColumnCalibration:
    """How far the probabilities of a column are off.

    `accuracy` and the mean `probability` are in percent, the expected calibration `error` in
    points. `ranges` are those with values in them.
    """

    n_words: int
    accuracy: float
    probability: float
    error: float
    ranges: tuple[CalibrationRange, ...]


CalibrationTable: TypeAlias = dict[str, ColumnCalibration]
"""By the names in `MEASURED`, without those that the file has no probabilities for."""


def measure_calibration(
    gold: Iterable[Sentence], predicted: Iterable[Sentence], rule: Punctuation = "none"
) -> CalibrationTable:
    """Compare the probabilities in MISC with how many values are right, column by column.

    Args:
        gold: sentences with HEAD and DEPREL.
        predicted: the same sentences in the same order, with probabilities in MISC.
        rule: which words to leave out, by their gold annotation.
    """
    judged: defaultdict[str, list[tuple[float, bool]]] = defaultdict(list)
    source = "the predicted file"
    for one, other in pair_sentences(gold, predicted):
        source = other.source
        for position, word in enumerate(one.words, 1):
            if not is_punctuation(word, rule):
                probabilities = _probabilities(other, position)
                verdicts = _judge(word, other.words[position - 1], probabilities)
                for name, probability, is_right in verdicts:
                    judged[name].append((probability, is_right))
    if not judged:
        hint = "write them with: headwise parse --probabilities"
        raise DataError("MISC has no probabilities", source, hint=hint)
    return {name: _column(judged[name]) for name in MEASURED if name in judged}


def _judge(gold: Word, predicted: Word, probabilities: dict[Column, float]) -> Iterator[_Judged]:
    for column, probability in probabilities.items():
        one, other = (_value(word, column) for word in (gold, predicted))
        if one == [BLANK] and column != "feats":
            continue
        if column != "labels":
            yield column, probability, one == other
            continue
        has_head = gold.head == predicted.head
        if has_head:
            yield column, probability, one == other
        if "heads" in probabilities:
            yield "arcs", probability * probabilities["heads"], has_head and one == other


def _value(word: Word, column: Column) -> list[str]:
    """Return the value of a column, and of FEATS all features, whose order does not matter."""
    match column:
        case "feats":
            return sorted(word.feats.split("|"))
        case "heads":
            return [word.head]
        case "labels":
            return [word.deprel]
        case _:
            return [getattr(word, column)]


def _probabilities(sentence: Sentence, position: int) -> dict[Column, float]:
    """Read the probabilities in MISC of the word at `position` (1..N)."""
    misc = sentence.words[position - 1].misc
    if "Prob=" not in misc:
        return {}
    values = dict(part.partition("=")[::2] for part in misc.split("|"))
    found: dict[Column, float] = {}
    for column, key in MISC_KEYS.items():
        if (text := values.get(key)) is None:
            continue
        try:
            probability = float(text)
        except ValueError:
            probability = -1.0
        if not 0.0 <= probability <= 1.0:
            what = f"{key} of word {position} is {text[:40]!r}, not a probability"
            line = sentence.line_of(position)
            raise DataError(what, sentence.source, line, "give a number from 0 to 1")
        found[column] = probability
    return found


def _column(judged: list[tuple[float, bool]]) -> ColumnCalibration:
    probabilities: Floats = np.array([probability for probability, _ in judged])
    is_right: Bools = np.array([right for _, right in judged])
    ranges = []
    for low, high in RANGES:
        inside = (probabilities >= low) & ((probabilities < high) | (high == 1.0))
        if inside.any():
            values = (inside.mean(), probabilities[inside].mean(), is_right[inside].mean())
            ranges.append(CalibrationRange(low, high, *(100 * float(value) for value in values)))
    return ColumnCalibration(
        n_words=len(judged),
        accuracy=100 * float(is_right.mean()),
        probability=100 * float(probabilities.mean()),
        error=calibration_error(probabilities, is_right),
        ranges=tuple(ranges),
    )
