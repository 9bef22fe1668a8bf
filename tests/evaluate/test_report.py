"""Scores as text and as JSON."""

import msgspec
import pytest
from made_trees import tree

from headwise.config import Punctuation
from headwise.evaluate.report import as_json, as_text
from headwise.evaluate.scores import score

GOLD = [
    tree((0, "root"), (1, "nsubj:pass"), (1, "obj"), upos="VERB NOUN NOUN"),
    tree((0, "root"), upos="PUNCT"),
]
PREDICTED = [tree((0, "root"), (1, "nsubj"), (2, "obj")), tree((0, "root"))]
TEXT = """\
UAS     66.67  words with the right head
LAS     33.33  words with the right head and label
Labels  66.67  words with the right label
UEM     50.00  sentences with all heads right
LEM     50.00  sentences with all heads and labels right

Trees       100.00  sentences whose predicted heads form a tree
Projective  100.00  a tree without crossing arcs
One root    100.00  a tree with one word on ROOT

3 words in 2 sentences, without the gold tag PUNCT; labels compared in full.
"""
DETAILS = """
Relation    Words     UAS     LAS  Precision      F1
nsubj:pass      1  100.00    0.00       0.00    0.00
obj             1    0.00    0.00       0.00    0.00
root            1  100.00  100.00     100.00  100.00

Length up to  Sentences  Words    UAS    LAS
           1          1      0      -      -
           3          1      3  66.67  33.33
"""


def test_text_starts_with_the_headline() -> None:
    text = as_text(score(GOLD, PREDICTED, "ud"), details=False)
    assert text == TEXT


def test_details_add_relations_and_lengths() -> None:
    scores = score(GOLD, PREDICTED, "ud")
    assert as_text(scores, details=True) == as_text(scores, details=False) + DETAILS


@pytest.mark.parametrize(
    ("rule", "words"),
    [("none", "every word counts"), ("ptb", "gold tags"), ("conllx", "punctuation characters")],
)
def test_text_says_what_was_scored(rule: Punctuation, words: str) -> None:
    text = as_text(score(GOLD, PREDICTED, rule, universal_labels=True), details=False)
    assert words in text
    assert "labels compared up to the first ':'" in text


def test_json_holds_all_but_the_single_sentences() -> None:
    found = msgspec.json.decode(as_json(score(GOLD, PREDICTED, "ud")))
    assert found["uas"] == 66.6667
    assert found["n_words"] == 3
    assert found["punctuation"] == "ud"
    assert found["universal_labels"] is False
    assert found["relations"][0]["label"] == "nsubj:pass"
    assert found["lengths"][0] == {
        "last_length": 1,
        "n_sentences": 1,
        "n_words": 0,
        "uas": None,
        "las": None,
    }
    assert "per_sentence" not in found
