"""What a dependency tree is (Sec. 3.3), and the questions asked of it before and after repair.

A `heads` array is int32 `[N+1]`; slot 0 is ROOT, whose own entry is 0 and never read.
Finding the best tree is left to `chu_liu_edmonds` and `eisner`, choosing between them to `decode`.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Heads: TypeAlias = NDArray[np.int32]
ScoreMatrix: TypeAlias = NDArray[np.floating[Any]]

Weights: TypeAlias = NDArray[np.inexact[Any]]
"""Of arcs: scores, or the pairs of `allowed.entry_pairs`."""
WordAndHead: TypeAlias = tuple[int, int]
"""A dependent and its head, as in `heads`."""

_LARGEST_SUMMABLE = 1e300
_SHRINK = 2.0**-64


def is_tree(heads: Heads) -> bool:
    """Return whether every word reaches ROOT; several words may be attached to it.

    Each word is walked over once, so time is O(N). Example: `[0, 2, 0, 2]` is a tree, since
    1 -> 2 -> ROOT and 3 -> 2 -> ROOT; `[0, 2, 1, 0]` is not, since 1 -> 2 -> 1.

    Args:
        heads: `[N+1]`
    """
    head_of = heads.tolist()
    seen_from = [0] + [-1] * (len(head_of) - 1)
    for start in range(1, len(head_of)):
        word = start
        while seen_from[word] < 0:
            seen_from[word] = start
            word = head_of[word]
        if seen_from[word] == start:
            return False
    return True


def n_roots(heads: Heads) -> int:
    """Count the words whose head is ROOT.

    Args:
        heads: `[N+1]`
    """
    return len(heads) - 1 - int(np.count_nonzero(heads[1:]))


def is_projective(heads: Heads) -> bool:
    """Return whether no two arcs cross, arcs from ROOT at slot 0 included.

    The O(N log N) check of Sec. 3.3: go through the arcs by left end, longest first, and keep
    the right ends of those still open; the innermost open arc must contain the next one.
    Example: `[0, 3, 0, 2]` has arcs 0-2, 1-3 and 2-3; when 1-3 comes, 0-2 is open and ends
    before 3, so they cross.

    Args:
        heads: `[N+1]`
    """
    return find_crossing(enumerate(heads[1:].tolist(), start=1)) is None


def find_crossing(arcs: Iterable[WordAndHead]) -> tuple[WordAndHead, WordAndHead] | None:
    """Return two arcs that cross, None if no two do.

    Args:
        arcs: pairs of a dependent and its head.
    """
    open_arcs: list[tuple[int, WordAndHead]] = []
    for left, minus_right, arc in sorted((min(arc), -max(arc), arc) for arc in arcs):
        while open_arcs and open_arcs[-1][0] <= left:
            open_arcs.pop()
        if open_arcs and open_arcs[-1][0] < -minus_right:
            return open_arcs[-1][1], arc
        open_arcs.append((-minus_right, arc))
    return None


def summable_scale(scores: Weights) -> float:
    """Return the power of two that keeps sums of scores along a tree finite; nearly always 1.

    Only scores beyond 1e300 need shrinking. Multiplying all scores by the same power of two is
    exact (of scores above 1e-288 in size), so it does not change which tree is best.
    Pairs are scaled before they are paired.

    Args:
        scores: any shape; -inf does not count, and cells no decoder reads may hold anything.
    """
    if np.iscomplexobj(scores):
        return 1.0
    smallest = float(scores.min(initial=0.0))
    if smallest == -np.inf:
        smallest = float(scores.min(initial=0.0, where=scores > -np.inf))
    largest = max(float(scores.max(initial=0.0)), -smallest)
    return 1.0 if largest < _LARGEST_SUMMABLE else _SHRINK
