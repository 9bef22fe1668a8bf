"""The probability of each arc over all trees, by the Matrix-Tree theorem.

Koo et al. (2007), McDonald and Satta (2007) and Smith and Smith (2007) invert the Laplacian of the
weights. Its determinant sums over trees, but it takes differences of large numbers: where heads
form cycles that are nearly certain, no digit is right. So here nothing is ever subtracted. Let each
word step to a head, drawn by the weights of its arcs, from there to a head of that, and so on to
ROOT. Then

    P(arc from h to d)  is proportional, over h, to  weight(h -> d) * escape(h, d)

where `escape(h, d)` is the probability that this walk gets from h to ROOT before it meets d: an arc
that closes a cycle counts as little as it must. Escapes come from eliminating all words but d, as
Grassmann, Taksar and Heyman (1985) do it: with sums, products and ratios only, all in log space.
The error of each probability is relative to it, however small it is.

Projective trees are left to `inside_outside`.
"""

import numpy as np
from numpy.typing import NDArray

from headwise.trees.tree import ScoreMatrix

NOTHING = -1e200
"""The log of a weight of 0: unlike -inf, it can be subtracted from itself."""


def arc_marginals(scores: ScoreMatrix) -> tuple[float, NDArray[np.float64]]:
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
    weights = np.where(scores > -np.inf, scores, NOTHING)  # [N+1, N+1]
    weights[0] = NOTHING
    np.fill_diagonal(weights, NOTHING)
    totals = log_sum(weights[1:])  # [N]
    log_det, escape = _eliminate(weights[1:] - totals[:, None])
    log_z = float(totals.sum() + log_det)
    marginals = np.zeros_like(weights)
    if log_z < NOTHING / 2:
        return -np.inf, marginals
    logits = weights[1:] + escape  # [N, N+1]
    marginals[1:] = np.exp(logits - log_sum(logits)[:, None])
    return log_z, marginals


def log_sum(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logs of sums over the last axis, of logs."""
    largest = values.max(axis=-1, keepdims=True)
    sums = np.exp(values - largest).sum(axis=-1)
    return np.asarray(np.log(sums) + largest[..., 0])


def _eliminate(steps: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return the log of the determinant of the Laplacian, and log escapes `[N, N+1]`, `[d, h]`.

    From the whole set of words, one half is eliminated and the other is kept, and the other way
    round; then from each half a half, and so on, until each word has been the last one. All sets of
    one size go side by side, so that there are about N steps in all, of O(N^2) each.

    Args:
        steps: `[N, N+1]`, for each word log-probabilities of where it steps to, ROOT first.
    """
    n_words = len(steps)
    # Sets of odd size get a word that is never stepped to, and steps to ROOT.
    rows = np.full((1, n_words + 1, n_words + 1), NOTHING)  # [G, N+1, 1+n]
    rows[0, :-1] = steps
    rows[0, -1, 0] = 0.0
    words = np.arange(n_words)[np.newaxis]  # [G, n]
    log_det = np.zeros(1)  # [G]
    while words.shape[1] > 1:
        if words.shape[1] % 2:
            words = np.pad(words, ((0, 0), (0, 1)), constant_values=n_words)
            rows = np.pad(rows, ((0, 0), (0, 0), (0, 1)), constant_values=NOTHING)
        half = words.shape[1] // 2
        root, first, second = rows[..., :1], rows[..., 1 : half + 1], rows[..., half + 1 :]
        rows = np.concatenate([np.concatenate([root, first, second], axis=2),
                               np.concatenate([root, second, first], axis=2)])  # fmt: skip
        words = np.concatenate([words, np.roll(words, half, axis=1)])  # [2G, n]
        log_det = np.concatenate([log_det, log_det])
        for column in range(2 * half, half, -1):
            log_det += _eliminate_last(rows[..., : column + 1], words[:, column - 1])
        rows, words = rows[..., : half + 1], words[:, :half]
    is_word = words[:, 0] < n_words
    last, rows = words[is_word, 0], rows[is_word]
    escape = np.zeros((n_words, n_words + 1))
    escape[last, 1:] = rows[:, :-1, 0]
    return float(log_det[is_word][0] + rows[0, last[0], 0]), escape


def _eliminate_last(rows: NDArray[np.float64], words: NDArray[np.intp]) -> NDArray[np.float64]:
    """Let walks pass through a word of each set to where it steps next; it is the last column.

    Returns the log-probability `[G]` that the word does not step to itself.

    Args:
        rows: `[G, N+1, 1+n]`, written into.
        words: `[G]`
    """
    next_steps = rows[np.arange(len(rows)), words, :-1]  # [G, n]
    leaves = log_sum(next_steps)  # [G]
    next_steps -= leaves[:, None]
    through = rows[:, :, -1:] + next_steps[:, None, :]  # [G, N+1, n]
    direct = rows[:, :, :-1]
    larger = np.maximum(direct, through)
    np.minimum(direct, through, out=through)
    through -= larger
    np.exp(through, out=through)
    through += 1.0
    np.log(through, out=through)
    np.add(larger, through, out=direct)
    return leaves
