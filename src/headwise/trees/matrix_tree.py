"""The probability of each arc over all trees, by the Matrix-Tree theorem.

Koo et al. (2007), McDonald and Satta (2007) and Smith and Smith (2007) invert the Laplacian of the
weights. Its determinant sums over trees, but it takes differences of large numbers: where heads
form cycles that are nearly certain, no digit is right. So here nothing is ever subtracted. Let each
word step to a head, drawn by the weights of its arcs, from there to a head of that, and so on to
ROOT. Then

    P(arc from h to d)  is proportional, over h, to  weight(h -> d) * escape(h, d)

where `escape(h, d)` is the probability that this walk gets from h to ROOT before it meets d: an arc
that closes a cycle counts as little as it must. Escapes come from eliminating all words but d, as
Grassmann, Taksar and Heyman (1985) do it: with sums, products and ratios only. The error of each
probability is relative to it, however small it is.

If exactly one word may have the head ROOT, the walk must not be drawn to ROOT at all: weights of
arcs from ROOT are taken to be infinitely small. Walks then step from word to word, and
`escape(h, d)` is the weight of arcs from ROOT that they pass by before they meet d.

`plain_arc_marginals` calculates with the weights as they are, and gives up when a number gets too
small or too large for float64. `arc_marginals` calculates with their logs, three times as slowly,
and never gives up. Projective trees are left to `inside_outside`.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from headwise.trees.tree import ScoreMatrix

NOTHING = -1e200
"""The log of a weight of 0: unlike -inf, it can be subtracted from itself."""
_SMALLEST = -700.0
"""The exponential of anything higher is a number with all its digits in float64."""

_Floats = NDArray[np.float64]
_Skip = Callable[[_Floats, _Floats], _Floats]


def arc_marginals(scores: ScoreMatrix) -> tuple[float, _Floats]:
    """Return the log of the sum over trees, and the probability of each arc, `[N+1, N+1]`.

    The weight of a tree is the exponential of the sum of its scores; any number of words may hang
    on ROOT. O(N^3) time, O(N^2) memory.

    Example: N = 2, all weights 1. There are three trees, ROOT -> 1 -> 2, ROOT -> 2 -> 1 and ROOT to
    both. From 2, the walk goes to ROOT or to 1: escape(2, 1) = 1/2. So P(ROOT -> 1) : P(2 -> 1) =
    1 : 1/2, or 2/3 to 1/3.

    Args:
        scores: `[N+1, N+1]`, `[dependent, head]`, finite, or -inf for an arc that is not there; row
            0 and the diagonal are never read.

    Returns:
        -inf, and all 0, if there is no tree.
    """
    if len(scores) == 1:
        return 0.0, np.zeros((1, 1))
    weights = np.where(scores > -np.inf, scores, np.float64(NOTHING))  # [N+1, N+1]
    weights[0] = NOTHING
    np.fill_diagonal(weights, NOTHING)
    totals = log_sum(weights[1:])  # [N]
    idle = np.where(np.arange(len(weights)) == 0, 0.0, NOTHING)  # [N+1]
    steps = np.vstack([weights[1:] - totals[:, None], idle])  # [N+1, N+1]
    log_det, escape = _eliminate(steps, NOTHING, _skip_by_logs)
    log_z = float(totals.sum() + log_det + escape[0, 0])
    marginals = np.zeros_like(weights)
    if log_z < NOTHING / 2:
        return -np.inf, marginals
    weights[1:, 1:] += escape
    marginals[1:] = np.exp(weights[1:] - log_sum(weights[1:])[:, None])
    return log_z, marginals


def plain_arc_marginals(scores: ScoreMatrix, single_root: bool) -> tuple[float, _Floats] | None:
    """Return what `arc_marginals` returns, or None if that takes logs, or if there is no tree.

    Example: N = 2, all weights 1, one root. From 2, the walk passes by the weight 1 of its arc from
    ROOT, then meets 1: escape(2, 1) = 1. So P(ROOT -> 1) : P(2 -> 1) = 1 : 1, or 1/2 each.

    Args:
        scores: `[N+1, N+1]`, as for `arc_marginals`.
        single_root: whether exactly one word may be attached to ROOT. If only one has such an arc,
            say False: there is no other root anyway, and walks of that word need ROOT.
    """
    if len(scores) == 1:
        return 0.0, np.zeros((1, 1))
    first = int(single_root)  # of the columns to which walks step
    weights, log_scale = _scaled_weights(scores, first)
    if not np.isfinite(log_scale):
        return None
    totals = weights[:, first:].sum(axis=1)  # [N]
    steps = weights / totals[:, None]
    try:
        with np.errstate(under="raise", over="raise", divide="ignore", invalid="ignore"):
            skip = partial(_skip_plainly, first=first)
            log_det, escape = _eliminate(np.vstack([steps, steps[:1]]), 0.0, skip)
            steps[:, 1:] *= escape
            marginals = steps / steps.sum(axis=1)[:, None]  # [N, N+1]
            log_z = log_scale + float(np.log(totals).sum() + np.log(escape[0, 0])) + log_det
    except FloatingPointError:
        return None
    if not np.isfinite(log_z + marginals.sum()):
        return None
    return log_z, np.pad(marginals, ((1, 0), (0, 0)))


def log_sum(values: _Floats) -> _Floats:
    """Return the logs of sums over the last axis, of logs."""
    largest = values.max(axis=-1, keepdims=True)
    sums = np.exp(values - largest).sum(axis=-1)
    return np.asarray(np.log(sums) + largest[..., 0])


def _scaled_weights(scores: ScoreMatrix, first: int) -> tuple[_Floats, float]:
    """Return weights of which the largest are 1, and the log of what all trees lost by that.

    Each word's weights `[N, N+1]` have a scale of their own, and the columns before `first`, too.
    The log is infinite or NaN if some weights do not go along with the largest, or there is none.
    """
    logs = np.array(scores[1:], dtype=np.float64)  # [N, N+1]
    np.fill_diagonal(logs[:, 1:], -np.inf)
    scales = logs[:, first:].max(axis=1)  # [N]
    with np.errstate(invalid="ignore"):
        logs -= scales[:, None]
        root_scale = logs[:, :first].max(initial=-np.inf) if first else 0.0
        logs[:, :first] -= root_scale
        log_scale = float(scales.sum() + root_scale)
    if logs.min(initial=0.0, where=logs > -np.inf) < _SMALLEST:
        return logs, np.inf
    return np.exp(logs), log_scale


def _eliminate(steps: _Floats, nothing: float, skip: _Skip) -> tuple[float, _Floats]:
    """Return the log of the product of all leaves of `skip`, and escapes `[N, N]`, `[d, h]`.

    From the whole set of words, one half is eliminated and the other is kept, and the other way
    round; then from each half a half, and so on, until each word has been the last one. All sets of
    one size go side by side, so that there are about N steps in all, of O(N^2) each. The product
    is that of the set whose last word is 1.

    Args:
        steps: `[N+1, N+1]`, for each word probabilities of where it steps to, ROOT first; the last
            row is for a word that none steps to, which sets of odd size get.
        nothing: probability of a step that is never made.
        skip: lets walks pass through a word without a stop. Gets the steps to some columns,
            `[G, n, N+1]`, written into, and from the word, which is the last column, `[G, n-1]`.
            Returns the log of the probability `[G]` that the word does not step to itself.
    """
    n_words = len(steps) - 1
    columns = np.ascontiguousarray(steps.T)[np.newaxis]  # [G, 1+n, N+1], where to, where from
    words = np.arange(n_words)[np.newaxis]  # [G, n]
    log_det = np.zeros(1)  # [G]
    while words.shape[1] > 1:
        if words.shape[1] % 2:
            words = np.pad(words, ((0, 0), (0, 1)), constant_values=n_words)
            columns = np.pad(columns, ((0, 0), (0, 1), (0, 0)), constant_values=nothing)
        half = words.shape[1] // 2
        swapped = np.roll(np.arange(2 * half), half)
        columns = np.concatenate([columns, columns[:, np.append(0, 1 + swapped)]])
        words = np.concatenate([words, words[:, swapped]])  # [2G, n]
        log_det = np.concatenate([log_det, log_det])
        each = np.arange(len(words))
        for column in range(2 * half, half, -1):
            word = words[:, column - 1]  # [2G]
            leaves = skip(columns[:, : column + 1], columns[each, :column, word])
            log_det += np.where(word < n_words, leaves, 0.0)
        columns, words = columns[:, : half + 1], words[:, :half]
    last = words[:, 0]
    is_word = last < n_words
    escape = np.empty((n_words, n_words))
    escape[last[is_word]] = columns[is_word, 0, :-1]
    return float(log_det[last == 0][0]), escape


def _skip_plainly(columns: _Floats, next_steps: _Floats, first: int) -> _Floats:
    leaves = next_steps[:, first:].sum(axis=1)  # [G]
    next_steps /= leaves[:, None]
    columns[:, :-1] += columns[:, -1:] * next_steps[:, :, None]
    return np.asarray(np.log(leaves))


def _skip_by_logs(columns: _Floats, next_steps: _Floats) -> _Floats:
    leaves = log_sum(next_steps)  # [G]
    next_steps -= leaves[:, None]
    through = columns[:, -1:] + next_steps[:, :, None]  # [G, n-1, N+1]
    direct = columns[:, :-1]
    larger = np.maximum(direct, through)
    np.minimum(direct, through, out=through)
    through -= larger
    np.exp(through, out=through)
    through += 1.0
    np.log(through, out=through)
    np.add(larger, through, out=direct)
    return leaves
