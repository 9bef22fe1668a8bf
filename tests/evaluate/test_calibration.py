"""Calibration of every column: by hand, and for probabilities that are what they say."""

import random

import numpy as np
import pytest
from made_texts import read

from headwise.errors import DataError
from headwise.evaluate.calibration import MEASURED, measure_calibration
from headwise.evaluate.report import calibration_to_json, calibration_to_text
from headwise.treebank.probabilities import MISC_KEYS
from headwise.treebank.sentence import Sentence

ROW = "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t_\t{}\n"


def sentences(*rows: str, name: str = "out") -> list[Sentence]:
    """Read one sentence of rows `form lemma upos xpos feats head deprel misc`."""
    lines = [ROW.format(i, *row.split()) for i, row in enumerate(rows, 1)]
    return read(name, "".join(lines) + "\n")


GOLD = sentences(
    "the the DET DT Definite=Def|PronType=Art 2 det _",
    "dogs dog NOUN NNS _ 3 nsubj _",
    "bark _ VERB VBP _ 0 root _",
    ". . PUNCT . _ 3 punct _",
)
EVERY = "FeatsProb=0.9|HeadProb=0.8|LabelProb=0.7|LemmaProb=0.6|UposProb=1.0|XposProb=0.5"
PREDICTED = sentences(
    f"the the DET DT PronType=Art|Definite=Def 2 det Gloss=x|{EVERY}",
    f"dogs dogs VERB NNS Number=Plur 3 nsubj:pass {EVERY}",
    "bark bark VERB VBP _ 2 root HeadProb=0.82|LabelProb=0.5|LemmaProb=0.9",
    ". . PUNCT . _ 1 punct HeadProb=0.5",
)


def test_each_column_by_hand() -> None:
    found = measure_calibration(GOLD, PREDICTED)
    assert tuple(found) == MEASURED
    heads = found["heads"]
    assert (heads.n_words, heads.accuracy) == (4, 50.0)
    assert heads.probability == pytest.approx((80 + 80 + 82 + 50) / 4)
    # 0.8, 0.8 and 0.82, of which two are right, and 0.5, which is wrong.
    assert heads.error == pytest.approx(100 * (0.42 + 0.5) / 4)
    shares = [(part.low, part.share, part.accuracy) for part in heads.ranges]
    assert shares == [(0.5, 25.0, 0.0), (0.7, 75.0, pytest.approx(200 / 3))]
    # Labels are compared in full where the head is right, features in any order.
    accuracies = {column: (one.n_words, one.accuracy) for column, one in found.items()}
    assert accuracies == {
        "heads": (4, 50.0),
        "labels": (2, 50.0),
        "arcs": (3, pytest.approx(100 / 3)),
        "upos": (2, 50.0),
        "xpos": (2, 100.0),
        "feats": (2, 50.0),
        "lemma": (2, 50.0),  # `bark` has no gold lemma
    }
    # 0.8 * 0.7 twice, of which one is right; 0.82 * 0.5 is wrong.
    assert found["arcs"].error == pytest.approx(100 * (0.12 + 0.41) / 3, abs=0.01)
    assert measure_calibration(GOLD, PREDICTED, "ud")["heads"].n_words == 3


def test_probabilities_that_are_what_they_say_have_no_error() -> None:
    rng = random.Random(5)
    gold, predicted = [], []
    for _ in range(6000):
        probability = rng.random()
        tag = "A" if rng.random() < probability else "B"
        gold.append("w w A A _ 0 root _")
        predicted.append(f"w w {tag} A _ 0 root UposProb={probability:.4f}|XposProb=0.9")
    found = measure_calibration(sentences(*gold), sentences(*predicted))
    assert found["upos"].error < 3
    assert found["upos"].accuracy == pytest.approx(50, abs=2)
    assert found["xpos"].error == pytest.approx(10)
    assert "heads" not in found
    assert np.sum([part.share for part in found["upos"].ranges]) == pytest.approx(100)


@pytest.mark.parametrize("value", ["", "nan", "inf", "-0.1", "1.1", "high", "0,9"])
def test_what_is_not_a_probability_is_refused(value: str) -> None:
    bad = sentences(
        "the the DET DT _ 2 det _",
        f"dogs dog NOUN NNS _ 0 root HeadProb={value}",
        name="bad.conllu",
    )
    with pytest.raises(DataError, match=r"bad\.conllu:2: HeadProb of word 2 is '.*', not a prob"):
        measure_calibration(bad, bad)


def test_a_file_without_probabilities_is_refused() -> None:
    with pytest.raises(DataError, match="out: MISC has no probabilities") as caught:
        measure_calibration(GOLD, GOLD)
    assert "headwise parse --probabilities" in str(caught.value)


def test_every_column_with_a_probability_is_measured() -> None:
    assert {*MEASURED} == {*MISC_KEYS, "arcs"}


TEXT = """\
        Words   Right  Probability  Error
Heads       4   50.00        73.00  23.00
Labels      2   50.00        70.00  20.00
Arcs        3   33.33        51.00  17.67
UPOS        2   50.00       100.00  50.00
XPOS        2  100.00        50.00  50.00
FEATS       2   50.00        90.00  40.00
Lemmas      2   50.00        60.00  10.00

Right: values that are right, in percent; Probability: their mean probability.
Error: expected calibration error in points.
Labels count where the head is right; an arc is right if head and label are.
"""
HEADS = """
Heads       Words  Probability  Right
50% to 70%  25.00        50.00   0.00
70% to 90%  75.00        80.67  66.67
"""


def test_calibration_as_text_and_json() -> None:
    found = measure_calibration(GOLD, PREDICTED)
    assert calibration_to_text(found, details=False) == TEXT
    assert calibration_to_text(found, details=True).startswith(TEXT + HEADS)
    data = calibration_to_json(found)
    assert b'"error": 23.0' in data
    assert b'"accuracy": 66.6667' in data
