"""Paired bootstrap over sentences: is one parser better than another, or lucky?

The paper gives no test; this is the usual one (Efron and Tibshirani 1993, Koehn 2004): draw as
many sentences as there are, with replacement, score both parsers on the same draw, and see how the
difference varies. Sentences are drawn, not words, because errors in one sentence are not
independent.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.evaluate.scores import N_SCORED, RIGHT_ARCS, RIGHT_HEADS, Scores

BLOCK_CELLS = 2**20
"""Sentences drawn at a time, so that memory does not grow with the number of samples."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One score of two parsers, in percent, and their difference `points` = second - first.

    `low` and `high` bound the middle 95% of the resampled differences; `p_value` is two-sided.
    """

    first: float
    second: float
    points: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Significance:
    """How two parsers differ on the same sentences."""

    n_sentences: int
    n_samples: int
    seed: int
    uas: Difference
    las: Difference


def paired_bootstrap(
    first: Scores,
    second: Scores,
    n_samples: int = 10_000,
    seed: int = 1,
    block_cells: int = BLOCK_CELLS,
) -> Significance:
    """Resample the sentences of two parsers together; the same seed gives the same result.

    Sentences without scored words change no score and are not drawn. The p-value is twice the
    share of samples on the smaller side of zero, (1 + n) / (1 + n_samples), and at most 1, so that
    it falls below 0.05 about where the interval excludes zero.

    Args:
        first: scores on some gold sentences.
        second: scores on the same sentences under the same rule; better if the difference is
            positive.
        n_samples: how many times to resample.
        seed: of the random draws.
        block_cells: sentences drawn at a time, which bounds the memory.
    """
    if n_samples < 1:
        raise ValueError(f"n_samples is {n_samples}; at least 1 is needed")
    if not np.array_equal(first.per_sentence[:, N_SCORED], second.per_sentence[:, N_SCORED]):
        raise ValueError("the two scores are not of the same sentences and scored words")
    drawn = first.per_sentence[:, N_SCORED] > 0
    right = [RIGHT_HEADS, RIGHT_ARCS]
    gains = second.per_sentence[drawn][:, right] - first.per_sentence[drawn][:, right]
    columns = np.column_stack([first.per_sentence[drawn, N_SCORED], gains])  # [sentences, 3]
    sums = _resample(columns, n_samples, np.random.default_rng(seed), block_cells)  # [n_samples, 3]
    return Significance(
        n_sentences=first.n_sentences,
        n_samples=n_samples,
        seed=seed,
        uas=_difference(first.uas, second.uas, sums[:, 1], sums[:, 0]),
        las=_difference(first.las, second.las, sums[:, 2], sums[:, 0]),
    )


def _resample(
    columns: NDArray[np.int32], n_samples: int, rng: np.random.Generator, block_cells: int
) -> NDArray[np.int64]:
    """Sum the columns [sentences, 3] over each draw of sentences: [n_samples, 3]."""
    n_sentences, n_columns = columns.shape
    sums = np.empty((n_samples, n_columns), np.int64)
    step = max(1, block_cells // n_sentences)
    for start in range(0, n_samples, step):
        block = sums[start : start + step]
        draws = rng.integers(0, n_sentences, (len(block), n_sentences))  # [step, sentences]
        for i in range(n_columns):
            block[:, i] = columns[:, i][draws].sum(axis=1, dtype=np.int64)
    return sums


def _difference(
    first: float, second: float, gains: NDArray[np.int64], n_words: NDArray[np.int64]
) -> Difference:
    """Describe resampled differences; `gains` and `n_words` are [n_samples]."""
    low, high = np.quantile(100.0 * gains / n_words, [0.025, 0.975]).tolist()
    n_lesser = int(min(np.count_nonzero(gains <= 0), np.count_nonzero(gains >= 0)))
    p_value = min(1.0, 2.0 * (1 + n_lesser) / (1 + len(gains)))
    return Difference(first, second, second - first, low, high, p_value)
