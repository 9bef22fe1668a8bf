"""Trees and projectivity against their definitions."""

import sys

import numpy as np
import pytest
from brute_force import all_heads, has_no_crossing, random_projective_heads, reaches_root

from headwise.trees.tree import is_projective, is_tree, n_roots, summable_scale


def as_heads(*heads: int) -> np.ndarray:
    return np.array([0, *heads], dtype=np.int32)


@pytest.mark.parametrize("n_words", range(6))
def test_is_tree_means_every_word_reaches_root(n_words: int) -> None:
    heads = all_heads(n_words)
    assert [is_tree(row) for row in heads] == reaches_root(heads).tolist()


@pytest.mark.parametrize("n_words", range(6))
def test_is_projective_means_no_two_arcs_cross(n_words: int) -> None:
    for heads in all_heads(n_words):
        assert is_projective(heads) == has_no_crossing(heads), heads


def test_is_projective_equals_definition_on_longer_sentences() -> None:
    random = np.random.default_rng(1)
    answers = set()
    for seed in range(200):
        heads = random_projective_heads(seed, 25, single_root=False)
        assert is_tree(heads)
        assert is_projective(heads)
        heads[random.integers(1, 26)] = random.integers(0, 26)
        assert is_projective(heads) == has_no_crossing(heads)
        answers.add(is_projective(heads))
    assert answers == {True, False}


def test_roots_are_words_headed_by_root() -> None:
    assert n_roots(as_heads(0, 1, 0)) == 2
    assert n_roots(as_heads(1)) == 0
    assert n_roots(as_heads()) == 0


def test_long_chain_needs_no_recursion() -> None:
    n_words = 20 * sys.getrecursionlimit()
    chain = np.minimum(np.arange(1, n_words + 2), n_words).astype(np.int32)
    chain[n_words] = 0
    assert is_tree(chain)
    assert is_projective(chain)
    chain[n_words] = 1
    assert not is_tree(chain)


def test_only_enormous_scores_are_scaled() -> None:
    assert summable_scale(np.array([[-1e30, 1e30]])) == 1.0
    assert summable_scale(np.array([[0.0, -1e301]])) == 2.0**-64
    assert summable_scale(np.zeros((0, 1, 1))) == 1.0
