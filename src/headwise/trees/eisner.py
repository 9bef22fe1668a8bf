"""The Eisner algorithm (Sec. 3.3, projective parsing).

The best tree without crossing arcs, with one root or with many, for a batch of sentences at once.
O(N^3) time. Trees with crossing arcs are left to `chu_liu_edmonds`; when to call either is left to
`decode`.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from headwise.trees.allowed import enters_once, entry_pairs, no_tree
from headwise.trees.tree import Heads, ScoreMatrix, Weights, summable_scale

# Sums are formed in pieces of so many cells (512 KiB), to stay in a core's own cache.
_CELLS_AT_ONCE = 2**16
Cell = TypeVar("Cell", bound=np.inexact[Any])


def best_projective_trees(
    scores: Weights, lengths: NDArray[np.integer], single_root: bool
) -> list[Heads]:
    """Return the heads `[N+1]` of the best projective tree of each sentence.

    Every span of words is headed by one of its ends, and is built from two shorter spans:

        incomplete[i, j] = score of arc i -> j + best k of complete[i, k] + complete[j, k + 1]
        complete[i, j]   =                       best k of incomplete[i, k] + complete[k, j]

    written for i < j; for i > j it is the mirror image. The tree is complete[0, N].

    Example: N = 2, `scores[1] = [5, _, 4]`, `scores[2] = [1, 8, _]`. Width 1: complete[0, 1] = 5,
    complete[1, 2] = 8, complete[2, 1] = 4. Width 2: incomplete[0, 2] = 1 + max(0 + 4, 5 + 0) = 6,
    complete[0, 2] = max(incomplete[0, 1] + complete[1, 2], incomplete[0, 2] + 0) = max(13, 6),
    so ROOT -> 1 -> 2 is best, and the heads are `[0, 0, 1]`.

    Args:
        scores: `[B, N+1, N+1]`, `[dependent, head]`, finite; row 0, the diagonal and padding
            never count. An arc that is not allowed is -inf; if no tree is left, the answer has
            such arcs. Or pairs of `allowed.entry_pairs`.
        lengths: `[B]`, how many words each sentence has.
        single_root: whether exactly one word may be attached to ROOT.
    """
    if len(scores) == 0:
        return []
    with np.errstate(invalid="ignore", over="ignore"):  # as may happen in cells that do not count
        chart = fill_chart(scores, single_root)
    return [_read_heads(chart, b, int(n), single_root) for b, n in enumerate(lengths)]


def best_projective_tree(
    scores: ScoreMatrix, single_root: bool, sets: NDArray[np.bool_] | None = None
) -> Heads:
    """Return the heads `[N+1]` of the best projective tree of one sentence.

    Args:
        scores: `[N+1, N+1]`, `[dependent, head]`, finite, or -inf for an arc that is not allowed;
            row 0 and the diagonal never count.
        single_root: whether exactly one word may be attached to ROOT.
        sets: of words that exactly one arc may enter, `[S, N+1]`, as `allowed.entered_sets`
            returns them.

    Raises:
        ConfigError: if no projective tree is allowed.
    """
    if sets is None:
        sets = np.zeros((0, len(scores)), dtype=np.bool_)
    weights = entry_pairs(scores * summable_scale(scores), sets) if len(sets) else scores
    (heads,) = best_projective_trees(weights[np.newaxis], np.array([len(scores) - 1]), single_root)
    words = np.arange(1, len(scores))
    if np.isneginf(scores[words, heads[1:]]).any() or not enters_once(heads, sets):
        raise no_tree(np.asarray(scores > -np.inf), projective=True)
    return heads


@dataclass(frozen=True, slots=True)
class Chart:
    """Best weights of spans, each `[B, N+1, N+1]`; right of the diagonal i < j, left of it i > j.

    Attributes:
        complete: `[b, i, j]`, span from head i to its farthest descendant j.
        reached: `[b, j, i]`, a transposed copy of `complete`, so that all sums run along rows.
        incomplete: `[b, i, j]`, span between i and j with the arc i -> j.
    """

    complete: Weights
    reached: Weights
    incomplete: Weights


def fill_chart(scores: Weights, single_root: bool) -> Chart:
    """Score all spans, narrow ones first, all those of one width together.

    Split points are not stored. `_read_heads` finds again the few that it needs: that is O(N^2)
    in all, saves three matrices, and leaves only sums and maxima, which are faster than argmax.
    Spans in padding, and those that make ROOT a dependent, are filled from whatever is there: no
    tree is read from them.
    """
    if (scale := summable_scale(scores)) != 1.0:
        scores = scores * np.float64(scale)
    dtype = np.result_type(scores, np.float64)
    chart = Chart(*(np.zeros(scores.shape, dtype) for _ in range(3)))
    complete, reached, incomplete = chart.complete, chart.reached, chart.incomplete
    for width in range(1, scores.shape[1]):
        inner = _best_sums(cells(complete, 0, 0, width), cells(complete, width, 1, width))
        if single_root:
            inner[:, 0] = complete[:, width, 1]  # nothing between ROOT and its one dependent
        rightward = diagonal(incomplete, width)  # [B, N+1-width]
        np.add(inner, scores.diagonal(-width, 1, 2), out=rightward)
        leftward = diagonal(incomplete, -width)  # [B, N+1-width]
        np.add(inner, scores.diagonal(width, 1, 2), out=leftward)
        right = _best_sums(cells(incomplete, 0, 1, width), cells(reached, width, 1, width))
        diagonal(complete, width)[:] = diagonal(reached, -width)[:] = right
        left = _best_sums(cells(incomplete, width, 0, width), cells(reached, 0, 0, width))
        diagonal(complete, -width)[:] = diagonal(reached, width)[:] = left
    return chart


def cells(table: NDArray[Cell], row: int, column: int, width: int) -> NDArray[Cell]:
    """View, for each span of this width, the `width` cells it sums over, `[B, N+1-width, width]`.

    Cell `[b, i, k]` is `table[b, row + i, column + i + k]`: each next span starts one row lower and
    one column further. `table` `[B, N+1, N+1]` is C-contiguous.
    """
    n_sentences, n_slots, _ = table.shape
    return np.ndarray(
        (n_sentences, n_slots - width, width),
        table.dtype,
        buffer=table,
        offset=(row * n_slots + column) * table.itemsize,
        strides=(table.strides[0], table.strides[1] + table.itemsize, table.itemsize),
    )


def diagonal(table: NDArray[Cell], offset: int) -> NDArray[Cell]:
    """View a diagonal of `table` `[B, N+1, N+1]`, to write into, `[B, N+1-|offset|]`."""
    n_sentences, n_slots, _ = table.shape
    start = offset if offset > 0 else -offset * n_slots
    flat = table.reshape(n_sentences, n_slots * n_slots)  # [B, (N+1)^2]
    return flat[:, start :: n_slots + 1][:, : n_slots - abs(offset)]


def _best_sums(first: Weights, second: Weights) -> Weights:
    """Return the best of the `K` sums of each span, `[B, S]`, from two `[B, S, K]`."""
    n_sentences, n_spans, n_cells = first.shape
    step = max(1, _CELLS_AT_ONCE // (n_sentences * n_cells))
    if step >= n_spans:
        return np.asarray((first + second).max(axis=2))
    best = np.empty((n_sentences, n_spans), first.dtype)
    for start in range(0, n_spans, step):
        piece = slice(start, start + step)
        np.max(first[:, piece] + second[:, piece], axis=2, out=best[:, piece])
    return best


def _read_heads(chart: Chart, sentence: int, n_words: int, single_root: bool) -> Heads:
    """Return the heads `[n_words+1]` of the best tree, from the widest span to the narrowest."""
    complete, reached = chart.complete[sentence], chart.reached[sentence]  # [N+1, N+1]
    incomplete = chart.incomplete[sentence]  # [N+1, N+1]
    heads = np.zeros(n_words + 1, dtype=np.int32)
    spans = [(0, n_words)]
    while spans:
        head, end = spans.pop()
        if head == end:
            continue
        low, high = (head + 1, end + 1) if head < end else (end, head)
        sums = incomplete[head, low:high] + reached[end, low:high]
        dependent = low + int(sums.argmax())
        heads[dependent] = head
        left, right = min(head, dependent), max(head, dependent)
        split = left
        if not (single_root and head == 0):
            inner = complete[left, left:right] + complete[right, left + 1 : right + 1]
            split += int(inner.argmax())
        spans += (dependent, end), (left, split), (right, split + 1)
    return heads
