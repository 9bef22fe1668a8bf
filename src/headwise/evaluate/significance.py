"""Paired bootstrap over sentences: is one parser better than another, or lucky?

The paper gives no test; this is the usual one (Efron and Tibshirani 1993, Koehn 2004): draw as
many sentences as there are, with replacement, score both parsers on the same draw, and see how the
difference varies. Sentences are drawn, not words, because errors in one sentence are not
independent. Of output made from raw text, passages are drawn: the shortest runs of gold sentences
that no predicted sentence of either parser crosses.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headwise.arrays import IntArray
from headwise.evaluate.metrics import CONTENT_METRICS
from headwise.evaluate.raw import F1_COLUMNS, METRICS, N_GOLD_SENTENCES, RawScores
from headwise.evaluate.scores import N_CONTENT, N_PREDICTED_CONTENT, N_SCORED, RIGHT, Scores

BLOCK_CELLS = 2**20
"""Sentences drawn at a time, so that memory does not grow with the number of samples."""

_Counts: TypeAlias = NDArray[np.int64]
_Share: TypeAlias = tuple[_Counts, _Counts]
"""What is right and the whole, int64 [samples] each."""


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
    """How two parsers differ on the same sentences, for each metric of `metrics.WORD_METRICS`."""

    n_sentences: int
    n_samples: int
    seed: int
    upos: Difference
    xpos: Difference
    ufeats: Difference
    alltags: Difference
    lemmas: Difference
    uas: Difference
    las: Difference
    clas: Difference
    mlas: Difference
    blex: Difference


@dataclass(frozen=True, slots=True)
class RawSignificance:
    """How two parsers differ on the same raw text: F1 of each metric of `raw.METRICS`."""

    n_passages: int
    n_samples: int
    seed: int
    tokens: Difference
    sentences: Difference
    words: Difference
    upos: Difference
    xpos: Difference
    ufeats: Difference
    alltags: Difference
    lemmas: Difference
    uas: Difference
    las: Difference
    clas: Difference
    mlas: Difference
    blex: Difference


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
    if not np.array_equal(first.per_sentence[:, N_SCORED], second.per_sentence[:, N_SCORED]):
        raise ValueError("the two scores are not of the same sentences and scored words")
    drawn = first.per_sentence[:, N_SCORED] > 0
    counts = first.per_sentence[drawn], second.per_sentence[drawn]  # [sentences, 13] each
    differences = _differences(*counts, RIGHT, _share, n_samples, seed, block_cells)
    return Significance(
        n_sentences=first.n_sentences, n_samples=n_samples, seed=seed, **differences
    )


def paired_bootstrap_raw(
    first: RawScores,
    second: RawScores,
    n_samples: int = 10_000,
    seed: int = 1,
    block_cells: int = BLOCK_CELLS,
) -> RawSignificance:
    """Resample the passages of two parsers together, as `paired_bootstrap` does sentences.

    Args:
        first: scores on some gold sentences.
        second: scores on the same gold sentences; better if the difference is positive.
        n_samples: how many times to resample.
        seed: of the random draws.
        block_cells: passages drawn at a time, which bounds the memory.
    """
    ends, other_ends = (
        scores.per_passage[:, N_GOLD_SENTENCES].cumsum() for scores in (first, second)
    )
    if ends[-1] != other_ends[-1] or first.words.n_gold != second.words.n_gold:
        raise ValueError("the two scores are not of the same gold sentences")
    common = np.intersect1d(ends, other_ends)  # [passages]
    starts = [0, *common[:-1]]
    ours = np.add.reduceat(first.per_passage, np.searchsorted(ends, starts, side="right"))
    theirs = np.add.reduceat(second.per_passage, np.searchsorted(other_ends, starts, side="right"))
    differences = _differences(ours, theirs, METRICS, _share_raw, n_samples, seed, block_cells)
    return RawSignificance(n_passages=len(common), n_samples=n_samples, seed=seed, **differences)


def _differences(
    first: IntArray,
    second: IntArray,
    names: Iterable[str],
    share: Callable[[_Counts, str], _Share],
    n_samples: int,
    seed: int,
    block_cells: int,
) -> dict[str, Difference]:
    """Compare the scores of two parsers, given the counts of what is drawn, [units, columns]."""
    if n_samples < 1:
        raise ValueError(f"n_samples is {n_samples}; at least 1 is needed")
    counts = np.hstack([first, second])  # [units, 2 columns]
    sums = _resample(counts, n_samples, np.random.default_rng(seed), block_cells)
    ours, theirs = np.hsplit(sums, 2)  # [n_samples, columns]
    our_total, their_total = np.hsplit(counts.sum(axis=0, keepdims=True, dtype=np.int64), 2)
    return {
        name: _difference(
            (share(our_total, name), share(their_total, name)),
            (share(ours, name), share(theirs, name)),
        )
        for name in names
    }


def _resample(
    counts: IntArray, n_samples: int, rng: np.random.Generator, block_cells: int
) -> _Counts:
    """Sum the columns [sentences, columns] over each draw of sentences: [n_samples, columns]."""
    n_sentences, n_columns = counts.shape
    sums = np.empty((n_samples, n_columns), np.int64)
    step = max(1, block_cells // n_sentences)
    for start in range(0, n_samples, step):
        block = sums[start : start + step]
        draws = rng.integers(0, n_sentences, (len(block), n_sentences))  # [step, sentences]
        # How often each sentence was drawn; float64 holds the sums exactly.
        cells = draws + n_sentences * np.arange(len(block))[:, None]
        times = np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape)
        block[:] = times.astype(np.float64) @ counts
    return sums


def _share(counts: _Counts, name: str) -> _Share:
    """Return a score as a fraction: what is right, and the whole, which is at least 1."""
    right = counts[:, RIGHT[name]]
    if name not in CONTENT_METRICS:
        return right, counts[:, N_SCORED]
    n_content = counts[:, N_CONTENT] + counts[:, N_PREDICTED_CONTENT]
    return 2 * right, np.maximum(n_content, 1)


def _share_raw(counts: _Counts, name: str) -> _Share:
    """Return F1 as a fraction; the whole is at least 1."""
    n_gold, n_predicted, n_right = (counts[:, column] for column in F1_COLUMNS[name])
    return 2 * n_right, np.maximum(n_gold + n_predicted, 1)


def _difference(total: tuple[_Share, _Share], samples: tuple[_Share, _Share]) -> Difference:
    """Describe the scores of two parsers on all sentences and on each sample."""
    (one,), (two,) = (100.0 * (right / whole) for right, whole in total)
    (right, whole), (other_right, other_whole) = samples
    gains = other_right * whole - right * other_whole  # exact, so that zero is zero
    low, high = np.quantile(100.0 * gains / (whole * other_whole), [0.025, 0.975]).tolist()
    n_lesser = int(min(np.count_nonzero(gains <= 0), np.count_nonzero(gains >= 0)))
    p_value = min(1.0, 2.0 * (1 + n_lesser) / (1 + len(gains)))
    return Difference(float(one), float(two), float(two - one), low, high, p_value)
