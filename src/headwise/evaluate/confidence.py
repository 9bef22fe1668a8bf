"""How far the probabilities of heads can be believed, and the one number that mends them.

A network that knows its treebank by heart says 99% of arcs of which 95% are right. Dividing all
scores of Eq. 6 by a temperature T, fitted on sentences it has not learned from, takes most of that
away (Guo and others 2017, "On Calibration of Modern Neural Networks"). Where arcs weigh
their log-probabilities it changes no tree: a tree has one arc for each word, so its weight is
divided by T, but for what all trees share.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
N_INTERVALS = 20
LOWEST, HIGHEST = 0.25, 8.0
"""Temperatures between which one is looked for."""
NEVER = -80.0
"""Stands for the logarithm of what is less probable, or not at all."""
N_HALVINGS = 40


def calibration_error(said: Floats, right: Bools) -> float:
    """Give the expected calibration error in points, for the probability of each arc.

    That is the distance between what was said and what was found, averaged over intervals of equal
    width by their words. 0 for no arcs.

    >>> calibration_error(np.array([0.81, 0.82, 0.83, 0.84]), np.array([True, True, True, False]))
    7.5
    """
    if not len(said):
        return 0.0
    places = np.minimum((said * N_INTERVALS).astype(int), N_INTERVALS - 1)
    off = np.bincount(places, said - right, N_INTERVALS)
    return round(float(100 * np.abs(off).sum() / len(said)), 2)


class HeadScores:
    """What a model says of all heads of all words, beside the heads that are right.

    `log_probs` are matrices [N+1, N+1] whose first row is not read; `gold` are heads int [N+1], -1
    for a word that has none, which is left out.
    """

    def __init__(self, log_probs: Sequence[NDArray[np.float32]], gold: Sequence[NDArray[np.int32]]):
        """Put all rows into one long array, so that each step is a few operations."""
        rows = [own[1:][heads[1:] >= 0] for own, heads in zip(log_probs, gold, strict=True)]
        widths = np.concatenate([[], *(np.full(len(own), own.shape[1]) for own in rows)])
        self._starts = np.concatenate([[0], np.cumsum(widths)[:-1]]).astype(np.int64)
        self._flat: Floats = np.maximum(np.concatenate([[], *map(np.ravel, rows)]), NEVER)
        heads = np.concatenate([[], *(own[1:][own[1:] >= 0] for own in gold)]).astype(np.int64)
        self.n_words = len(heads)
        self._gold: Floats = self._flat[self._starts[: self.n_words] + heads]

    def temperature(self) -> float:
        """Find T under which the gold heads are most probable; 1 where there is nothing to see."""
        if not self.n_words:
            return 1.0
        low, high = 1 / HIGHEST, 1 / LOWEST
        for _ in range(N_HALVINGS):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self._slope(middle) < 0 else (low, middle)
        return 1 / math.sqrt(low * high)

    def _slope(self, factor: float) -> float:
        """Give the derivative of -log P of the gold heads, which is convex in 1 / T."""
        weights = np.exp(factor * self._flat)
        total = np.add.reduceat(weights, self._starts)
        mean = np.add.reduceat(weights * self._flat, self._starts) / total
        return float(np.sum(mean - self._gold))

    def error(self, temperature: float = 1.0) -> float:
        """Give the calibration error of the most probable heads."""
        if not self.n_words:
            return 0.0
        scaled = self._flat / temperature
        total = np.add.reduceat(np.exp(scaled), self._starts)
        best = np.maximum.reduceat(self._flat, self._starts)
        return calibration_error(np.exp(best / temperature) / total, self._gold >= best)
