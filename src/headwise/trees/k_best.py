"""The k best trees, one after the other (Camerini et al., 1980; Zmigrod et al., 2021).

A space of trees is what is left when some arcs are required and some forbidden. Its best tree is
the answer of Chu-Liu-Edmonds. The contraction that found it also shows which arc can be replaced
at the smallest loss: a contracted set of words can be entered by another arc, from a word that is
not below it, and nothing changes outside the set. So the space splits in two, without that arc and
with it, and the best tree of all parts is next. O(N^2) time for each tree.

Subtrees of given words need nothing more: trees are ordered by the pairs of `allowed.entry_pairs`,
and all that satisfy the constraints come before all that do not. If there is one root and no
subtree, each word is tried as the root, in a space of its own, those first that promise most. With
the root known most words choose the right head at once, so that little is contracted.
Projective trees are left to `k_best_projective`.
"""

import heapq
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwise.trees.allowed import enters_once, entry_pairs
from headwise.trees.chu_liu_edmonds import Contraction, contract_cycles, open_cycles
from headwise.trees.tree import Heads, ScoreMatrix, Weights


def k_best_trees(scores: ScoreMatrix, k: int, sets: NDArray[np.bool_]) -> list[Heads]:
    """Return the heads `[N+1]` of the k trees with the highest sums of scores, best first.

    Fewer if there are no more. Of trees with equal sums, any may come first.

    Example: N = 2, `scores[1] = [5, _, 10]`, `scores[2] = [1, 8, _]`. The best tree is `[0, 0, 1]`,
    13; it contracts 1 and 2. Without its arc from ROOT to 1, ROOT enters at 2 instead, at a loss of
    2: `[0, 2, 0]`, 11. Without its arc from 1 to 2, ROOT is the head of word 2, at a loss of 7:
    `[0, 0, 0]`, 6. So they come in this order.

    Args:
        scores: `[N+1, N+1]`, `[dependent, head]`, finite, or -inf for an arc that is not allowed;
            row 0 and the diagonal are never read.
        k: how many trees.
        sets: of words that exactly one arc may enter, `[S, N+1]`: all words for one root.
    """
    rows = np.array(scores, dtype=np.float64)
    np.fill_diagonal(rows, -np.inf)
    rows[0] = -np.inf
    if len(sets) == 1 and sets[0, 1:].all():
        search = _Search(rows)
        search.enter_roots()
    else:
        search = _Search(entry_pairs(rows, sets) if len(sets) else rows)
        search.enter(())
    trees: list[Heads] = []
    while len(trees) < k and (tree := search.next_tree()) is not None:
        if not enters_once(tree, sets):
            break  # and so do all trees after it
        trees.append(tree)
    return trees


@dataclass(frozen=True, slots=True)
class _Decision:
    """An arc that is required or forbidden in a space of trees."""

    word: int
    head: int
    is_required: bool


_Space = tuple[_Decision, ...]
_ROUNDING = 1e-9
"""By so much, relatively, a bound may be too high, so that rounding never makes it too low."""


class _Part(NamedTuple):
    """A space to search, in the order of the best tree that is left in it.

    If `best` is a tree that was returned before, the next one is the best `without` one of its
    arcs. Otherwise `graph` is the contraction of the space, None if it has not been looked at and
    the weight is a bound.
    """

    minus_weight: tuple[float, float]
    tie: int
    space: _Space
    without: _Decision | None
    best: Heads | None
    graph: Contraction | None


class _Search:
    """Spaces of trees that have no tree in common, ordered by the best tree that is left in each.

    The next tree of a space is the best one without a certain arc of a tree that was returned
    before. What is left of the space, with that arc, is looked at when another tree is asked for.
    """

    def __init__(self, rows: Weights) -> None:
        """Start with nothing to search; `rows` `[N+1, N+1]` are never written into."""
        self._weights = self._rows = rows
        self._words = np.arange(1, len(rows))
        self._queue: list[_Part] = []
        self._ties = count()
        self._returned: tuple[_Part, Heads, Contraction, _Space] | None = None

    def enter(self, space: _Space) -> None:
        """Add a space no tree of which has been returned."""
        graph = self._contract(space)
        if graph is not None:
            self._push(self._weigh(open_cycles(graph)), space, graph=graph)

    def enter_roots(self) -> None:
        """Add for each word the space of trees of which it is the only root."""
        self._rows = self._weights.copy()
        self._rows[:, 0] = -np.inf
        best = self._rows[1:].max(axis=1)  # [N]
        for word in self._words.tolist():
            others = float(best[: word - 1].sum() + best[word:].sum())
            bound = others + float(self._weights[word, 0])
            if bound > -np.inf:
                slack = _ROUNDING * (1.0 + abs(bound))
                self._push(bound + slack, (_Decision(word, 0, True),))

    def next_tree(self) -> Heads | None:
        """Return the best remaining tree, or None."""
        if self._returned is not None:
            self._split_returned(*self._returned)
            self._returned = None
        while self._queue:
            part = heapq.heappop(self._queue)
            if part.graph is None and part.without is None:
                self.enter(part.space)
                continue
            space, graph = part.space, part.graph
            if part.without is not None:
                space = (*space, part.without)
            graph = graph or self._contract(space)
            assert graph is not None  # a space is in the queue because it has a tree
            best = open_cycles(graph)
            self._returned = part, best, graph, space
            return best
        return None

    def _split_returned(self, part: _Part, tree: Heads, graph: Contraction, space: _Space) -> None:
        """Add what is left besides a tree that has been returned, with and without its arc."""
        if part.without is not None and part.best is not None:
            arc = part.without.word, part.without.head
            self._leave_out(part.best, (*part.space, _Decision(*arc, True)))
        self._split(tree, graph, space)

    def _leave_out(self, tree: Heads, space: _Space) -> None:
        """Add a space without its best tree, which has been returned."""
        graph = self._contract(space)
        assert graph is not None
        best = open_cycles(graph)
        # With equal sums, another tree may be found: split by where it differs.
        while (differing := np.flatnonzero(best != tree)).size:
            word = int(differing[0])
            arc = word, int(tree[word])
            self._push(self._weigh(best), (*space, _Decision(*arc, False)))
            space = (*space, _Decision(*arc, True))
            graph = self._contract(space)
            assert graph is not None
            best = open_cycles(graph)
        self._split(tree, graph, space)

    def _split(self, tree: Heads, graph: Contraction, space: _Space) -> None:
        """Add what is left of a space besides its best tree."""
        loss, word = find_swap(graph, tree)
        if loss.real != -np.inf:
            without = _Decision(word, int(tree[word]), False)
            self._push(self._weigh(tree) + loss, space, without, tree)

    def _push(
        self,
        weight: complex,
        space: _Space,
        without: _Decision | None = None,
        best: Heads | None = None,
        graph: Contraction | None = None,
    ) -> None:
        minus_weight = -weight.real, -weight.imag
        part = _Part(minus_weight, next(self._ties), space, without, best, graph)
        heapq.heappush(self._queue, part)

    def _weigh(self, tree: Heads) -> complex:
        return complex(self._weights[self._words, tree[1:]].sum())

    def _contract(self, space: _Space) -> Contraction | None:
        rows = self._rows.copy()
        for decision in space:
            if decision.is_required:
                rows[decision.word] = -np.inf
                weight = self._weights[decision.word, decision.head]
                rows[decision.word, decision.head] = weight
            else:
                rows[decision.word, decision.head] = -np.inf
        return contract_cycles(rows, keep_rows=True)


def find_swap(graph: Contraction, heads: Heads) -> tuple[complex, int]:
    """Find the word whose arc can be replaced at the smallest loss.

    Every arc of the tree enters a word and perhaps cycles around it. Another arc may enter the
    outermost of them, from a word that is not below this one. The weights in the contraction give
    the loss; the arcs inside follow from it.

    Args:
        graph: the contraction that gave the tree, with all rows.
        heads: `[N+1]`, the tree.

    Returns:
        The weight that is lost, 0 or less; -inf if there is no other tree.
    """
    n_slots = len(heads)
    outermost = list(range(len(graph.rows)))  # of each vertex, the one whose arc enters it too
    head_of = list(graph.head)
    same_head: dict[int, complex] = {}  # loss if the same word enters elsewhere
    for vertex in range(len(graph.rows) - 1, n_slots - 1, -1):
        head = head_of[vertex]
        members = graph.cycles[vertex - n_slots]
        entered = int(graph.entered[vertex - n_slots][head])
        outermost[entered], head_of[entered] = outermost[vertex], head
        weights = np.array([graph.rows[m][head] for m in members if m != entered])
        loss = weights.max() - graph.rows[entered][head]
        same_head[outermost[entered]] = max(
            (same_head.get(outermost[entered], -np.inf), loss),
            key=lambda pair: (pair.real, pair.imag),
        )
    if n_slots == 1:
        return complex(-np.inf), 0
    words = np.arange(1, n_slots)
    losses = np.array([graph.rows[vertex] for vertex in outermost[1:n_slots]])  # [N, N+1]
    losses -= losses[words - 1, heads[1:]][:, None]
    losses[words - 1, heads[1:]] = [
        same_head.get(vertex, -np.inf) for vertex in outermost[1:n_slots]
    ]
    losses[_below(heads).T[1:]] = -np.inf
    flat = int(losses.argmax())
    return complex(losses.flat[flat]), flat // n_slots + 1


def _below(heads: Heads) -> NDArray[np.bool_]:
    """Return which words are below which, themselves included, `[N+1, N+1]`, `[below, above]`."""
    head_of = heads.tolist()
    dependents: list[list[int]] = [[] for _ in head_of]
    for word, head in enumerate(head_of[1:], start=1):
        dependents[head].append(word)
    below = np.eye(len(heads), dtype=np.bool_)
    words = dependents[0]
    while words:
        word = words.pop()
        below[word] |= below[head_of[word]]
        words.extend(dependents[word])
    return below
