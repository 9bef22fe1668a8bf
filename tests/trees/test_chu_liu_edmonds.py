"""Chu-Liu-Edmonds against brute force, against networkx, and on any finite scores."""

import time

import numpy as np
import pytest
from brute_force import best_total, networkx_total, random_scores, total
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from headwise.trees.chu_liu_edmonds import best_tree
from headwise.trees.tree import is_tree, n_roots

SECONDS_FOR_FIVE_THOUSAND_WORDS = 60
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCORES = st.integers(1, 12).flatmap(
    lambda n: arrays(np.float64, (n + 1, n + 1), elements=FINITE | st.sampled_from([0.0, 1.0]))
)


def nested_cycles(n_words: int) -> np.ndarray:
    """Return scores for which 1 and 2 form a cycle, it and 3 another, and so on to N."""
    slots = np.arange(n_words + 1, dtype=np.float32)
    scores = -np.maximum(slots[:, None], slots[None, :])
    scores[:, 0] = -10 * n_words - slots
    return scores


def test_worked_example() -> None:
    scores = np.array([[9, 9, 9], [5, 9, 10], [1, 8, 9]], dtype=np.float32)
    heads = best_tree(scores, single_root=False)
    assert heads.tolist() == [0, 0, 1]
    assert heads.dtype == np.int32


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n_words", range(1, 7))
def test_equals_brute_force(n_words: int, tied: bool, single_root: bool) -> None:
    for seed in range(40):
        scores = random_scores(seed, n_words, tied)
        heads = best_tree(scores, single_root)
        assert is_tree(heads)
        assert total(scores, heads) == pytest.approx(best_total(scores, single_root, False))
        assert not single_root or n_roots(heads) == 1


@pytest.mark.parametrize("n_words", [8, 15, 25, 40])
def test_many_roots_equals_networkx(n_words: int) -> None:
    for seed in range(4):
        scores = random_scores(seed, n_words)
        heads = best_tree(scores, single_root=False)
        assert total(scores, heads) == pytest.approx(networkx_total(scores))


@pytest.mark.parametrize("n_words", [7, 11, 15])
def test_single_root_equals_networkx_over_root_choices(n_words: int) -> None:
    for seed in range(3):
        scores = random_scores(seed, n_words)
        scores[:, 0] += 2.0  # tempts to attach many words to ROOT
        heads = best_tree(scores, single_root=True)
        expected = max(networkx_total(scores, root) for root in range(1, n_words + 1))
        assert total(scores, heads) == pytest.approx(expected)
        assert n_roots(heads) == 1


def test_single_root_is_exact_beside_large_root_scores() -> None:
    for seed in range(20):
        words_only = random_scores(seed, 6)
        words_only[:, 0] = 0.0
        scores = words_only.copy()
        scores[:, 0] = 1e9
        heads = best_tree(scores, single_root=True)
        expected = best_total(words_only, single_root=True, projective=False)
        assert total(words_only, heads) == pytest.approx(expected)


def test_no_words_and_one_word() -> None:
    for single_root in (False, True):
        assert best_tree(np.full((1, 1), np.nan), single_root).tolist() == [0]
        assert best_tree(np.full((2, 2), -1e30), single_root).tolist() == [0, 0]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(scores=SCORES, single_root=st.booleans())
def test_any_finite_scores_give_a_tree(scores: np.ndarray, single_root: bool) -> None:
    heads = best_tree(scores, single_root)
    assert is_tree(heads)
    assert not single_root or n_roots(heads) == 1


@pytest.mark.parametrize("single_root", [False, True])
def test_scores_near_the_largest_float_stay_exact(single_root: bool) -> None:
    for seed in range(20):
        scores = random_scores(seed, 5)
        scores[0] = 0.0
        np.fill_diagonal(scores, 0.0)
        heads = best_tree(scores / np.abs(scores).max() * 1.7e308, single_root)
        assert total(scores, heads) == pytest.approx(best_total(scores, single_root, False))


def test_never_reads_row_zero_or_diagonal() -> None:
    scores = random_scores(5, 10)
    heads = best_tree(scores, single_root=False)
    scores[0] = np.inf
    np.fill_diagonal(scores, np.inf)
    assert best_tree(scores, single_root=False).tolist() == heads.tolist()


def test_tiny_float32_scores_keep_their_order() -> None:
    scores = random_scores(7, 6)
    tiny = (scores * 1e-30).astype(np.float32)
    assert best_tree(tiny, True).tolist() == best_tree(scores, True).tolist()


def test_leaves_scores_alone() -> None:
    scores = random_scores(5, 10)
    before = scores.copy()
    scores.flags.writeable = False
    best_tree(scores, single_root=True)
    np.testing.assert_array_equal(scores, before)


def test_nested_cycles_equal_networkx() -> None:
    scores = nested_cycles(12)
    heads = best_tree(scores, single_root=False)
    assert total(scores, heads) == pytest.approx(networkx_total(scores))


@pytest.mark.parametrize("single_root", [False, True])
def test_five_thousand_words_in_nested_cycles(single_root: bool) -> None:
    started = time.perf_counter()
    heads = best_tree(nested_cycles(5000), single_root)
    assert time.perf_counter() - started < SECONDS_FOR_FIVE_THOUSAND_WORDS
    assert is_tree(heads)
    # ROOT is best entered at word 1, and from there each word takes any smaller one.
    assert np.flatnonzero(heads == 0).tolist() == [0, 1]
    assert (heads[1:] < np.arange(1, 5001)).all()
