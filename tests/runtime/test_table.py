"""Every distinct word is computed once, and memory is bounded."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.runtime.table import PADDING, InputTable
from headwise.treebank.sentence import Sentence, sentence_from_words
from headwise.vocabulary.encode import encode
from headwise.vocabulary.ngrams import Ngrams
from headwise.vocabulary.vocab import Index, Vocab

VOCAB = Vocab(Index(["a", "b", "c"]), Index(["X", "Y"]), Index(["root"]), "xpos", Ngrams(50))


class CountingGraph:
    """x of a word: its id, its tag and the sum of its n-grams; counts the words."""

    def __init__(self) -> None:
        self.n_words = 0

    def run(self, ids: dict[str, np.ndarray], n_slots: int) -> list[np.ndarray]:
        assert n_slots == len(ids["words"])
        self.n_words += n_slots - 1
        columns = [ids["words"], ids["tags"], ids["pieces"].sum(1)]
        return [np.stack(columns, 1).astype(np.float32)]


def table_of(graph: CountingGraph, n_rows: int = 1_000, **limits: int) -> InputTable:
    return InputTable(graph, VOCAB, max_bytes=n_rows * 3 * 4, **limits)  # type: ignore[arg-type]


def computed(given: Sentence) -> np.ndarray:
    return CountingGraph().run(encode(given, VOCAB).ids.by_name(), len(given) + 1)[0]


def sentence(*words: str) -> Sentence:
    return sentence_from_words([(word[0], word[1]) for word in words], ["form", "xpos"])


def vectors(table: InputTable, given: Sentence) -> np.ndarray:
    found, (rows,) = table.look_up([given])
    return found.vectors[rows]


def test_a_word_is_computed_once_for_each_tag() -> None:
    graph = CountingGraph()
    table = table_of(graph)
    both = [sentence("aX", "bX", "aX"), sentence("aY", "bX", "aX")]
    found, rows = table.look_up(both)
    assert graph.n_words == 3
    assert rows[0].tolist() == [1, *rows[0][[1, 2, 1]].tolist()]
    np.testing.assert_array_equal(found.vectors[rows[1]][:, 1], [2, 4, 3, 3])
    np.testing.assert_array_equal(found.vectors[PADDING], 0)
    table.look_up(both)
    assert graph.n_words == 3


def test_tags_that_are_not_read_do_not_count() -> None:
    graph = CountingGraph()
    untagged = replace(VOCAB, tag_column="none")
    InputTable(graph, untagged).look_up([sentence("aX", "aY")])  # type: ignore[arg-type]
    assert graph.n_words == 1


def test_a_full_table_makes_room_and_the_old_one_stays() -> None:
    table = table_of(CountingGraph(), n_rows=5)  # three words
    first, rows = table.look_up([sentence("aX", "bX")])
    before = first.vectors[rows[0]].copy()
    assert vectors(table, sentence("aX", "cX", "dX")).shape == (4, 3)
    np.testing.assert_array_equal(first.vectors[rows[0]], before)


def test_a_sentence_larger_than_the_table_has_one_of_its_own() -> None:
    table = table_of(CountingGraph(), n_rows=5, at_once=2)
    large = sentence(*(f"{letter}X" for letter in "abcdefghij"))
    found, (rows,) = table.look_up([large])
    assert len(set(rows.tolist())) == 11
    assert len(found.vectors) > 5
    assert table.look_up([sentence("aX")])[0] is not found


def test_very_long_words_are_not_kept() -> None:
    table = table_of(CountingGraph(), max_key_characters=1_000)
    table.look_up([sentence("aX")])
    for i in range(20):
        long = sentence_from_words([(f"{i}" + 300 * "x", "X")], ["form", "xpos"])
        np.testing.assert_array_equal(vectors(table, long), computed(long))
    kept, _ = table.look_up([sentence("aX")])
    assert sum(len(key[0]) for key in kept.rows) <= 1_000  # type: ignore[index]
    huge = sentence_from_words([(2_000 * "x", "X")], ["form", "xpos"])
    assert table.look_up([huge])[0] is not table.look_up([sentence("aX")])[0]


@settings(derandomize=True, database=None, max_examples=50, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), max_size=12))
def test_a_table_holds_what_the_graph_computes(words: list[list[str]]) -> None:
    table = table_of(CountingGraph(), n_rows=7)
    for forms in words:
        given_sentence = sentence(*(f"{form}Y" for form in forms))
        np.testing.assert_array_equal(vectors(table, given_sentence), computed(given_sentence))


def test_threads_share_a_table() -> None:
    table = table_of(CountingGraph(), n_rows=22)
    texts = [sentence(*(f"{chr(97 + (i * 7 + j) % 26)}X" for j in range(8))) for i in range(200)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda one: vectors(table, one), texts))
    for text, own in zip(texts, found, strict=True):
        np.testing.assert_array_equal(own, computed(text))
