"""The k best trees: brute force for a few words, slower and simpler algorithms beyond."""

import heapq
from functools import cache
from itertools import count

import networkx as nx
import numpy as np
import pytest
from brute_force import random_scores, total
from constrained import constrained_trees, random_constraints, satisfies

from headwise.errors import ConfigError
from headwise.settings.choices import Decoder
from headwise.trees.allowed import entered_sets
from headwise.trees.constraints import Constraints
from headwise.trees.decode import decode_batch, decode_k_best
from headwise.trees.k_best import k_best_trees
from headwise.trees.k_best_projective import k_best_projective_trees
from headwise.trees.tree import is_projective, is_tree, n_roots

BOTH = pytest.mark.parametrize("decoder", ["mst", "eisner"])
ROOTS = pytest.mark.parametrize("single_root", [False, True])
MANY = 10**6


def test_worked_examples() -> None:
    none = entered_sets([], 2, single_root=False)
    scores = np.array([[0, 0, 0], [5, 0, 10], [1, 8, 0]])
    trees = k_best_trees(scores, 9, none)
    assert [tree.tolist() for tree in trees] == [[0, 0, 1], [0, 2, 0], [0, 0, 0]]
    scores = np.array([[0, 0, 0], [5, 0, 4], [1, 8, 0]])
    trees = k_best_projective_trees(scores, 9, False, none)
    assert [tree.tolist() for tree in trees] == [[0, 0, 1], [0, 0, 0], [0, 2, 0]]


def check_equals_brute_force(
    seeds: range, n_words: int, decoder: Decoder, single_root: bool
) -> None:
    for seed in seeds:
        random = np.random.default_rng(seed)
        constraints = random_constraints(random, n_words) if seed % 3 else Constraints()
        k = MANY if n_words < 5 and seed % 7 == 0 else int(random.integers(1, 20))
        scores = np.nan_to_num(random_scores(seed, n_words, tied=bool(seed % 5 == 0)))
        trees = constrained_trees(constraints, n_words, single_root, decoder == "eisner")
        if len(trees) == 0:
            with pytest.raises(ConfigError):
                decode_k_best(scores, k, decoder, single_root, constraints)
            continue
        found = decode_k_best(scores, k, decoder, single_root, constraints)
        assert len(found) == len({tuple(tree.tolist()) for tree in found}) == min(k, len(trees))
        assert all((trees == tree).all(axis=1).any() for tree in found)
        expected = np.sort(total(scores, trees))[::-1][:k]
        np.testing.assert_allclose([total(scores, tree) for tree in found], expected, atol=1e-12)


@BOTH
@ROOTS
@pytest.mark.parametrize("n_words", range(1, 7))
def test_equals_brute_force(n_words: int, decoder: Decoder, single_root: bool) -> None:
    check_equals_brute_force(range(60), n_words, decoder, single_root)


@pytest.mark.slow
@pytest.mark.no_cover
@BOTH
@ROOTS
@pytest.mark.parametrize("n_words", [4, 5, 6])
def test_equals_brute_force_on_ten_thousand_matrices(
    n_words: int, decoder: Decoder, single_root: bool
) -> None:
    check_equals_brute_force(range(1000, 1850), n_words, decoder, single_root)


def networkx_best(
    scores: np.ndarray, required: dict[int, int], forbidden: set[tuple[int, int]]
) -> dict[int, int] | None:
    """Return the heads of the best tree by networkx, None if there is no tree."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(scores)))
    for word, head in np.ndindex(*scores.shape):
        is_left = required.get(word, head) == head and (word, head) not in forbidden
        if word not in (0, head) and is_left:
            graph.add_edge(head, word, weight=float(scores[word, head]))
    try:
        return {word: head for head, word in nx.maximum_spanning_arborescence(graph).edges}
    except nx.NetworkXException:
        return None


def networkx_k_best(scores: np.ndarray, k: int, forbidden: set[tuple[int, int]]) -> list[float]:
    """Return the k best totals by forbidding and requiring each arc of each tree in turn."""
    order, queue, totals = count(), [], []

    def add(required: dict[int, int], forbidden: set[tuple[int, int]]) -> None:
        tree = networkx_best(scores, required, forbidden)
        if tree is not None:
            weight = sum(scores[arc] for arc in tree.items())
            heapq.heappush(queue, (-weight, next(order), tree, required, forbidden))

    add({}, forbidden)
    while queue and len(totals) < k:
        weight, _, tree, required, left_out = heapq.heappop(queue)
        totals.append(-weight)
        for word in sorted(tree.keys() - required.keys()):
            add(required, left_out | {(word, tree[word])})
            required = required | {word: tree[word]}
    return totals


@pytest.mark.parametrize("only_root", [None, 3])
def test_equals_networkx_with_every_arc_left_out_in_turn(only_root: int | None) -> None:
    scores = np.nan_to_num(random_scores(11, 10))
    asked = Constraints() if only_root is None else Constraints(root=only_root)
    found = decode_k_best(scores, 8, "mst", False, asked)
    others = {(word, 0) for word in range(1, 11) if only_root not in (None, word)}
    expected = networkx_k_best(scores, 8, others)
    np.testing.assert_allclose([total(scores, tree) for tree in found], expected)


def k_best_by_joining_subtrees(scores: np.ndarray, k: int) -> list[float]:
    """Return the k best totals of projective trees, by joining whole subtrees; O(N^5 k^2)."""

    def sums(*parts: list[float]) -> list[float]:
        totals = [0.0]
        for part in parts:
            totals = heapq.nlargest(k, (one + other for one in totals for other in part))
        return totals

    @cache
    def right_of(head: int, end: int) -> list[float]:
        if end == head:
            return [0.0]
        ways = (
            sums(right_of(head, first - 1), subtree(first, end, child), [scores[child, head]])
            for first in range(head + 1, end + 1)
            for child in range(first, end + 1)
        )
        return heapq.nlargest(k, (total for way in ways for total in way))

    @cache
    def left_of(head: int, start: int) -> list[float]:
        if start == head:
            return [0.0]
        ways = (
            sums(left_of(head, last + 1), subtree(start, last, child), [scores[child, head]])
            for last in range(start, head)
            for child in range(start, last + 1)
        )
        return heapq.nlargest(k, (total for way in ways for total in way))

    def subtree(start: int, end: int, head: int) -> list[float]:
        return sums(left_of(head, start), right_of(head, end))

    return right_of(0, len(scores) - 1)


def test_projective_equals_joining_subtrees() -> None:
    for seed in range(2):
        scores = np.nan_to_num(random_scores(seed, 11))
        found = decode_k_best(scores, 12, "eisner", False)
        expected = k_best_by_joining_subtrees(scores, 12)
        np.testing.assert_allclose([total(scores, tree) for tree in found], expected)


@BOTH
@ROOTS
def test_forty_words_give_different_trees_in_order(decoder: Decoder, single_root: bool) -> None:
    asked = Constraints(heads={4: 7}, forbidden=[(2, 1)], subtrees=[range(10, 20), range(12, 15)])
    for seed, constraints in enumerate([Constraints(), asked]):
        scores = np.nan_to_num(random_scores(seed, 40)) * 3
        (best,) = decode_batch(
            [scores], decoder, single_root, "log-probability", constraints=[constraints]
        )
        trees = decode_k_best(scores, 50, decoder, single_root, constraints)
        assert len({tuple(tree.tolist()) for tree in trees}) == 50
        totals = np.array([total(scores, tree) for tree in trees])
        assert (np.diff(totals) <= 1e-9).all()
        for tree in trees:
            assert is_tree(tree)
            assert decoder == "mst" or is_projective(tree)
            assert not single_root or n_roots(tree) == 1
            assert satisfies(tree[None], constraints).all()
        if constraints != Constraints() or is_tree(best.heads):
            assert totals[0] == pytest.approx(total(scores, best.heads))


@BOTH
def test_spans_may_nest_deeper_than_calls(decoder: Decoder) -> None:
    n_words = 700
    scores = np.full((n_words + 1, n_words + 1), -30.0, np.float32)
    scores[np.arange(1, n_words + 1), np.arange(n_words)] = -0.1  # a chain from ROOT to the end
    first, second = decode_k_best(scores, 2, decoder, True)
    assert first.tolist() == [0, *range(n_words)]
    assert np.count_nonzero(first != second) == 1


@BOTH
def test_no_words_have_one_tree(decoder: Decoder) -> None:
    assert [tree.tolist() for tree in decode_k_best(np.zeros((1, 1)), 5, decoder, True)] == [[0]]


def test_a_matrix_that_is_not_finite_is_refused() -> None:
    scores = random_scores(0, 3)
    scores[2, 1] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        decode_k_best(scores, 2, "mst", False)
