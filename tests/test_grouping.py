"""Windows of a stream, chunks of a window, batches that share a pass, shares of workers."""

import math
from collections.abc import Iterable, Iterator
from itertools import chain, count, pairwise
from operator import length_hint, mul

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise import grouping
from headwise.grouping import (
    LOOK_AHEAD,
    MAX_WINDOW_CHARACTERS,
    MEAN_WORDS,
    batches,
    chunks,
    consecutive,
    in_order,
    shares,
    shuffled_batches,
)


def size_of(n_words: int) -> tuple[int, int]:
    return n_words, 1


def windows(sizes: Iterable[int], size: int, look_ahead: int = LOOK_AHEAD) -> list[list[int]]:
    return [window for window, _ in grouping.windows(sizes, size_of, size, 10**6, look_ahead)]


def test_windows_grow_to_their_size() -> None:
    sizes = [len(window) for window in windows([2] * 100, 8)]
    assert sizes == [8, 16, 32, 32, 12]
    assert max(sizes) == LOOK_AHEAD * 8
    at_once = grouping.windows([2] * 100, size_of, 8, 10**6, first_window=LOOK_AHEAD)
    assert [len(window) for window, _ in at_once] == [32, 32, 32, 4]


def test_the_first_window_asks_for_no_more_than_it_has() -> None:
    items = count()
    next(grouping.windows(items, lambda _: (1, 1), 8, 10**6))
    assert next(items) == 8 + 1


def test_a_window_has_a_bounded_number_of_words_and_characters() -> None:
    for half in ((MEAN_WORDS * LOOK_AHEAD * 8 // 2, 1), (1, MAX_WINDOW_CHARACTERS // 2)):
        found = grouping.windows([half] * 5, lambda size: size, 8, 10**6)
        assert [len(window) for window, _ in found] == [2, 2, 1]


def test_without_look_ahead_a_window_is_one_chunk() -> None:
    items = list(range(1, 40)) * 5
    found = list(grouping.windows(items, size_of, 64, 10**6, look_ahead=1))
    assert [len(window) for window, _ in found] == [64, 64, 64, 3]
    assert [len(parts) for _, parts in found] == [1] * 4


@pytest.mark.parametrize(
    ("lengths", "size", "max_pairs", "expected"),
    [
        ([3, 9, 1, 8, 2, 7], 2, 1_000, [[8, 9], [3, 7], [1, 2]]),
        ([2 * MEAN_WORDS // LOOK_AHEAD] * 128, 128, 10**6, [[16] * 64, [16] * 64]),
        ([150, *[5] * 40, 150, 160], 32, 20_000, [[160], [150], [150], [5] * 8, [5] * 32]),
    ],
    ids=["longest first", "whole passes", "long ones go alone"],
)
def test_chunks_hold_sentences_of_similar_length(
    lengths: list[int], size: int, max_pairs: int, expected: list[list[int]]
) -> None:
    found = chunks(lengths, size, max_pairs)
    assert [[lengths[i] for i in chunk] for chunk in found] == expected


@given(
    st.lists(st.integers(0, 12), max_size=40), st.integers(1, 9), st.sampled_from([1, 50, 10_000])
)
def test_every_item_comes_back_in_its_place(lengths: list[int], size: int, pairs: int) -> None:
    result = []
    for window, parts in grouping.windows(lengths, size_of, size, pairs):
        assert sorted(chain.from_iterable(parts)) == list(range(len(window)))
        assert all(0 < len(chunk) <= size for chunk in parts)
        result += in_order((chunk, [window[i] for i in chunk]) for chunk in parts)
    assert result == lengths


def test_results_must_be_as_many_as_positions() -> None:
    with pytest.raises(ValueError, match="zip"):
        in_order([([0, 1], ["one"])])


@given(st.lists(st.integers(1, 9), max_size=30), st.integers(1, 12), st.integers(1, 4))
def test_consecutive_groups_are_as_large_as_they_may_be(
    sizes: list[int], max_size: int, max_items: int
) -> None:
    groups = list(consecutive(sizes, int, max_size, max_items))
    assert list(chain.from_iterable(groups)) == sizes
    assert all(len(group) == 1 or sum(group) <= max_size for group in groups)
    for group, following in pairwise(groups):
        assert len(group) == max_items or sum(group) + following[0] > max_size


@settings(derandomize=True, database=None, max_examples=100, deadline=None)
@given(
    st.lists(st.integers(1, 3_000), max_size=60),
    st.sampled_from([1, 2]),
    st.sampled_from([1, 16]),
    st.sampled_from([1.25, math.inf]),
)
def test_batches_hold_each_sentence_once_within_their_limits(
    lengths: list[int], power: int, max_items: int, max_growth: float
) -> None:
    def cost(n: int, longest: int) -> int:
        return mul(n, longest**power)

    found = list(batches(lengths, cost, 1_024, max_items, max_growth))
    assert sorted(i for batch in found for i in batch) == list(range(len(lengths)))
    for batch in found:
        own = [lengths[i] for i in batch]
        assert own == sorted(own)
        assert len(batch) <= max_items
        assert len(batch) == 1 or cost(len(batch), own[-1]) <= 1_024
        assert own[-1] <= max_growth * own[0] + 1


LIMITS = {"min_items": 64, "max_items": 512, "max_size": 2**20, "max_ahead": 2**26}


def test_shares_are_of_what_is_left() -> None:
    sizes = [len(group) for group in shares([100] * 3_000, int, 2, **LIMITS)]
    assert sum(sizes) == 3_000
    assert sizes[0] == sizes[-2] == LIMITS["min_items"]
    assert max(sizes) == LIMITS["max_items"]


def test_large_items_are_not_read_far_ahead() -> None:
    items = iter([LIMITS["max_size"]] * 99)
    groups = shares(items, int, 2, **LIMITS)
    assert [len(next(groups)) for _ in range(2)] == [1, 1]
    assert length_hint(items) == 99 - 2
    assert len(next(groups)) == 1
    assert length_hint(items) == 99 - 2 - 4
    groups = shares([LIMITS["max_size"]] * 99, int, 200, **LIMITS)
    assert [len(group) for group in groups] == [1] * 99


def test_an_error_of_the_stream_comes_after_what_was_before_it() -> None:
    def items() -> Iterator[int]:
        yield from [100] * 200
        raise OSError("gone")

    groups = shares(items(), int, 2, **LIMITS)
    found = []
    with pytest.raises(OSError, match="gone"):
        found.extend(groups)
    assert sum(map(len, found)) == 200


def shuffled(lengths: list[int], size: int, window: int, seed: int) -> list[list[int]]:
    return list(shuffled_batches(lengths, size, window, np.random.default_rng(seed)))


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(
    lengths=st.lists(st.integers(1, 50), max_size=60),
    size=st.integers(1, 8),
    window=st.integers(1, 5),
    seed=st.integers(0, 99),
)
def test_every_sentence_is_in_one_batch_and_windows_are_sorted(
    lengths: list[int], size: int, window: int, seed: int
) -> None:
    cut = shuffled(lengths, size, window, seed)
    flat = [i for batch in cut for i in batch]
    assert sorted(flat) == list(range(len(lengths)))
    assert all(len(batch) == size for batch in cut[:-1])
    assert all(0 < len(batch) <= size for batch in cut)
    for start in range(0, len(flat), size * window):
        in_window = [lengths[i] for i in flat[start : start + size * window]]
        assert in_window == sorted(in_window)


def test_the_same_seed_gives_the_same_order_and_another_mixes_anew() -> None:
    lengths = [i % 7 + 1 for i in range(100)]
    assert shuffled(lengths, 4, 3, seed=1) == shuffled(lengths, 4, 3, seed=1)
    assert shuffled(lengths, 4, 3, seed=1) != shuffled(lengths, 4, 3, seed=2)
    random = np.random.default_rng(1)
    first, second = (list(shuffled_batches(lengths, 4, 3, random)) for _ in range(2))
    assert first != second
