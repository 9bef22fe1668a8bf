"""Scores as text and as JSON."""

import msgspec
import pytest
from made_texts import spell
from made_trees import tree

from headwise.evaluate.metrics import WORD_METRICS
from headwise.evaluate.raw import METRICS, score_raw
from headwise.evaluate.report import (
    raw_scores_to_text,
    scores_to_json,
    scores_to_text,
    significance_to_text,
)
from headwise.evaluate.scores import score
from headwise.evaluate.significance import Difference, Significance
from headwise.settings.choices import Punctuation

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

UPOS       0.00  words with the right UPOS
XPOS     100.00  words with the right XPOS
UFeats   100.00  words with the right universal features
AllTags    0.00  words with all three right
Lemmas   100.00  words with the right lemma
CLAS      33.33  LAS of content words, F1
MLAS       0.00  CLAS with UPOS, UFeats and function words right, F1
BLEX      33.33  CLAS with the lemma right, F1

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


def test_details_add_relations_and_lengths() -> None:
    scores = score(GOLD, PREDICTED, "ud")
    assert scores_to_text(scores, details=False) == TEXT
    assert scores_to_text(scores, details=True) == TEXT + DETAILS


@pytest.mark.parametrize(
    ("rule", "words"),
    [("none", "every word counts"), ("ptb", "gold tags"), ("conllx", "punctuation characters")],
)
def test_text_says_what_was_scored(rule: Punctuation, words: str) -> None:
    text = scores_to_text(score(GOLD, PREDICTED, rule, universal_labels=True), details=False)
    assert words in text
    assert "labels compared up to the first ':'" in text


def test_json_holds_all_but_the_single_sentences() -> None:
    found = msgspec.json.decode(scores_to_json(score(GOLD, PREDICTED, "ud")))
    assert found["uas"] == 66.6667
    assert found["n_words"] == 3
    assert (found["upos"], found["clas"], found["mlas"]) == (0.0, 33.3333, 0.0)
    assert found["punctuation"] == "ud"
    assert found["universal_labels"] is False
    assert found["relations"][0]["label"] == "nsubj:pass"
    shortest = {"last_length": 1, "n_sentences": 1, "n_words": 0, "uas": None, "las": None}
    assert found["lengths"][0] == shortest
    assert "per_sentence" not in found


RAW_GOLD = spell("gold", "we/2/nsubj see them/2/obj | all/0/root now/1/nmod:tmod")
RAW_PREDICTED = spell("out", "we/2/nsubj see them/2/obl all/2/root now/4/nmod")
RAW_TEXT = """\
           Precision  Recall      F1  Aligned
Tokens        100.00  100.00  100.00        -
Sentences       0.00    0.00    0.00        -
Words         100.00  100.00  100.00        -
UPOS          100.00  100.00  100.00   100.00
XPOS          100.00  100.00  100.00   100.00
UFeats        100.00  100.00  100.00   100.00
AllTags       100.00  100.00  100.00   100.00
Lemmas        100.00  100.00  100.00   100.00
UAS            80.00   80.00   80.00    80.00
LAS            40.00   40.00   40.00    40.00
CLAS           40.00   40.00   40.00    40.00
MLAS           40.00   40.00   40.00    40.00
BLEX           40.00   40.00   40.00    40.00

Gold: 5 words in 2 sentences; predicted: 5 in 1; 5 words aligned by characters.
Aligned: accuracy on the aligned words; labels compared in full.
"""


def test_raw_text_is_one_table() -> None:
    assert raw_scores_to_text(score_raw(RAW_GOLD, RAW_PREDICTED)) == RAW_TEXT
    text = raw_scores_to_text(score_raw(RAW_GOLD, RAW_PREDICTED, universal_labels=True))
    assert "LAS            60.00" in text
    assert text.endswith("labels compared up to the first ':'.\n")


def test_raw_json_has_every_metric() -> None:
    found = msgspec.json.decode(scores_to_json(score_raw(RAW_GOLD, RAW_PREDICTED)))
    assert found["universal_labels"] is False
    sentences = {"n_gold": 2, "n_predicted": 1, "n_right": 0, "aligned_accuracy": None}
    assert found["sentences"] == sentences | dict.fromkeys(("precision", "recall", "f1"), 0.0)
    assert list(found) == ["universal_labels", *METRICS]
    assert found["las"]["f1"] == 40.0


def test_a_difference_shows_both_scores() -> None:
    found = Difference(83.333, 96.666, 13.333, 9.5, 17.123, 0.03)
    worse = Difference(100.0, 9.0, -91.0, -92.0, -90.0, 0.0002)
    text = significance_to_text(Significance(100, 10, 1, *[found] * 9, worse))
    lines = text.splitlines()
    assert lines[0] == "          first  second  difference      95% interval  p"
    assert lines[6] == "UAS       83.33   96.67      +13.33   +9.50 to +17.12  0.0300"
    assert lines[10] == "BLEX     100.00    9.00      -91.00  -92.00 to -90.00  0.0002"
    assert [line.split()[0] for line in lines[1:11]] == list(WORD_METRICS.values())
    assert text.endswith("\n\nPaired bootstrap over 100 sentences, 10 samples, seed 1.\n")


def test_labels_cannot_steer_a_terminal() -> None:
    evil = [tree((0, "\x1b]0;PWN\x07"))]
    text = scores_to_text(score(evil, evil, "none"), details=True)
    assert r"\x1b]0;PWN\x07" in text
    assert "\x1b" not in text
