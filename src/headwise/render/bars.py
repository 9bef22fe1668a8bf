"""Bars for a tree drawn as text, with the words (positions 1..N) below each other.

All arcs of a head hang on one bar, and bars stand further right the deeper their head is in the
tree. A column is used again by bars that share no row.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Forest:
    """Words as trees that can be drawn: `children[i]` of position i, and the roots to start from.

    The arcs into `roots` are not among the children: they come from ROOT, have no head, or would
    close a cycle.
    """

    children: tuple[tuple[int, ...], ...]
    roots: tuple[int, ...]


def build_forest(heads: Sequence[int | None]) -> Forest:
    """Order words from heads to dependents; in a cycle, one arc is left out.

    Args:
        heads: the head of each word, from position 1; 0 is ROOT, None unknown.
    """
    head_of = [0, *(head or 0 for head in heads)]
    dependents: list[list[int]] = [[] for _ in head_of]
    for position, head in enumerate(head_of[1:], 1):
        dependents[head].append(position)
    roots = dependents[0]
    dependents[0] = []
    is_reached = [False] * len(head_of)
    for root in roots:
        _mark_reached(root, dependents, is_reached)
    for position in range(1, len(head_of)):
        if not is_reached[position]:
            roots.append(_find_in_cycle(position, head_of))
            _mark_reached(roots[-1], dependents, is_reached)
    is_root = set(roots)
    children = tuple(tuple(p for p in below if p not in is_root) for below in dependents)
    return Forest(children, tuple(sorted(roots)))


def _mark_reached(root: int, dependents: Sequence[Sequence[int]], is_reached: list[bool]) -> None:
    waiting = [root]
    while waiting:
        position = waiting.pop()
        if not is_reached[position]:
            is_reached[position] = True
            waiting.extend(dependents[position])


def _find_in_cycle(position: int, head_of: Sequence[int]) -> int:
    seen: set[int] = set()
    while position not in seen:
        seen.add(position)
        position = head_of[position]
    return position


@dataclass(frozen=True, slots=True)
class Bar:
    """The vertical line that the arcs of one head hang on, from the row `top` to `bottom`."""

    column: int
    top: int
    bottom: int


def place_bars(trees: Forest, limit: int) -> dict[int, Bar] | None:
    """Give each word with dependents a bar, right of its head's bar; None beyond `limit` columns.

    Bars in the same column share no row, so a line from a bar to the right can cross others only
    where the tree is not projective. Example: heads 2, 0, 4, 2 give 2 the column 0, rows 1-4, and
    4 the column 1, rows 3-4.
    """
    bars: dict[int, Bar] = {}
    taken: list[list[_Span]] = []
    waiting = deque((root, 0) for root in trees.roots)
    while waiting:
        position, column = waiting.popleft()
        if not trees.children[position]:
            continue
        rows = (position, *trees.children[position])
        span = min(rows), max(rows)
        while column < len(taken) and not _is_free(taken[column], span):
            column += 1
        if column >= limit:
            return None
        if column == len(taken):
            taken.append([])
        insort(taken[column], span)
        bars[position] = Bar(column, *span)
        waiting.extend((child, column + 1) for child in trees.children[position])
    return bars


def _is_free(taken: Sequence[_Span], span: _Span) -> bool:
    after = bisect_left(taken, span)
    is_free_above = after == 0 or taken[after - 1][1] < span[0]
    return is_free_above and (after == len(taken) or taken[after][0] > span[1])
