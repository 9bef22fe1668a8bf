"""Windows of a stream, chunks of a window."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwise.errors import DataError
from headwise.runtime.grouping import AHEAD, CHARACTERS, WORDS, chunks, in_order, windows
from headwise.treebank.conllu import Malformed
from headwise.treebank.sentence import Sentence, sentence_from_words

BAD = Malformed(b"what?\n\n", DataError("no", "x", 1))


def sentence_of(n_words: int) -> Sentence:
    return sentence_from_words([("Kids",)] * n_words, ["form"])


def test_windows_grow_to_their_size() -> None:
    items = [sentence_of(2)] * 100
    sizes = [len(window) for window in windows(items, 8)]
    assert sizes == [8, 16, 32, 32, 12]
    assert max(sizes) == AHEAD * 8


def test_the_first_window_asks_for_no_more_than_it_has() -> None:
    asked = 0

    def items() -> object:
        nonlocal asked
        while True:
            asked += 1
            yield sentence_of(1)

    next(windows(items(), 8))  # type: ignore[arg-type]
    assert asked == 8 + 1


def test_a_window_has_a_bounded_number_of_words() -> None:
    long = sentence_of(WORDS * AHEAD * 8 // 2)
    found = list(windows([long] * 5, 8))
    assert [len(window) for window in found] == [2, 2, 1]


def test_a_window_has_a_bounded_number_of_characters() -> None:
    wide = sentence_from_words([("x" * (CHARACTERS // 3),)], ["form"])
    items = [wide, sentence_of(1), wide, wide, sentence_of(1), wide]
    assert [len(window) for window in windows(items, 8)] == [3, 3]
    bad = Malformed(b"x" * (CHARACTERS // 2), DataError("no", "x", 1))
    assert [len(window) for window in windows([bad] * 5, 8)] == [2, 2, 1]


def test_a_scorer_that_sorts_by_itself_gets_a_window_at_a_time() -> None:
    items = [sentence_of(n % 40) for n in range(1, 40)] * 5
    found = list(windows(items, 64, ahead=1))
    assert [len(window) for window in found] == [64, 64, 64, 3]
    assert [len(chunks(window, 64, 10**6, ahead=1)) for window in found] == [1] * 4


def test_chunks_are_of_similar_length_and_longest_first() -> None:
    window = [sentence_of(n) for n in (3, 9, 1, 8, 2, 7)]
    found = chunks(window, 2, 1_000)
    assert [[len(window[i]) for i in places] for places in found] == [[8, 9], [3, 7], [1, 2]]


def test_a_chunk_of_many_words_ends_after_whole_passes() -> None:
    window = [sentence_of(2 * WORDS // AHEAD)] * 128
    assert [len(places) for places in chunks(window, 128, 10**6)] == [64, 64]


def test_long_sentences_go_alone() -> None:
    window = [sentence_of(n) for n in (150, *[5] * 40, 150, 160)]
    sizes = [len(places) for places in chunks(window, 32, 20_000)]
    assert sizes == [1, 1, 1, 8, 32]


@given(
    st.lists(st.integers(0, 12), max_size=40), st.integers(1, 9), st.sampled_from([1, 50, 10_000])
)
def test_every_item_comes_back_in_its_place(lengths: list[int], size: int, pairs: int) -> None:
    items = [sentence_of(n) if n else BAD for n in lengths]
    result = []
    for window in windows(items, size):
        parts = chunks(window, size, pairs)
        assert sorted(chain.from_iterable(parts)) == list(range(len(window)))
        assert all(0 < len(places) <= size for places in parts)
        result += in_order((places, [window[i] for i in places]) for places in parts)
    assert list(map(id, result)) == list(map(id, items))


def test_answers_must_be_as_many_as_places() -> None:
    with pytest.raises(ValueError, match="zip"):
        in_order([([0, 1], ["one"])])
