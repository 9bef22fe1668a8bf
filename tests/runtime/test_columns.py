"""Positions become strings: features that go with the tag, and lemmas that fit the form."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from headwise.arrays import FloatArray, IntArray
from headwise.runtime import columns
from headwise.runtime.columns import ColumnWriter, Written
from headwise.runtime.scorer import Selection
from headwise.treebank.sentence import Sentence, sentence_from_words
from headwise.vocabulary import lemma_rules
from headwise.vocabulary.features import Features
from headwise.vocabulary.lemma_rules import apply_rule
from headwise.vocabulary.lexicon import build_lexicon
from headwise.vocabulary.vocab import EMPTY_INDEX, Index, Vocab

FEATURES = Features(
    {"Case": ("Nom", "Acc"), "Number": ("Sing", "Plur"), "Tense": ("Past",)},
    {"NOUN": frozenset(["Case", "Number"]), "VERB": frozenset(["Number", "Tense"])},
)
RULES = Index(["lower||", "lower||---+y", "lower||-"])
SEEN = sentence_from_words(
    [("geese", "NOUN", "Number=Plur", "goose"), ("Ties", "NOUN", "_", "tie")],
    ["form", "upos", "feats", "lemma"],
)


def vocab(**changes: Any) -> Vocab:
    parts: dict[str, Any] = {
        "predicted": {"upos": Index(["NOUN", "VERB"])},
        "features": FEATURES,
        "rules": RULES,
        "lexicon": build_lexicon(SEEN.words).with_accuracy((0.9, 0.6)),
    }
    return Vocab(EMPTY_INDEX, EMPTY_INDEX, Index(["root"]), "none", **parts | changes)


def chosen(probs: Sequence[float], size: int) -> list[float]:
    """Give a distribution whose first probabilities are these."""
    return [*probs, *[0.0] * (size - len(probs))]


def select(*words: tuple[int, tuple[int, ...], Sequence[float]]) -> Selection:
    """Choose a tag, features and rules for each word; tags and features are certain to 0.9."""

    def tags(of_word: IntArray, size: int) -> FloatArray:
        return np.where(np.arange(size) == of_word[..., None], 0.9, 0.1 / (size - 1))

    rows = [words[0], *words]  # ROOT has any
    upos = np.array([row[0] for row in rows], np.int32)
    feats = np.array([row[1] for row in rows], np.int32)
    rules = np.array([chosen(row[2], 3) for row in rows], np.float32)
    with np.errstate(divide="ignore"):
        scores = (np.log(tags(upos, 2)), np.log(tags(feats, 3)), np.log(rules))
    return Selection(
        np.zeros((len(rows), len(rows)), np.float32),
        None,
        (upos, feats, rules.argmax(1).astype(np.int32)),
        tuple(part.astype(np.float32) for part in scores),
    )


def sentence(*forms: str, **columns: str) -> Sentence:
    names = ["form", *columns]
    return sentence_from_words([(form, *columns.values()) for form in forms], names)


def write(writer: ColumnWriter, given: Sentence, selection: Selection) -> Written:
    (written,) = writer.write([given], [selection])
    return written


def test_features_that_never_go_with_the_tag_are_not_written() -> None:
    selection = select((0, (1, 2, 1), [1.0]), (1, (1, 2, 1), [1.0]), (1, (0, 0, 0), [1.0]))
    written = write(ColumnWriter(vocab()), sentence("a", "b", "c"), selection)
    assert written["upos"][0] == ("NOUN", "VERB", "VERB")
    values, probs = written["feats"]
    assert values == ("Case=Nom|Number=Plur", "Number=Plur|Tense=Past", "_")
    absent = 0.1 / 2
    assert probs == pytest.approx([0.9 * 0.9 * absent, 0.9 * 0.9 * absent, 0.9**3], rel=1e-5)


def test_without_tags_all_features_are_written() -> None:
    whole = select((0, (1, 2, 1), [1.0]))
    selection = Selection(whole.head_log_probs, None, whole.tags[1:], whole.tag_log_probs[1:])
    written = write(ColumnWriter(vocab(predicted={})), sentence("a"), selection)
    assert written["feats"][0] == ("Case=Nom|Number=Plur|Tense=Past",)
    assert list(written) == ["feats", "lemma"]


def test_kept_tags_decide_which_features_go_with_them() -> None:
    selection = select((0, (1, 2, 1), [1.0]), (0, (1, 2, 1), [1.0]))
    writer = ColumnWriter(vocab(), keep=("upos",))
    given = sentence_from_words([("a", "VERB"), ("b", "NEW")], ["form", "upos"])
    written = write(writer, given, selection)
    assert written["upos"][0] == ("VERB", "NEW")
    assert written["feats"][0] == ("Number=Plur|Tense=Past", "Case=Nom|Number=Plur|Tense=Past")


@pytest.mark.parametrize(
    ("form", "rules", "lemma", "prob"),
    [
        ("Cities", [0.1, 0.8, 0.1], "city", 0.8),
        ("is", [0.1, 0.6, 0.3], "i", 0.3),  # too short for the best rule
        ("x", [0.0, 1.0, 0.0], "x", 0.0),  # and here for all that have a probability
        ("geese", [0.1, 0.8, 0.1], "goose", 0.6),  # the lexicon wins, the network disagrees
    ],
)
def test_a_lemma_is_looked_up_or_made_by_the_best_rule_that_fits(
    form: str, rules: list[float], lemma: str, prob: float
) -> None:
    selection = select((0, (0, 2, 0), rules))
    values, probs = write(ColumnWriter(vocab()), sentence(form), selection)["lemma"]
    assert values == (lemma,)
    assert probs == pytest.approx([prob], abs=1e-6)


def test_a_lemma_of_the_lexicon_is_as_probable_as_such_lemmas_are_right() -> None:
    selection = select((0, (0, 0, 0), [0.0, 0.0, 1.0]), (0, (0, 0, 0), [1.0, 0.0, 0.0]))
    values, probs = write(ColumnWriter(vocab()), sentence("Ties", "Ties"), selection)["lemma"]
    assert values == ("tie", "tie")
    assert probs == pytest.approx([0.9, 0.6])
    alone = ColumnWriter(vocab(lexicon=None))
    assert write(alone, sentence("Ties", "Ties"), selection)["lemma"][0] == ("tie", "ties")


def test_sentences_are_written_together_as_they_are_alone() -> None:
    rows = [(0, (1, 2, 1), [0.2, 0.5, 0.3]), (1, (0, 1, 1), [0.6, 0.4, 0.0])]
    given = [sentence("Cities", "is"), sentence("geese"), sentence("a", "is")]
    selections = [select(*rows), select(rows[1]), select(*rows[::-1])]
    together = ColumnWriter(vocab()).write(given, selections)
    writer = ColumnWriter(vocab())
    for one, selection, written in zip(given, selections, together, strict=True):
        assert write(writer, one, selection) == written
    assert writer.write([], []) == []


def test_what_is_remembered_is_bounded_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = sentence("a", "b", "c", "d")
    selection = select(*[(i % 2, (i % 3, 2, 0), [1.0]) for i in range(4)])
    fresh = write(ColumnWriter(vocab()), given, selection)
    monkeypatch.setattr(columns, "_MAX_CACHED", 2)
    writer = ColumnWriter(vocab())
    for _ in range(3):
        assert write(writer, given, selection) == fresh
        assert len(writer._feats) <= 2


TAGGED = sentence_from_words([("saw", "VERB", "see")], ["form", "upos", "lemma"])


def only(column: IntArray, log_probs: FloatArray) -> Selection:
    """Choose the values of one column."""
    return Selection(np.zeros((2, 2), np.float32), None, (column,), (log_probs,))


def test_a_feature_may_have_more_values_than_two_bytes_count() -> None:
    values = tuple(map(str, range(40_000)))
    features = Features({"A": values})
    writer = ColumnWriter(vocab(predicted={}, features=features, rules=None))
    log_probs = np.zeros((2, 1, len(values) + 1), np.float32)
    selection = only(np.array([[0], [39_999]], np.int32), log_probs)
    assert write(writer, TAGGED, selection)["feats"][0] == ("A=39998",)


def lemma_writer(*rules: str) -> ColumnWriter:
    lexicon = build_lexicon(TAGGED.words)
    return ColumnWriter(vocab(predicted={}, features=None, rules=Index(rules), lexicon=lexicon))


def test_the_lexicon_is_asked_with_the_tag_of_the_input_if_none_is_predicted() -> None:
    writer = lemma_writer("keep||")
    selection = only(np.zeros(2, np.int32), np.zeros((2, 1), np.float32))
    assert write(writer, TAGGED, selection)["lemma"][0] == ("see",)
    other = sentence_from_words([("saw", "NOUN")], ["form", "upos"])
    assert write(writer, other, selection)["lemma"][0] == ("saw",)


@pytest.mark.parametrize("position", [0, 1])
def test_the_probability_of_a_lemma_is_at_most_one(position: int) -> None:
    """Rounding may leave a log-probability slightly above 0."""
    writer = lemma_writer("keep||", "keep|-----|")
    selection = only(np.array([0, position], np.int32), np.full((2, 2), 1e-6, np.float32))
    assert write(writer, sentence("cat"), selection)["lemma"] == (("cat",), (1.0,))


def test_very_long_words_are_not_remembered() -> None:
    remembered = lemma_rules._apply_cached.cache_info().currsize
    assert apply_rule("a" * 100_000 + "s", "keep||-") == "a" * 100_000
    assert lemma_rules._apply_cached.cache_info().currsize == remembered
