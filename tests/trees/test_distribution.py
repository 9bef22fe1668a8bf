"""Marginals, entropy and totals over all trees: by brute force, by determinants in many digits, and
by finite differences.
"""

import mpmath
import numpy as np
import pytest
from brute_force import random_scores, total
from constrained import constrained_trees, random_constraints

from headwise.errors import ConfigError
from headwise.trees.constraints import Constraints
from headwise.trees.distribution import TreeDistribution, distribution_of_trees

ROOTS = pytest.mark.parametrize("single_root", [False, True])
PROJECTIVE = pytest.mark.parametrize("projective", [False, True])


def check_equals_brute_force(
    seeds: range, n_words: int, single_root: bool, projective: bool
) -> None:
    for seed in seeds:
        random = np.random.default_rng(seed)
        constraints = random_constraints(random, n_words) if seed % 3 else Constraints()
        scores = random_scores(seed, n_words) * random.choice([0.0, 1.0, 8.0, 40.0])
        if seed % 2:  # takes logs
            scores[random.integers(1, n_words + 1), random.integers(0, n_words + 1)] = -750.0
        trees = constrained_trees(constraints, n_words, single_root, projective)

        def sum_up() -> TreeDistribution:
            return distribution_of_trees(
                scores,  # noqa: B023
                projective=projective,
                single_root=single_root,
                constraints=constraints,  # noqa: B023
            )

        if len(trees) == 0:
            with pytest.raises(ConfigError):
                sum_up()
            continue
        found = sum_up()
        totals = total(scores, trees)
        log_total = np.logaddexp.reduce(totals)
        probabilities = np.exp(totals - log_total)
        marginals = np.zeros_like(scores)
        for word in range(1, n_words + 1):
            np.add.at(marginals[word], trees[:, word], probabilities)
        assert found.log_total == pytest.approx(log_total, abs=1e-9)
        np.testing.assert_allclose(found.marginals, marginals, rtol=1e-9, atol=1e-300)
        entropy = -(probabilities * (totals - log_total)).sum()
        assert found.entropy == pytest.approx(entropy, abs=1e-9)
        assert found.log_prob(trees[0]) == pytest.approx(totals[0] - log_total, abs=1e-9)


@ROOTS
@PROJECTIVE
@pytest.mark.parametrize("n_words", range(1, 7))
def test_equals_brute_force(n_words: int, single_root: bool, projective: bool) -> None:
    check_equals_brute_force(range(60), n_words, single_root, projective)


@pytest.mark.slow
@pytest.mark.no_cover
@ROOTS
@PROJECTIVE
@pytest.mark.parametrize("n_words", [4, 5, 6])
def test_equals_brute_force_on_ten_thousand_matrices(
    n_words: int, single_root: bool, projective: bool
) -> None:
    check_equals_brute_force(range(1000, 1850), n_words, single_root, projective)


def log_determinant(scores: np.ndarray, single_root: bool) -> mpmath.mpf:
    """Return the log of the sum over trees by the determinant of Koo et al. (2007)."""
    n_words = len(scores) - 1
    weights = [[mpmath.exp(mpmath.mpf(value)) for value in row] for row in scores[1:]]
    laplacian = mpmath.matrix(n_words)
    for row in range(n_words):
        for head in range(1, n_words + 1):
            if head != row + 1:
                laplacian[row, head - 1] = -weights[row][head]
        inner = sum(weights[row][h] for h in range(1, n_words + 1) if h != row + 1)
        laplacian[row, row] = inner + (0 if single_root else weights[row][0])
    if single_root:
        for row in range(n_words):
            laplacian[row, 0] = weights[row][0]
    return mpmath.log(abs(mpmath.det(laplacian)))


@ROOTS
def test_near_certain_cycles_equal_a_determinant_in_six_hundred_digits(single_root: bool) -> None:
    """All words select a neighbour; the way to ROOT is worth e^-80, as is every other arc."""
    n_words = 12
    scores = np.full((n_words + 1, n_words + 1), -80.0)
    for word in range(1, n_words + 1):
        scores[word, word + 1 if word % 2 else word - 1] = 0.0
    scores[1:, 0] -= np.arange(n_words)
    found = distribution_of_trees(scores, projective=False, single_root=single_root)
    with mpmath.workdps(600):
        expected = log_determinant(scores, single_root)
        assert found.log_total == pytest.approx(float(expected), rel=1e-12)
        step = mpmath.mpf(10) ** -100
        for word, head in [(1, 0), (1, 2), (3, 4), (3, 5), (8, 1)]:
            # P(arc) = d log Z / d score, and Z is linear in the weight of each arc.
            raised = scores.astype(object)
            raised[word, head] = mpmath.mpf(float(scores[word, head])) + step
            slope = (log_determinant(raised, single_root) - expected) / step
            assert found.marginals[word, head] == pytest.approx(float(slope), rel=1e-9)


@ROOTS
@PROJECTIVE
@pytest.mark.parametrize("n_words", [15, 40])
def test_marginals_are_the_slopes_of_the_log_total(
    n_words: int, single_root: bool, projective: bool
) -> None:
    random = np.random.default_rng(n_words)
    scores = np.nan_to_num(random_scores(3, n_words)) * 2.0

    def log_total(scores: np.ndarray) -> float:
        return distribution_of_trees(
            scores, projective=projective, single_root=single_root
        ).log_total

    found = distribution_of_trees(scores, projective=projective, single_root=single_root)
    np.testing.assert_allclose(found.marginals[1:].sum(axis=1), 1.0, rtol=1e-9)
    for _ in range(10):
        word, head = int(random.integers(1, n_words + 1)), int(random.integers(0, n_words + 1))
        change = np.zeros_like(scores)
        change[word, head] = 1e-4
        slope = (log_total(scores + change) - log_total(scores - change)) / 2e-4
        expected = 0.0 if word == head else slope
        assert found.marginals[word, head] == pytest.approx(expected, abs=1e-7)


@ROOTS
@PROJECTIVE
def test_two_hundred_words_with_tiny_and_missing_probabilities(
    single_root: bool, projective: bool
) -> None:
    random = np.random.default_rng(7)
    scores = np.maximum(random_scores(1, 200) * 40.0, -80.0)
    scores[random.random(scores.shape) < 0.3] = -np.inf
    scores[2:, 1] = np.maximum(scores[2:, 1], -80.0)  # 1 may head all, and be the root
    scores[1, 0] = -80.0
    found = distribution_of_trees(scores, projective=projective, single_root=single_root)
    assert np.isfinite(found.log_total)
    np.testing.assert_allclose(found.marginals[1:].sum(axis=1), 1.0, rtol=1e-8)
    assert (found.marginals[~(scores > -np.inf)] == 0.0).all()
    assert not single_root or found.marginals[1:, 0].sum() == pytest.approx(1.0, rel=1e-8)
    assert 0.0 <= found.entropy < 200 * np.log(200)


def test_two_hundred_words_equal_log_determinants_where_those_are_stable() -> None:
    scores = np.nan_to_num(random_scores(2, 200))
    found = distribution_of_trees(scores, projective=False, single_root=False)
    weights = np.exp(scores[1:, 1:])
    np.fill_diagonal(weights, 0.0)
    laplacian = np.diag(weights.sum(axis=1) + np.exp(scores[1:, 0])) - weights
    _, log_det = np.linalg.slogdet(laplacian)
    assert found.log_total == pytest.approx(log_det, rel=1e-12)
    inverse = np.linalg.inv(laplacian)
    of_words = weights * (np.diag(inverse)[:, None] - inverse.T)
    np.testing.assert_allclose(found.marginals[1:, 1:], of_words, rtol=1e-6, atol=1e-12)


@PROJECTIVE
def test_what_is_certain_has_no_entropy(projective: bool) -> None:
    whole = Constraints(heads={1: 2, 2: 0, 3: 2})
    found = distribution_of_trees(
        random_scores(0, 3), projective=projective, single_root=True, constraints=whole
    )
    assert found.entropy == pytest.approx(0.0, abs=1e-12)
    assert found.log_prob(np.array([0, 2, 0, 2], np.int32)) == pytest.approx(0.0, abs=1e-12)


@ROOTS
@PROJECTIVE
def test_no_words_have_one_tree(single_root: bool, projective: bool) -> None:
    found = distribution_of_trees(np.zeros((1, 1)), projective=projective, single_root=single_root)
    assert (found.log_total, found.entropy) == (0.0, 0.0)
