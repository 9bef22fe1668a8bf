"""The k best projective trees: Eisner's algorithm, and the lazy search of Huang and Chiang (2005).

The chart of `eisner` has the best weight of every span. From it, the second best and further
derivations are found only for spans, and only as far, as the next tree asks for: after the chart,
which takes O(N^3), each tree takes about O(N^2) at most. Spans are built in one way for each tree,
so no tree comes twice. Trees with crossing arcs are left to `k_best`.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwise.trees.allowed import enters_once, entry_pairs
from headwise.trees.eisner import Chart, fill_chart
from headwise.trees.tree import Heads, ScoreMatrix, Weights


def k_best_projective_trees(
    scores: ScoreMatrix, k: int, single_root: bool, sets: NDArray[np.bool_]
) -> list[Heads]:
    """Return the heads `[N+1]` of the k projective trees with the highest sums, best first.

    Fewer if there are no more. Of trees with equal sums, any may come first.

    Example: N = 2, `scores[1] = [5, _, 4]`, `scores[2] = [1, 8, _]`. The whole is complete[0, 2],
    and the arc from ROOT that ends last goes to 1, with 13 as in `eisner`, or to 2, with 1 + 5 if
    ROOT has 1 as well, and 1 + 4 if 2 is the head of 1. So `[0, 0, 1]`, `[0, 0, 0]`, `[0, 2, 0]`.

    Args:
        scores: `[N+1, N+1]`, `[dependent, head]`, finite, or -inf for an arc that is not allowed;
            row 0 and the diagonal never count.
        k: how many trees.
        single_root: whether exactly one word may be attached to ROOT.
        sets: of words that exactly one arc may enter, `[S, N+1]`.
    """
    allowed = np.array(scores, dtype=np.float64)
    allowed[0] = -np.inf
    np.fill_diagonal(allowed, -np.inf)
    arcs: Weights = entry_pairs(allowed, sets) if len(sets) else allowed
    search = _Search(arcs, fill_chart(arcs[np.newaxis], single_root), single_root, k)
    whole = _Span(True, 0, len(scores) - 1)
    trees: list[Heads] = []
    for rank in range(k):
        heads = search.read_tree(whole, rank)
        if heads is None or not enters_once(heads, sets):
            break  # and so do all trees after it
        trees.append(heads)
    return trees


class _Span(NamedTuple):
    """From a head to the end of its words on one side, or, if not complete, to a dependent."""

    is_complete: bool
    head: int
    end: int


class _Derivation(NamedTuple):
    """A way to build a span: how good it is, from where, and which derivations of the parts."""

    order: tuple[float, float]
    """The weight, negative, so that the best comes first."""
    split: int
    first_rank: int
    second_rank: int


@dataclass(slots=True)
class _Ranking:
    """The derivations of one span: the best in order, and candidates for the next one."""

    best: list[_Derivation]
    candidates: list[_Derivation]
    n_continued: int = field(default=0)
    """How many of the best have been followed by their neighbours among the candidates."""


class _Search:
    """The rankings of all spans that were asked for."""

    def __init__(self, arcs: Weights, chart: Chart, single_root: bool, k: int) -> None:
        """Start from a chart of one sentence; of each span at most `k` derivations are needed."""
        self._arcs = arcs
        self._complete, self._reached = chart.complete[0], chart.reached[0]  # [N+1, N+1]
        self._incomplete = chart.incomplete[0]
        self._single_root = single_root
        self._k = k
        self._rankings: dict[_Span, _Ranking] = {}

    def read_tree(self, whole: _Span, rank: int) -> Heads | None:
        """Return the heads `[N+1]` of the tree of this rank, from 0; None if there are fewer."""
        if self._find(whole, rank) is None:
            return None
        heads = np.zeros(len(self._arcs), dtype=np.int32)
        open_spans = [(whole, rank)]
        while open_spans:
            span, rank = open_spans.pop()
            if span.head == span.end:
                continue
            if not span.is_complete:
                heads[span.end] = span.head
            derivation = self._find(span, rank)
            assert derivation is not None
            first, second = _parts(span, derivation.split)
            open_spans += (first, derivation.first_rank), (second, derivation.second_rank)
        return heads

    def _find(self, span: _Span, rank: int) -> _Derivation | None:
        """Rank the derivations of a span, and of its parts, as far as this one needs.

        A stack of generators computes the parts, because spans nest deeper than calls may.
        """
        asking = [self._rank(span, rank)]
        while asking:
            part = next(asking[-1], None)
            if part is None:
                asking.pop()
            elif not self._is_ranked(*part):
                asking.append(self._rank(*part))
        best = self._rankings[span].best
        return best[rank] if rank < len(best) else None

    def _is_ranked(self, span: _Span, rank: int) -> bool:
        ranking = self._rankings.get(span)
        return ranking is not None and rank < len(ranking.best)

    def _rank(self, span: _Span, rank: int) -> Iterator[tuple[_Span, int]]:
        """Find the best derivations of a span down to `rank`; ask for parts that this needs."""
        ranking = self._rankings.get(span)
        if ranking is None:
            ranking = self._rankings[span] = self._start(span)
        while len(ranking.best) <= rank:
            if ranking.n_continued < len(ranking.best):
                last = ranking.best[-1]
                ranking.n_continued = len(ranking.best)
                yield from self._continue(span, ranking, last)
            if not ranking.candidates:
                return
            ranking.best.append(heapq.heappop(ranking.candidates))

    def _continue(
        self, span: _Span, ranking: _Ranking, last: _Derivation
    ) -> Iterator[tuple[_Span, int]]:
        """Add the neighbours of a derivation, with the next derivation of one part each."""
        first, second = _parts(span, last.split)
        neighbours = [(last.first_rank, last.second_rank + 1)]
        if last.second_rank == 0:  # or each would be reached in several ways
            neighbours.append((last.first_rank + 1, 0))
        for first_rank, second_rank in neighbours:
            yield first, first_rank
            yield second, second_rank
            if self._is_ranked(first, first_rank) and self._is_ranked(second, second_rank):
                one = self._rankings[first].best[first_rank].order
                other = self._rankings[second].best[second_rank].order
                arc = 0j if span.is_complete else self._arcs[span.end, span.head]
                order = one[0] + other[0] - arc.real, one[1] + other[1] - arc.imag
                derivation = _Derivation(order, last.split, first_rank, second_rank)
                heapq.heappush(ranking.candidates, derivation)

    def _start(self, span: _Span) -> _Ranking:
        """List the best derivation for each split, as the chart has it."""
        _, head, end = span
        if head == end:
            return _Ranking([_Derivation((0.0, 0.0), head, 0, 0)], [], n_continued=1)
        if span.is_complete:
            low, high = (head + 1, end + 1) if head < end else (end, head)
            weights = self._incomplete[head, low:high] + self._reached[end, low:high]
        else:
            low, right = min(head, end), max(head, end)
            high = low + 1 if self._single_root and head == 0 else right
            weights = self._complete[low, low:high] + self._complete[right, low + 1 : high + 1]
            weights += self._arcs[end, head]
        splits = np.argsort(-weights)[: self._k].tolist()
        candidates = [
            _Derivation((-weights[split].real, -weights[split].imag), low + split, 0, 0)
            for split in splits
            if weights[split].real != -np.inf
        ]
        return _Ranking([], candidates)  # in order, so it is a heap


def _parts(span: _Span, split: int) -> tuple[_Span, _Span]:
    """Return the two shorter spans that a span is built from."""
    if span.is_complete:
        return _Span(False, span.head, split), _Span(True, split, span.end)
    left, right = min(span.head, span.end), max(span.head, span.end)
    return _Span(True, left, split), _Span(True, right, split + 1)
