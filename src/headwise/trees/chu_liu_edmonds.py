"""The Chu-Liu-Edmonds algorithm (Sec. 3.3, non-projective parsing).

The best tree over all trees, with one root or with many. Iterative and O(N^2) after Tarjan
(1977), for dense graphs. Projective trees are left to `eisner`, the second best and further trees
to `k_best`; when to call either is left to `decode`.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from headwise.trees.allowed import enters_once, entry_pairs, no_tree
from headwise.trees.tree import Heads, ScoreMatrix, Weights, n_roots, summable_scale


def best_tree(
    scores: ScoreMatrix, single_root: bool, sets: NDArray[np.bool_] | None = None
) -> Heads:
    """Return the heads `[N+1]` of the tree with the highest sum of scores.

    Follow best incoming arcs backwards from some word. On reaching ROOT or a word known to hang
    from it, that path is settled. On meeting the path again, the cycle becomes one vertex: an arc
    into it costs what its member loses by giving up its arc in the cycle. At the end each cycle is
    opened where its chosen arc enters.

    Example: N = 2, `scores[1] = [5, _, 10]`, `scores[2] = [1, 8, _]`. From 1 the path is 1 <- 2
    <- 1, a cycle worth 18. Entering from ROOT at 1 costs 10 - 5 = 5, at 2 it costs 8 - 1 = 7;
    so ROOT enters at 1, 2 keeps its head, and the heads are `[0, 0, 1]`, worth 5 + 8 = 13.

    With `single_root`, the best of all trees is the answer if it has one root, as it often does.
    Otherwise arcs weigh (root arcs, score) and are compared in this order. No arc of a cycle comes
    from ROOT, so contraction leaves the first part alone, and the order comes down to this: ROOT is
    chosen only when no word is left to choose. No large constant, so no rounding.

    Args:
        scores: `[N+1, N+1]`, `[dependent, head]`, finite, or -inf for an arc that is not allowed;
            row 0 and the diagonal are never read.
        single_root: whether exactly one word may be attached to ROOT.
        sets: of words that exactly one arc may enter, `[S, N+1]`, as `allowed.entered_sets`
            returns them: all words are one of them if `single_root`.

    Raises:
        ConfigError: if no tree is allowed.
    """
    rows = np.array(scores, dtype=np.float64)
    rows *= summable_scale(rows)
    np.fill_diagonal(rows, -np.inf)
    if sets is not None and len(sets):
        heads = _open_if_any(contract_cycles(entry_pairs(rows, sets)))
        is_found = heads is not None and enters_once(heads, sets)
    else:
        heads = _open_if_any(contract_cycles(rows.copy() if single_root else rows))
        if single_root and heads is not None and n_roots(heads) != 1:
            heads = _open_if_any(contract_cycles(rows, first_head=1))
        is_found = heads is not None and not (single_root and n_roots(heads) > 1)
    if heads is None or not is_found:
        raise no_tree(np.asarray(scores > -np.inf), projective=False)
    return heads


@dataclass(slots=True)
class Contraction:
    """How cycles were contracted. Vertices 0..N are ROOT and the words, larger ones are cycles.

    Heads are always words, never cycles: `owner` tells which vertex a word is now part of. So
    only rows are ever merged, and they lie contiguous in memory.

    Attributes:
        rows: of each vertex, the weight of an arc from each word `[N+1]`; -inf from its own words.
            Of the members of a cycle, less the weight of their arc in the cycle.
        words: of each vertex, the words in it.
        owner: of each word, the outermost vertex it is in `[N+1]`.
        head: of each vertex, the word chosen as head; -1 before the choice.
        cycles: of each cycle, its members.
        entered: of each cycle, which member an arc from each word enters `[N+1]`.
    """

    rows: list[Weights]
    words: list[NDArray[np.intp]]
    owner: NDArray[np.intp]
    head: list[int]
    cycles: list[list[int]] = field(default_factory=list)
    entered: list[NDArray[np.int32]] = field(default_factory=list)


def contract_cycles(
    rows: Weights, first_head: int = 0, keep_rows: bool = False
) -> Contraction | None:
    """Choose a head for every vertex, contracting cycles, until ROOT is above all words.

    Args:
        rows: `[N+1, N+1]`, `[dependent, head]`, -inf for an arc that is not there; written into.
        first_head: 1 if ROOT is chosen only when no word is left to choose.
        keep_rows: whether the rows of members of cycles are needed afterwards.

    Returns:
        None if there is no tree.
    """
    slots = np.arange(len(rows))
    graph = Contraction(list(rows), list(slots[:, None]), slots.copy(), [-1] * len(rows))
    settled = {0}
    for word in range(1, len(rows)):
        path: list[int] = []
        vertex = int(graph.owner[word])
        while vertex not in settled:
            if graph.head[vertex] >= 0:
                start = path.index(vertex)
                vertex = _contract(graph, path[start:], keep_rows)
                del path[start:]
            path.append(vertex)
            row = graph.rows[vertex]  # [N+1]
            head = first_head + int(row[first_head:].argmax())
            if row[head].real == -np.inf:
                head = 0  # no other is left
                if row[head].real == -np.inf:
                    return None
            graph.head[vertex] = head
            vertex = int(graph.owner[head])
        settled.update(path)
    return graph


def open_cycles(graph: Contraction) -> Heads:
    """Return the heads `[N+1]` of words, giving each cycle's head to the member it enters."""
    heads = list(graph.head)
    n_slots = len(graph.owner)
    for vertex in range(len(heads) - 1, n_slots - 1, -1):
        member = int(graph.entered[vertex - n_slots][heads[vertex]])
        heads[member] = heads[vertex]
    heads[0] = 0
    return np.array(heads[:n_slots], dtype=np.int32)


def _open_if_any(graph: Contraction | None) -> Heads | None:
    return None if graph is None else open_cycles(graph)


def _contract(graph: Contraction, cycle: list[int], keep_rows: bool) -> int:
    """Make one vertex of a cycle and return it; without `keep_rows` its first member's row goes."""
    vertex = len(graph.rows)
    merged = graph.rows[cycle[0]]  # [N+1]
    merged -= merged[graph.head[cycle[0]]]
    if keep_rows:
        merged = merged.copy()
    entered = np.full(len(merged), cycle[0], dtype=np.int32)  # [N+1]
    for member in cycle[1:]:
        row = graph.rows[member]  # [N+1]
        row -= row[graph.head[member]]
        entered[row > merged] = member
        np.maximum(merged, row, out=merged)
    words = np.concatenate([graph.words[member] for member in cycle])
    merged[words] = -np.inf
    graph.owner[words] = vertex
    graph.rows.append(merged)
    graph.words.append(words)
    graph.head.append(-1)
    graph.cycles.append(cycle)
    graph.entered.append(entered)
    return vertex
