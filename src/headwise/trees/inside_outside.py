"""The probability of each arc over all projective trees, by the inside-outside algorithm.

Inside is Eisner's algorithm with sums for maxima: the spans of `eisner` are built in one way only
for each tree, so sums over them count each tree once. Outside goes back from the whole sentence and
shares the probability of each span among the ways to build it. O(N^3) time. Trees with crossing
arcs are left to `matrix_tree`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    weights = np.where(scores > -np.inf, scores, np.float64(NOTHING))  # [N+1, N+1]
    weights[0] = NOTHING
    inside = _inside(weights, single_root)
    log_z = float(inside.complete[0, -1])
    if log_z < NOTHING / 2:
        return -np.inf, np.zeros_like(weights)
    return log_z, _outside(inside, single_root)


class _Inside(NamedTuple):
    """Logs of sums over all ways to build a span, each `[N+1, N+1]`, as in `eisner.Chart`.

    `between` sums over what is between the ends of spans, for each width `[N+1-width]`.
    """

    complete: LogTable
    reached: LogTable
    incomplete: LogTable
    between: list[LogTable]


def _inside(weights: LogTable, single_root: bool) -> _Inside:
    """Sum over all ways to build each span, narrow ones first."""
    incomplete = np.ascontiguousarray(weights.T)  # [head, dependent]
    complete, reached = np.zeros_like(incomplete), np.zeros_like(incomplete)
    between = [np.zeros(0)]
    for width in range(1, len(weights)):
        from_left, from_right = _inner_parts(complete, width)
        inner = log_sum(from_left + from_right)  # [S]
        if single_root:
            inner[0] = complete[width, 1]  # nothing between ROOT and its one dependent
        between.append(inner)
        _add(inner, _ends(incomplete, width))
        whole = log_sum(_arc_parts(incomplete, width) + _rest_parts(reached, width))  # [2, S]
        _ends(complete, width)[:] = whole
        _ends(reached, width)[::-1] = whole
    return _Inside(complete, reached, incomplete, between)


def _outside(inside: _Inside, single_root: bool) -> LogTable:
    """Return the probability of each arc, `[N+1, N+1]`, `[dependent, head]`."""
    complete, reached, incomplete = (np.zeros_like(inside.complete) for _ in range(3))
    complete[0, -1] = 1.0
    for width in range(len(complete) - 1, 0, -1):
        whole = _ends(complete, width) + _ends(reached, width)[::-1]  # [2, S]
        share = _arc_parts(inside.incomplete, width) + _rest_parts(inside.reached, width)
        _share_out(share, _ends(inside.complete, width), whole)
        _add(share, _arc_parts(incomplete, width))
        _add(share, _rest_parts(reached, width))
        from_left, from_right = _inner_parts(inside.complete, width)
        share = from_left + from_right  # [S, width]
        if single_root:
            share[0, 1:] = NOTHING
        inner = _ends(incomplete, width).sum(axis=0)  # [S]
        _share_out(share, inside.between[width], inner)
        _add(share, _inner_parts(complete, width))
    return np.ascontiguousarray(incomplete.T)


def _share_out(logs: LogTable, total: LogTable, probability: LogTable) -> None:
    """Turn logs of ways `[..., S, K]` into shares of a probability `[..., S]`, in place."""
    logs -= total[..., None]
    np.minimum(logs, 0.0, out=logs)  # above it is rounding, of spans that cannot be
    np.exp(logs, out=logs)
    logs *= probability[..., None]


def _add(share: LogTable, cells: LogTable) -> None:
    """Add to a view of a table, in place."""
    cells += share


def _arc_parts(incomplete: LogTable, width: int) -> LogTable:
    """View the parts of spans that begin with an arc, to the right and to the left, `[2, S, K]`.

    From i to j they go from i to k, where i < k <= j, or the mirror image of it.
    """
    return _view(incomplete, (0, 1), (width, 0), width)


def _rest_parts(reached: LogTable, width: int) -> LogTable:
    """View the parts that `_arc_parts` need to make up whole spans, `[2, S, K]`."""
    return _view(reached, (width, 1), (0, 0), width)


def _inner_parts(complete: LogTable, width: int) -> LogTable:
    """View the two parts of what is between the ends of spans, from the left and from the right.

    They meet between k and k + 1, for each k. `[2, S, K]`
    """
    return _view(complete, (0, 0), (width, 1), width)


def _view(table: LogTable, first: tuple[int, int], second: tuple[int, int], width: int) -> LogTable:
    """View, for each span, `width` cells in each of two places, `[2, S, K]`.

    Those of the first span begin at the two places given, each next span starts one row lower and
    one column further. `table` `[N+1, N+1]` is C-contiguous.
    """
    n_slots, size = len(table), table.itemsize
    start, other = (row * n_slots + column for row, column in (first, second))
    return np.ndarray(
        (2, n_slots - width, width),
        table.dtype,
        buffer=table,
        offset=start * size,
        strides=((other - start) * size, (n_slots + 1) * size, size),
    )


def _ends(table: LogTable, width: int) -> LogTable:
    """View the cells of spans from the left end to the right, and the other way, `[2, S]`."""
    n_slots, size = len(table), table.itemsize
    return np.ndarray(
        (2, n_slots - width),
        table.dtype,
        buffer=table,
        offset=width * size,
        strides=(width * (n_slots - 1) * size, (n_slots + 1) * size),
    )
