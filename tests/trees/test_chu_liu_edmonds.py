"""Chu-Liu-Edmonds on long sentences, against networkx; see also `test_best_trees`."""

import time

import numpy as np
import pytest
from brute_force import best_total, networkx_total, random_scores, total

from headwise.trees.chu_liu_edmonds import best_tree
from headwise.trees.tree import is_tree, n_roots

SECONDS_FOR_FIVE_THOUSAND_WORDS = 60


def nested_cycles(n_words: int) -> np.ndarray:
    """Return scores for which 1 and 2 form a cycle, it and 3 another, and so on to N."""
    slots = np.arange(n_words + 1, dtype=np.float32)
    scores = -np.maximum(slots[:, None], slots[None, :])
    scores[:, 0] = -10 * n_words - slots
    return scores


def test_worked_example() -> None:
    scores = np.array([[9, 9, 9], [5, 9, 10], [1, 8, 9]], dtype=np.float32)
    assert best_tree(scores, single_root=False).tolist() == [0, 0, 1]


MATRICES = [random_scores(seed, n_words) for n_words in (8, 15, 25, 40) for seed in range(4)]


@pytest.mark.parametrize("scores", [*MATRICES, nested_cycles(12)], ids=len)
def test_many_roots_equals_networkx(scores: np.ndarray) -> None:
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


@pytest.mark.parametrize("single_root", [False, True])
def test_five_thousand_words_in_nested_cycles(single_root: bool) -> None:
    started = time.perf_counter()
    heads = best_tree(nested_cycles(5000), single_root)
    assert time.perf_counter() - started < SECONDS_FOR_FIVE_THOUSAND_WORDS
    assert is_tree(heads)
    # ROOT is best entered at word 1, and from there each word takes any smaller one.
    assert np.flatnonzero(heads == 0).tolist() == [0, 1]
    assert (heads[1:] < np.arange(1, 5001)).all()
