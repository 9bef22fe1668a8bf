"""Oracles for the decoders: all trees of a few words, and slow definitions for more words. Written
straight from the definitions, with nothing taken from `headwise.trees`.
"""

from functools import cache
from itertools import product

import networkx as nx
import numpy as np


@cache
def all_heads(n_words: int) -> np.ndarray:
    """Return every assignment of heads 0..N to words, self-loops included, `[T, N+1]`."""
    choices = list(product(range(n_words + 1), repeat=n_words))
    words = np.array(choices, dtype=np.int32).reshape(len(choices), n_words)
    return np.pad(words, ((0, 0), (1, 0)))


def reaches_root(heads: np.ndarray) -> np.ndarray:
    """Tell for each row of `heads` `[T, N+1]` whether all words reach ROOT after N steps."""
    ancestors = heads
    for _ in range(heads.shape[1]):
        ancestors = np.take_along_axis(heads, ancestors, axis=1)
    return (ancestors == 0).all(axis=1)


def has_no_crossing(heads: np.ndarray) -> bool:
    """Tell whether no arcs l1-r1, l2-r2 of `heads` `[N+1]` have l1 < l2 < r1 < r2."""
    arcs = [(min(d, h), max(d, h)) for d, h in enumerate(heads.tolist()) if d > 0]
    return not any(l1 < l2 < r1 < r2 for l1, r1 in arcs for l2, r2 in arcs)


@cache
def all_trees(n_words: int, single_root: bool, projective: bool) -> np.ndarray:
    """Return every tree of so many words, `[T, N+1]`."""
    trees = all_heads(n_words)
    trees = trees[reaches_root(trees)]
    if single_root and n_words > 0:
        trees = trees[(trees[:, 1:] == 0).sum(axis=1) == 1]
    if projective:
        trees = trees[[has_no_crossing(heads) for heads in trees]]
    return trees


def total(scores: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """Return the sum of scores of each tree; `heads` `[N+1]` or `[T, N+1]`."""
    words = np.arange(1, len(scores))
    return scores.astype(np.float64)[words, heads[..., 1:]].sum(axis=-1)


def best_total(scores: np.ndarray, single_root: bool, projective: bool) -> float:
    """Return the score of the best tree among all."""
    return float(total(scores, all_trees(len(scores) - 1, single_root, projective)).max())


def networkx_total(scores: np.ndarray, only_root: int | None = None) -> float:
    """Return the score of the best tree by networkx; with `only_root`, ROOT has that child only."""
    graph = nx.DiGraph()
    for dependent, head in np.ndindex(*scores.shape):
        if dependent in (0, head) or (head == 0 and only_root not in (None, dependent)):
            continue
        graph.add_edge(head, dependent, weight=float(scores[dependent, head]))
    tree = nx.maximum_spanning_arborescence(graph)
    return sum(weight for _, _, weight in tree.edges(data="weight"))


def best_projective_total(scores: np.ndarray) -> float:
    """Return the score of the best projective tree, by joining whole subtrees; O(N^5)."""

    @cache
    def right_of(head: int, end: int) -> float:
        if end == head:
            return 0.0
        return max(
            right_of(head, first - 1) + subtree(first, end, child) + scores[child, head]
            for first in range(head + 1, end + 1)
            for child in range(first, end + 1)
        )

    @cache
    def left_of(head: int, start: int) -> float:
        if start == head:
            return 0.0
        return max(
            left_of(head, last + 1) + subtree(start, last, child) + scores[child, head]
            for last in range(start, head)
            for child in range(start, last + 1)
        )

    def subtree(start: int, end: int, head: int) -> float:
        return left_of(head, start) + right_of(head, end)

    return float(right_of(0, len(scores) - 1))


def random_scores(seed: int, n_words: int, tied: bool = False) -> np.ndarray:
    """Return scores `[N+1, N+1]` with NaN where nothing may be read; `tied` has many equal ones."""
    random = np.random.default_rng(seed)
    shape = (n_words + 1, n_words + 1)
    scores = random.integers(0, 3, shape) * 1.0 if tied else random.normal(size=shape)
    scores[0] = np.nan
    np.fill_diagonal(scores, np.nan)
    return scores


def random_projective_heads(seed: int, n_words: int, single_root: bool) -> np.ndarray:
    """Return a random projective tree, by giving random spans a random head each, `[N+1]`."""
    random = np.random.default_rng(seed)
    heads = np.zeros(n_words + 1, dtype=np.int32)
    spans = [(1, n_words, 0)]
    while spans:
        start, end, head = spans.pop()
        if start > end:
            continue
        last = end if head == 0 and single_root else int(random.integers(start, end + 1))
        child = int(random.integers(start, last + 1))
        heads[child] = head
        spans += [(start, child - 1, child), (child + 1, last, child), (last + 1, end, head)]
    return heads
