"""Marginals in plain numbers and by logs: against each other and by brute force; see also
`test_distribution`.
"""

import numpy as np
import pytest
from brute_force import all_trees, random_scores, total

from headwise.trees.distribution import distribution_of_trees
from headwise.trees.matrix_tree import arc_marginals, plain_arc_marginals

ROOTS = pytest.mark.parametrize("single_root", [False, True])


def arcs_missing(scores: np.ndarray, seed: int) -> np.ndarray:
    """Return the scores without a third of the arcs; each word keeps ROOT and a neighbour."""
    missing = np.random.default_rng(seed).random(scores.shape) < 1 / 3
    words = np.arange(1, len(scores))
    missing[words, 0] = missing[words, words - 1] = False
    return np.where(missing, -np.inf, scores)


@ROOTS
@pytest.mark.parametrize("n_words", range(2, 7))
def test_plain_marginals_equal_brute_force(n_words: int, single_root: bool) -> None:
    trees = all_trees(n_words, single_root, projective=False)
    for seed in range(40):
        scores = random_scores(seed, n_words) * (1.0, 8.0, 30.0)[seed % 3]
        found = plain_arc_marginals(scores, single_root)
        assert found is not None
        totals = total(scores, trees)
        log_z = np.logaddexp.reduce(totals)
        expected = np.zeros_like(scores)
        for word in range(1, n_words + 1):
            np.add.at(expected[word], trees[:, word], np.exp(totals - log_z))
        assert found[0] == pytest.approx(log_z, abs=1e-10)
        np.testing.assert_allclose(found[1], expected, rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("n_words", [1, 2, 3, 7, 8, 9, 40, 200])
def test_plain_marginals_equal_those_by_logs(n_words: int) -> None:
    scores = np.nan_to_num(random_scores(n_words, n_words)) * 8.0
    for matrix in (scores, arcs_missing(scores, n_words), scores.astype(np.float32)):
        found = plain_arc_marginals(matrix, single_root=False)
        assert found is not None
        log_z, marginals = arc_marginals(matrix)
        assert found[0] == pytest.approx(log_z, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(found[1], marginals, rtol=1e-10)


@pytest.mark.parametrize("n_words", [2, 3, 7, 8, 9, 40])
def test_one_root_in_plain_numbers_equals_each_root_by_itself(n_words: int) -> None:
    """The sum over single roots, each of which leaves no other arc from ROOT."""
    scores = np.nan_to_num(random_scores(n_words, n_words)) * 8.0
    found = plain_arc_marginals(scores, single_root=True)
    assert found is not None
    parts = []
    for root in range(1, n_words + 1):
        alone = scores.copy()
        alone[1:, 0] = -np.inf
        alone[root] = -np.inf
        alone[root, 0] = scores[root, 0]
        parts.append(arc_marginals(alone))
    log_z = np.logaddexp.reduce([part[0] for part in parts])
    marginals = sum(np.exp(part[0] - log_z) * part[1] for part in parts)
    assert found[0] == pytest.approx(log_z, rel=1e-12)
    np.testing.assert_allclose(found[1], marginals, rtol=1e-10)


@ROOTS
def test_tiny_probabilities_keep_their_digits_in_plain_numbers(single_root: bool) -> None:
    """Words 1 and 2 choose each other, and leave for ROOT with a weight of e^-600."""
    scores = np.array([[0, 0, 0], [-600, 0, 0], [-601, 0, 0]], dtype=np.float64)
    found = plain_arc_marginals(scores, single_root)
    assert found is not None
    log_z, marginals = found
    share = 1 / (1 + np.exp(-1.0))
    assert log_z == pytest.approx(-600 - np.log(share), rel=1e-15)
    assert marginals[1, 0] == pytest.approx(share, rel=1e-14)
    assert marginals[2, 0] == pytest.approx(1 - share, rel=1e-14)


@ROOTS
def test_plain_numbers_that_would_lose_digits_are_not_returned(single_root: bool) -> None:
    scores = np.zeros((4, 4))
    scores[1, 2] = -740.0  # a subnormal number, with few digits
    assert plain_arc_marginals(scores, single_root) is None
    scores[1, 2] = -2000.0
    assert plain_arc_marginals(scores, single_root) is None


@ROOTS
def test_products_that_are_too_small_are_not_returned(single_root: bool) -> None:
    """ROOT -> 1 -> 2 -> 3 is the only tree with 3 -> 4, and each arc of it is worth e^-400."""
    scores = np.full((5, 5), -np.inf)
    scores[1, 0] = scores[2, 0] = scores[4, 0] = 0.0
    scores[2, 1] = scores[3, 2] = -400.0
    scores[1, 2] = scores[4, 3] = 0.0
    scores[3, 4] = 0.0
    plain = plain_arc_marginals(scores, single_root)
    assert plain is None
    found = distribution_of_trees(scores, projective=False, single_root=single_root)
    trees = all_trees(4, single_root, projective=False)
    with np.errstate(invalid="ignore"):
        totals = total(scores, trees)
    totals = totals[np.isfinite(totals)]
    assert found.log_total == pytest.approx(np.logaddexp.reduce(totals), abs=1e-9)


@ROOTS
def test_no_tree_is_not_returned(single_root: bool) -> None:
    scores = np.zeros((4, 4))
    scores[1] = scores[2] = -np.inf
    scores[1, 2] = scores[2, 1] = 0.0
    assert plain_arc_marginals(scores, single_root) is None
    assert arc_marginals(scores)[0] == -np.inf
    scores = np.zeros((4, 4))
    scores[:, 0] = -np.inf
    assert plain_arc_marginals(scores, single_root) is None
    scores = np.zeros((4, 4))
    scores[2] = -np.inf
    assert plain_arc_marginals(scores, single_root) is None
