"""Calibration of head probabilities: the error, and the temperature that reduces it.

A network that has overfitted its treebank gives 99% to arcs of which 95% are right. Dividing all
scores of Eq. 6 by a temperature T, fitted on held-out sentences, removes most of this error (Guo
et al. 2017, "On Calibration of Modern Neural Networks"). If arcs are weighted by log-probability,
no tree changes: every tree has one arc for each word, so dividing by T divides the weights of all
trees by T, up to a constant that they share.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
MIN_TEMPERATURE, MAX_TEMPERATURE = 0.25, 8.0
_N_INTERVALS = 20
_MIN_LOG_PROB = -80.0
"""Smaller log-probabilities are raised to this, since -inf times 0 is not a number."""
_N_HALVINGS = 40


def calibration_error(probabilities: Floats, is_right: Bools) -> float:
    """Compute the expected calibration error of arcs in points; 0 for no arcs.

    That is the distance between mean probability and accuracy in intervals of equal width, averaged
    by the number of words in them.

    >>> calibration_error(np.array([0.81, 0.82, 0.83, 0.84]), np.array([True, True, True, False]))
    7.5
    """
    if not len(probabilities):
        return 0.0
    intervals = np.minimum((probabilities * _N_INTERVALS).astype(int), _N_INTERVALS - 1)
    distances = np.bincount(intervals, probabilities - is_right, _N_INTERVALS)
    return round(float(100 * np.abs(distances).sum() / len(probabilities)), 2)


class HeadScores:
    """The head distributions of all words, and their gold heads.

    `log_probs` are matrices [N+1, N+1] whose first row is not read; `gold` are heads int [N+1], -1
    for a word without a head, which is left out. Other choices are scored alike: labels are
    matrices [N+1, R] and gold ids, -1 where the head is wrong.
    """

    def __init__(self, log_probs: Sequence[NDArray[np.float32]], gold: Sequence[NDArray[np.int32]]):
        """Concatenate all rows, so that each step is a few operations on one array."""
        rows = [matrix[1:][heads[1:] >= 0] for matrix, heads in zip(log_probs, gold, strict=True)]
        widths = np.concatenate([[], *(np.full(len(some), some.shape[1]) for some in rows)])
        self._starts = np.concatenate([[0], np.cumsum(widths)[:-1]]).astype(np.int64)
        self._flat: Floats = np.maximum(np.concatenate([[], *map(np.ravel, rows)]), _MIN_LOG_PROB)
        heads = np.concatenate([[], *(some[1:][some[1:] >= 0] for some in gold)]).astype(np.int64)
        self.n_words = len(heads)
        self._gold: Floats = self._flat[self._starts[: self.n_words] + heads]

    def temperature(self) -> float:
        """Find the temperature that makes the gold heads most probable; 1 without words."""
        if not self.n_words:
            return 1.0
        low, high = 1 / MAX_TEMPERATURE, 1 / MIN_TEMPERATURE
        for _ in range(_N_HALVINGS):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self._slope(middle) < 0 else (low, middle)
        return 1 / math.sqrt(low * high)

    def _slope(self, factor: float) -> float:
        """Compute the derivative of -log P of the gold heads, which is convex in 1 / T."""
        weights = np.exp(factor * self._flat)
        total = np.add.reduceat(weights, self._starts)
        mean = np.add.reduceat(weights * self._flat, self._starts) / total
        return float(np.sum(mean - self._gold))

    def error(self, temperature: float = 1.0) -> float:
        """Compute the calibration error of the most probable heads."""
        if not self.n_words:
            return 0.0
        scaled = self._flat / temperature
        total = np.add.reduceat(np.exp(scaled), self._starts)
        best = np.maximum.reduceat(self._flat, self._starts)
        return calibration_error(np.exp(best / temperature) / total, self._gold >= best)
