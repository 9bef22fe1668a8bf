"""Eisner against a slower chart, and in batches; see also `test_best_trees`."""

import time

import numpy as np
import pytest
from brute_force import (
    best_projective_total,
    has_no_crossing,
    random_projective_heads,
    random_scores,
    total,
)

from headwise.trees.eisner import best_projective_trees
from headwise.trees.tree import Heads, ScoreMatrix, is_tree, n_roots


def best_projective_tree(scores: ScoreMatrix, single_root: bool) -> Heads:
    lengths = np.array([len(scores) - 1])
    return best_projective_trees(scores[np.newaxis], lengths, single_root)[0]


def padded(matrices: list[np.ndarray], filler: float) -> tuple[np.ndarray, np.ndarray]:
    size = max(len(matrix) for matrix in matrices)
    batch = np.full((len(matrices), size, size), filler)
    for target, matrix in zip(batch, matrices, strict=True):
        target[: len(matrix), : len(matrix)] = matrix
    return batch, np.array([len(matrix) - 1 for matrix in matrices])


def test_worked_example() -> None:
    scores = np.array([[9, 9, 9], [5, 9, 4], [1, 8, 9]], dtype=np.float32)
    assert best_projective_tree(scores, single_root=False).tolist() == [0, 0, 1]


@pytest.mark.parametrize("n_words", [9, 14, 20])
def test_many_roots_equals_slower_chart(n_words: int) -> None:
    for seed in range(3):
        scores = random_scores(seed, n_words)
        heads = best_projective_tree(scores, single_root=False)
        assert total(scores, heads) == pytest.approx(best_projective_total(scores))


@pytest.mark.parametrize("n_words", [7, 12])
def test_single_root_equals_slower_chart_over_root_choices(n_words: int) -> None:
    for seed in range(3):
        scores = random_scores(seed, n_words)
        scores[:, 0] += 2.0  # tempts to attach many words to ROOT
        totals = []
        for root in range(1, n_words + 1):
            one_root = scores.copy()
            one_root[np.arange(n_words + 1) != root, 0] = -1e6
            totals.append(best_projective_total(one_root))
        heads = best_projective_tree(scores, single_root=True)
        assert total(scores, heads) == pytest.approx(max(totals))
        assert n_roots(heads) == 1


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("n_words", [30, 120])
def test_finds_a_planted_projective_tree(n_words: int, single_root: bool) -> None:
    for seed in range(3):
        heads = random_projective_heads(seed, n_words, single_root)
        scores = random_scores(seed, n_words)
        scores[np.arange(1, n_words + 1), heads[1:]] += 20.0
        assert best_projective_tree(scores, single_root).tolist() == heads.tolist()


@pytest.mark.parametrize("filler", [0.0, np.nan, np.inf])
@pytest.mark.parametrize("single_root", [False, True])
def test_batch_equals_one_by_one(single_root: bool, filler: float) -> None:
    sentences = [random_scores(n, n) for n in (13, 0, 1, 30, 2, 30, 7)]
    together = best_projective_trees(*padded(sentences, filler), single_root)
    alone = [best_projective_tree(scores, single_root) for scores in sentences]
    assert [heads.tolist() for heads in together] == [heads.tolist() for heads in alone]


def test_a_batch_too_large_for_a_cache_is_summed_in_pieces_and_equals_one_by_one() -> None:
    sentences = [random_scores(seed, 100) for seed in range(40)]
    together = best_projective_trees(*padded(sentences, 0.0), single_root=True)
    alone = [best_projective_tree(scores, single_root=True) for scores in sentences]
    assert [heads.tolist() for heads in together] == [heads.tolist() for heads in alone]


def test_no_sentences_give_no_trees() -> None:
    assert best_projective_trees(np.zeros((0, 3, 3)), np.zeros(0, dtype=np.int32), True) == []


def test_takes_scores_in_any_memory_layout() -> None:
    scores = random_scores(7, 9)
    expected = best_projective_tree(scores, single_root=True)
    transposed = np.asfortranarray(scores)
    assert best_projective_tree(transposed, single_root=True).tolist() == expected.tolist()


@pytest.mark.parametrize("single_root", [False, True])
def test_three_hundred_words_take_less_than_a_second_and_arcs_never_cross(
    single_root: bool,
) -> None:
    scores = random_scores(0, 300)
    started = time.perf_counter()
    heads = best_projective_tree(scores, single_root)
    assert time.perf_counter() - started < 1.0
    assert is_tree(heads)
    assert has_no_crossing(heads)
