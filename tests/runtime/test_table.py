"""Every distinct word is computed once, and memory is bounded."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.runtime import table as tables
from headwise.runtime.table import PADDING, InputTable
from headwise.treebank.sentence import Sentence, sentence_from_words
from headwise.vocabulary.encode import Encoded
from headwise.vocabulary.ngrams import Pieces
from headwise.vocabulary.vocab import Index, Vocab

VOCAB = Vocab(Index(["a", "b", "c"]), Index(["X", "Y"]), Index(["root"]), "xpos", Pieces(50))


class Computes:
    """x of a word: its id, its tag and the sum of its pieces; counts the words."""

    def __init__(self) -> None:
        self.n_words = 0

    def __call__(self, words: Encoded) -> np.ndarray:
        ids = words.ids
        self.n_words += len(words) - 1
        return np.stack([ids.words, ids.tags, ids.ngrams.sum(1)], 1).astype(np.float32)


def sentence(*words: str) -> Sentence:
    return sentence_from_words([(word[0], word[1]) for word in words], ["form", "xpos"])


def vectors(table: InputTable, given: Sentence) -> np.ndarray:
    found, (rows,) = table.look_up([given])
    return found.vectors[rows]


def test_a_word_is_computed_once_for_each_tag() -> None:
    compute = Computes()
    table = InputTable(compute, VOCAB)
    both = [sentence("aX", "bX", "aX"), sentence("aY", "bX", "aX")]
    found, rows = table.look_up(both)
    assert compute.n_words == 3
    assert rows[0].tolist() == [1, *rows[0][[1, 2, 1]].tolist()]
    np.testing.assert_array_equal(found.vectors[rows[1]][:, 1], [2, 4, 3, 3])
    np.testing.assert_array_equal(found.vectors[PADDING], 0)
    table.look_up(both)
    assert compute.n_words == 3


def test_tags_that_are_not_read_do_not_count() -> None:
    compute = Computes()
    table = InputTable(compute, Vocab(VOCAB.words, VOCAB.tags, VOCAB.labels, "none", Pieces(50)))
    table.look_up([sentence("aX", "aY")])
    assert compute.n_words == 1


def test_a_full_table_makes_room_and_the_old_one_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_BYTES", 5 * 3 * 4)  # three words
    table = InputTable(Computes(), VOCAB)
    first, rows = table.look_up([sentence("aX", "bX")])
    before = first.vectors[rows[0]].copy()
    assert vectors(table, sentence("aX", "cX", "dX")).shape == (4, 3)
    np.testing.assert_array_equal(first.vectors[rows[0]], before)


def test_a_sentence_larger_than_the_table_has_one_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "MAX_BYTES", 5 * 3 * 4)
    monkeypatch.setattr(tables, "AT_ONCE", 2)
    table = InputTable(Computes(), VOCAB)
    large = sentence(*(f"{letter}X" for letter in "abcdefghij"))
    found, (rows,) = table.look_up([large])
    assert len(set(rows.tolist())) == 11
    assert len(found.vectors) > 5
    assert table.look_up([sentence("aX")])[0] is not found


@settings(derandomize=True, database=None, max_examples=50, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6), max_size=12))
def test_what_is_remembered_is_what_is_computed(words: list[list[str]]) -> None:
    compute = Computes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "MAX_BYTES", 7 * 3 * 4)
        table = InputTable(compute, VOCAB)
        for forms in words:
            given_sentence = sentence(*(f"{form}Y" for form in forms))
            expected = compute(tables.encode(given_sentence, VOCAB))
            np.testing.assert_array_equal(vectors(table, given_sentence), expected)


def test_threads_share_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_BYTES", 22 * 3 * 4)
    table = InputTable(Computes(), VOCAB)
    texts = [sentence(*(f"{chr(97 + (i * 7 + j) % 26)}X" for j in range(8))) for i in range(200)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda one: vectors(table, one), texts))
    for text, own in zip(texts, found, strict=True):
        np.testing.assert_array_equal(own, Computes()(tables.encode(text, VOCAB)))
