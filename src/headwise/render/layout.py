"""Where arcs go so that they nest and no two lie on each other; words have positions 1..N.

`levels` stacks arcs for a picture with words in a row. `columns` is for words below each other:
all arcs of a head hang on one bar, and bars stand further right the deeper their head is. Both give
a place again to whatever does not overlap with what is there.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Span = tuple[int, int]


def levels(spans: Sequence[Span]) -> list[int]:
    """Give each span the lowest level (1, 2, ...) above all shorter ones that it overlaps with.

    Spans that only touch share a level. Example: 1-2, 2-3 and 1-3 get 1, 1 and 2; the crossing
    spans 1-3 and 2-4 get 1 and 2.
    """
    width = max((right for _, right in spans), default=0)
    height = np.zeros(width + 1, dtype=np.int32)  # [N+1], of the gap to the right of each word
    found = [0] * len(spans)
    for index in sorted(range(len(spans)), key=lambda i: (spans[i][1] - spans[i][0], spans[i])):
        left, right = spans[index]
        found[index] = int(height[left:right].max()) + 1
        height[left:right] = found[index]
    return found


@dataclass(frozen=True, slots=True)
class Forest:
    """Words as trees that can be drawn: `children[i]` of position i, and whom to start from.

    The arcs into `starts` are not among the children: they come from ROOT, from nowhere, or would
    close a circle.
    """

    children: tuple[tuple[int, ...], ...]
    starts: tuple[int, ...]


def forest(heads: Sequence[int | None]) -> Forest:
    """Order words from heads to dependents; in a circle, one arc is left out.

    Args:
        heads: the head of each word, from position 1; 0 is ROOT, None unknown.
    """
    head_of = [0, *(head or 0 for head in heads)]
    starts = [position for position in range(1, len(head_of)) if not head_of[position]]
    is_reached = [False] * len(head_of)
    everyone: list[list[int]] = [[] for _ in head_of]
    for position, head in enumerate(head_of[1:], 1):
        everyone[head].append(position)
    for start in starts:
        _reach(start, everyone, is_reached)
    for position in range(1, len(head_of)):
        if not is_reached[position]:
            starts.append(_in_circle(position, head_of))
            _reach(starts[-1], everyone, is_reached)
    cut = set(starts)
    everyone[0] = []
    children = tuple(tuple(c for c in own if c not in cut) for own in everyone)
    return Forest(children, tuple(sorted(starts)))


def _reach(start: int, children: Sequence[Sequence[int]], is_reached: list[bool]) -> None:
    waiting = [start]
    while waiting:
        position = waiting.pop()
        if not is_reached[position]:
            is_reached[position] = True
            waiting.extend(children[position])


def _in_circle(position: int, head_of: Sequence[int]) -> int:
    seen: set[int] = set()
    while position not in seen:
        seen.add(position)
        position = head_of[position]
    return position


@dataclass(frozen=True, slots=True)
class Bar:
    """The line that the arcs of one head hang on, from the position `top` to `bottom`."""

    column: int
    top: int
    bottom: int


def columns(trees: Forest, limit: int) -> dict[int, Bar] | None:
    """Give each word with dependents a bar, right of its own head's; None beyond `limit` columns.

    Bars in the same column share no row, so a line from a bar to the right can cross others only
    where the tree is not projective. Example: heads 2, 0, 4, 2 give 2 the column 0, rows 1-4, and
    4 the column 1, rows 3-4.
    """
    bars: dict[int, Bar] = {}
    taken: list[list[Span]] = []
    waiting = deque((start, 0) for start in trees.starts)
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


def _is_free(taken: Sequence[Span], span: Span) -> bool:
    after = bisect_left(taken, span)
    is_free_above = after == 0 or taken[after - 1][1] < span[0]
    return is_free_above and (after == len(taken) or taken[after][0] > span[1])
