"""What else a word could be, most probable first."""

import numpy as np
import pytest

from headwise.annotate.alternatives import N_ALTERNATIVES, rank, rank_columns, rank_heads
from headwise.runtime.scorer import Selection
from headwise.treebank.sentence import sentence_from_words
from headwise.vocabulary.features import Features
from headwise.vocabulary.vocab import EMPTY_INDEX, Index, Vocab

FEATURES = Features(
    {"Case": ("Nom", "Acc"), "Number": ("Sing", "Plur")},
    {"NOUN": frozenset({"Number"})},
)
RULES = Index(["lower||", "lower||-", "!be", "lower||--------"])
VOCAB = Vocab(
    EMPTY_INDEX,
    EMPTY_INDEX,
    Index(["nsubj"]),
    "none",
    predicted={"upos": Index(["NOUN", "VERB"])},
    features=FEATURES,
    rules=RULES,
)


def selection(words: int) -> Selection:
    """Each word: NOUN 0.9; Case None 0.6, Nom 0.4; Number Plur 0.7, Sing 0.2; rules in order."""
    upos = np.log([[0.9, 0.1]] * (words + 1))
    feats = np.log([[[0.6, 0.4, 1e-9], [0.1, 0.2, 0.7]]] * (words + 1))
    lemma = np.log([[0.1, 0.8, 0.05, 0.05]] * (words + 1))
    return Selection(np.zeros((1, 1), np.float32), None, (), (upos, feats, lemma))


def test_columns_are_ranked_and_features_follow_the_tag() -> None:
    rows = [("Cats", "NOUN"), ("Cats", "X")]
    words = sentence_from_words(rows, ["form", "upos"]).words
    noun, other = rank_columns(words, selection(2), VOCAB)
    assert noun["upos"] == [("NOUN", 0.9), ("VERB", 0.1)]
    assert noun["xpos"] == []
    # A noun has no case here, so that nothing but its number is in doubt.
    assert dict(noun["feats"]) == pytest.approx({"Number=Plur": 0.42, "Number=Sing": 0.12})
    assert list(dict(other["feats"])) == ["Number=Plur", "Case=Nom|Number=Plur", "Number=Sing"]
    assert noun["lemma"] == [("cat", 0.8), ("cats", 0.1), ("be", 0.05)]


def test_at_most_nine_are_listed_and_none_without_a_chance() -> None:
    log_probs = np.log(np.array([0.05] * 20 + [1e-9]))
    ranked, reversed_rank = rank(np.stack([log_probs, log_probs[::-1]]), list(map(str, range(21))))
    assert [value for value, _ in reversed_rank] == [str(i + 1) for i in range(N_ALTERNATIVES)]
    assert [value for value, _ in ranked] == [str(i) for i in range(N_ALTERNATIVES)]
    probabilities = np.array([[1, 0, 0], [0.2, 0, 0.8], [1, 0, 0]])
    assert rank_heads(probabilities) == [[(2, 0.8), (0, 0.2)], [(0, 1.0)]]
