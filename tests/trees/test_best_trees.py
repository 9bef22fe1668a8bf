"""What holds for both algorithms: they equal brute force, and any scores give a tree."""

from collections.abc import Callable

import numpy as np
import pytest
from brute_force import best_total, random_scores, total
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from headwise.trees.chu_liu_edmonds import best_tree
from headwise.trees.eisner import best_projective_trees
from headwise.trees.tree import Heads, ScoreMatrix, is_projective, is_tree, n_roots

Best = Callable[[ScoreMatrix, bool], Heads]
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCORES = st.integers(1, 12).flatmap(
    lambda n: arrays(np.float64, (n + 1, n + 1), elements=FINITE | st.sampled_from([0.0, 1.0]))
)


def best_projective_tree(scores: ScoreMatrix, single_root: bool) -> Heads:
    lengths = np.array([len(scores) - 1])
    return best_projective_trees(scores[np.newaxis], lengths, single_root)[0]


pytestmark = [
    pytest.mark.parametrize("best", [best_tree, best_projective_tree]),
    pytest.mark.parametrize("single_root", [False, True]),
]


def check_best(scores: np.ndarray, heads: Heads, best: Best, single_root: bool) -> None:
    check_tree(heads, best, single_root)
    projective = best is best_projective_tree
    assert total(scores, heads) == pytest.approx(best_total(scores, single_root, projective))


def check_tree(heads: Heads, best: Best, single_root: bool) -> None:
    assert heads.dtype == np.int32
    assert is_tree(heads)
    assert best is best_tree or is_projective(heads)
    assert not single_root or n_roots(heads) == 1


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n_words", range(1, 7))
def test_equals_brute_force(n_words: int, tied: bool, best: Best, single_root: bool) -> None:
    for seed in range(40):
        scores = random_scores(seed, n_words, tied)
        check_best(scores, best(scores, single_root), best, single_root)


def test_scores_near_the_largest_float_stay_exact(best: Best, single_root: bool) -> None:
    for seed in range(20):
        scores = random_scores(seed, 5)
        scores[0] = 0.0
        np.fill_diagonal(scores, 0.0)
        heads = best(scores / np.abs(scores).max() * 1.7e308, single_root)
        check_best(scores, heads, best, single_root)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(scores=SCORES)
def test_any_finite_scores_give_a_tree(scores: np.ndarray, best: Best, single_root: bool) -> None:
    check_tree(best(scores, single_root), best, single_root)


def test_no_words_and_one_word(best: Best, single_root: bool) -> None:
    assert best(np.full((1, 1), np.nan), single_root).tolist() == [0]
    assert best(np.full((2, 2), -1e30), single_root).tolist() == [0, 0]


def test_tiny_float32_scores_keep_their_order(best: Best, single_root: bool) -> None:
    scores = random_scores(7, 6)
    tiny = (scores * 1e-30).astype(np.float32)
    assert best(tiny, single_root).tolist() == best(scores, single_root).tolist()


def test_row_zero_and_the_diagonal_never_count_and_scores_stay(
    best: Best, single_root: bool
) -> None:
    scores = random_scores(5, 10)
    heads = best(scores, single_root)
    scores[0] = np.inf
    np.fill_diagonal(scores, np.inf)
    before = scores.copy()
    scores.flags.writeable = False
    assert best(scores, single_root).tolist() == heads.tolist()
    np.testing.assert_array_equal(scores, before)
