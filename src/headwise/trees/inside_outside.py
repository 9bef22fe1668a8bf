"""The probability of each arc over all projective trees, by the inside-outside algorithm.

Inside is Eisner's algorithm with sums for maxima: the spans of `eisner` are built in one way only
for each tree, so sums over them count each tree once. Outside goes back from the whole sentence and
shares the probability of each span among the ways to build it. O(N^3) time. Trees with crossing
arcs are left to `matrix_tree`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwise.trees.eisner import cells, diagonal
from headwise.trees.matrix_tree import NOTHING, log_sum
from headwise.trees.tree import ScoreMatrix

LogTable = NDArray[np.float64]


def projective_marginals(scores: ScoreMatrix, single_root: bool) -> tuple[float, LogTable]:
    """Return the log of the sum over projective trees, and each arc's probability, `[N+1, N+1]`.

    The weight of a tree is the exponential of the sum of its scores.

    Example: N = 2, all weights 1, many roots. All three trees are projective, so P(ROOT -> 1) is
    2/3 as in `matrix_tree`; with one root two trees are left, and it is 1/2.

    Args:
        scores: `[N+1, N+1]`, `[dependent, head]`, finite, or -inf for an arc that is not there; row
            0 and the diagonal are never read.
        single_root: whether exactly one word may be attached to ROOT.

    Returns:
        -inf, and all 0, if there is no tree.
    """
    n_slots = len(scores)
    weights = np.where(scores > -np.inf, scores, NOTHING)[np.newaxis]  # [1, N+1, N+1]
    weights[:, 0] = NOTHING
    inside = _inside(weights, single_root)
    log_z = float(inside.complete[0, 0, n_slots - 1])
    if log_z < NOTHING / 2:
        return -np.inf, np.zeros((n_slots, n_slots))
    return log_z, _outside(inside, single_root)[0]


class _Inside(NamedTuple):
    """Logs of sums over all ways to build a span, each `[1, N+1, N+1]`, as in `eisner.Chart`.

    `between` sums over what is between the ends of spans, for each width `[1, N+1-width]`.
    """

    complete: LogTable
    reached: LogTable
    incomplete: LogTable
    between: list[LogTable]


def _inside(weights: LogTable, single_root: bool) -> _Inside:
    """Sum over all ways to build each span, narrow ones first."""
    complete, reached, incomplete = (np.zeros(weights.shape) for _ in range(3))
    inners = [np.zeros((1, 0))]
    for width in range(1, weights.shape[1]):
        inner = log_sum(cells(complete, 0, 0, width) + cells(complete, width, 1, width))
        if single_root:
            inner[:, 0] = complete[:, width, 1]  # nothing between ROOT and its one dependent
        inners.append(inner)
        np.add(inner, weights.diagonal(-width, 1, 2), out=diagonal(incomplete, width))
        np.add(inner, weights.diagonal(width, 1, 2), out=diagonal(incomplete, -width))
        right = log_sum(cells(incomplete, 0, 1, width) + cells(reached, width, 1, width))
        diagonal(complete, width)[:] = diagonal(reached, -width)[:] = right
        left = log_sum(cells(incomplete, width, 0, width) + cells(reached, 0, 0, width))
        diagonal(complete, -width)[:] = diagonal(reached, width)[:] = left
    return _Inside(complete, reached, incomplete, inners)


def _outside(inside: _Inside, single_root: bool) -> LogTable:
    """Return the probability of each arc, `[1, N+1, N+1]`, `[dependent, head]`."""
    shape = inside.complete.shape
    complete, reached, incomplete = (np.zeros(shape) for _ in range(3))  # probabilities of spans
    complete[:, 0, -1] = 1.0
    for width in range(shape[1] - 1, 0, -1):
        for sign, row, column in ((1, 0, 1), (-1, width, 0)):
            # To the right: i to j is built from i to k and k to j. To the left: its mirror image.
            place, other_place = (row, column, width), (width - row, column, width)
            share = _shares(
                cells(inside.incomplete, *place),
                cells(inside.reached, *other_place),
                inside.complete.diagonal(sign * width, 1, 2),
            )
            whole = complete.diagonal(sign * width, 1, 2) + reached.diagonal(-sign * width, 1, 2)
            share *= whole[..., None]
            _add(share, cells(incomplete, *place))
            _add(share, cells(reached, *other_place))
        place, other_place = (0, 0, width), (width, 1, width)
        share = _shares(
            cells(inside.complete, *place),
            cells(inside.complete, *other_place),
            inside.between[width],
        )
        if single_root:
            share[:, 0] = np.arange(width) == 0
        between = incomplete.diagonal(width, 1, 2) + incomplete.diagonal(-width, 1, 2)  # [1, S]
        share *= between[..., None]
        _add(share, cells(complete, *place))
        _add(share, cells(complete, *other_place))
    return incomplete.transpose(0, 2, 1)


def _shares(first: LogTable, second: LogTable, total: LogTable) -> LogTable:
    """Return the shares of sums of `first` and `second` `[1, S, K]` in their total `[1, S]`."""
    share: LogTable = first + second
    share -= total[..., None]
    np.minimum(share, 0.0, out=share)  # above it is rounding, of spans that cannot be
    return np.exp(share, out=share)


def _add(share: LogTable, part: LogTable) -> None:
    """Add to the cells of a table `[1, S, K]`, in place."""
    part += share
