"""Constraints: contradictions are refused by name, and the best tree is the best that satisfies."""

import msgspec
import networkx as nx
import numpy as np
import pytest
from brute_force import random_scores, total
from constrained import constrained_trees, random_constraints, satisfies

from headwise.errors import ConfigError
from headwise.settings.choices import Decoder
from headwise.trees.allowed import allowed_arcs, entered_sets, enters_once, entry_pairs
from headwise.trees.constraints import Constraints
from headwise.trees.decode import Tree, decode_batch
from headwise.trees.tree import is_projective, is_tree, n_roots

BOTH = pytest.mark.parametrize("decoder", ["mst", "eisner"])
ROOTS = pytest.mark.parametrize("single_root", [False, True])


def decode(
    scores: np.ndarray, constraints: Constraints, decoder: Decoder, single_root: bool
) -> Tree:
    whole = np.nan_to_num(scores)
    (tree,) = decode_batch(
        [whole], decoder, single_root, "log-probability", constraints=[constraints]
    )
    return tree


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"heads": {3: 5, 5: 3}}, "words 3 and 5 cannot head each other"),
        ({"heads": {7: 3, 3: 5, 5: 7, 1: 3}}, "words 3, 5 and 7 cannot head each other"),
        ({"heads": {3: 3}}, "word 3 cannot head itself"),
        ({"heads": {3: 2}, "forbidden": [(3, 2)]}, "word 3: head 2 is both required and forbidden"),
        ({"root": 3, "forbidden": [(3, 0)]}, "word 3: head 0 is both required and forbidden"),
        ({"root": 3, "heads": {3: 2}}, "word 3 cannot be the root and have head 2"),
        ({"root": 3, "heads": {4: 0}}, "words 3 and 4 cannot both be the root"),
        ({"heads": {0: 1}}, "there is no word 0\nhint: words are numbered from 1"),
        ({"labels": {-2: "obj"}}, "there is no word -2\nhint: words are numbered from 1"),
        ({"heads": {1: -1}}, "there is no head -1\nhint: 0 is ROOT"),
        ({"subtrees": [[]]}, "a subtree has no words"),
        (
            {"labels": {2: "x" * 1_001}},
            f"'{'x' * 40}' cannot be the label of word 2\n"
            "hint: it must have 1 to 1,000 characters, and no tab or line end",
        ),
        (
            {"subtrees": [[4, 5], [1, 2, 3, 4]]},
            "the subtrees of words 1, 2, 3 and 4 and of words 4 and 5 overlap\n"
            "hint: one may contain the other, or they share no word",
        ),
        (
            {"subtrees": [[2, 3, 4]], "heads": {2: 1, 4: 1, 3: 4}},
            "words 2 and 4 cannot both have a head outside of the subtree of words 2, 3 and 4",
        ),
        (
            {"subtrees": [[2, 3]], "heads": {2: 1}, "root": 3},
            "words 2 and 3 cannot both have a head outside of the subtree of words 2 and 3",
        ),
    ],
)
def test_contradictions_are_refused_without_a_sentence(asked: dict, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Constraints(**asked)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("asked", "single_root", "decoder", "message"),
    [
        (
            {"labels": {9: "obj"}},
            False,
            "mst",
            "there is no word 9\nhint: the sentence has 4 words",
        ),
        ({"forbidden": [(2, h) for h in (0, 1, 3, 4)]}, False, "mst", "word 2 has no head left"),
        ({"heads": {2: 0, 3: 0}}, True, "mst", "words 2 and 3 cannot both be the root"),
        (
            {"forbidden": [(w, 0) for w in (1, 2, 3, 4)]},
            False,
            "eisner",
            "no word is left that may be the root",
        ),
        (
            {"forbidden": [(2, 0), (2, 1), (2, 4), (3, 0), (3, 1), (3, 4)]},
            False,
            "mst",
            "no path from ROOT is left to words 2 and 3",
        ),
        (
            {"heads": {1: 3, 2: 4}},
            False,
            "eisner",
            "the arcs 3 -> 1 and 4 -> 2 cross\nhint: trees with crossing arcs need the decoder mst",
        ),
        (
            {"subtrees": [[1, 3]], "forbidden": [(1, 3), (3, 1)]},
            False,
            "mst",
            "no tree satisfies all constraints\n"
            "hint: subtrees, roots and required arcs contradict each other",
        ),
        (
            {"subtrees": [[1, 3]], "heads": {2: 4}},
            False,
            "eisner",
            "no projective tree satisfies all constraints\n"
            "hint: subtrees, roots and required arcs contradict each other",
        ),
    ],
)
def test_what_no_tree_of_the_sentence_satisfies_is_refused(
    asked: dict, single_root: bool, decoder: Decoder, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        decode(random_scores(0, 4), Constraints(**asked), decoder, single_root)
    assert str(caught.value) == message


def test_many_words_are_named_in_short() -> None:
    circle = {word: word % 20 + 1 for word in range(1, 21)}
    with pytest.raises(ConfigError, match="words 1, 2, 3, 4, 5, 6, 7 and 13 more cannot head"):
        Constraints(heads=circle)


def test_constraints_are_read_from_json() -> None:
    data = b'{"heads":{"3":2},"forbidden":[[4,1]],"root":2,"subtrees":[[1,2]],"labels":{"3":"obj"}}'
    read = msgspec.json.decode(data, type=Constraints)
    assert read.heads == {3: 2}
    assert [tuple(arc) for arc in read.forbidden] == [(4, 1)]
    with pytest.raises(msgspec.ValidationError, match=r"\$\.root"):
        msgspec.json.decode(b'{"root":0}', type=Constraints)


def check_equals_brute_force(
    seeds: range, n_words: int, decoder: Decoder, single_root: bool
) -> None:
    for seed in seeds:
        random = np.random.default_rng(seed)
        constraints = random_constraints(random, n_words)
        scores = random_scores(seed, n_words, tied=bool(seed % 4 == 0))
        trees = constrained_trees(constraints, n_words, single_root, decoder == "eisner")
        if len(trees) == 0:
            with pytest.raises(ConfigError):
                decode(scores, constraints, decoder, single_root)
            continue
        tree = decode(scores, constraints, decoder, single_root)
        assert (trees == tree.heads).all(axis=1).any()
        assert total(scores, tree.heads) == pytest.approx(total(scores, trees).max())


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


def networkx_best(scores: np.ndarray, subtree: list[int]) -> float:
    """Return the best total in which `subtree` has one entry, by trying all entries."""
    best = -np.inf
    for entry in subtree:
        graph = nx.DiGraph()
        for word, head in np.ndindex(*scores.shape):
            inside = word in subtree and word != entry
            if word in (0, head) or (inside and head not in subtree):
                continue
            if word == entry and head in subtree:
                continue
            graph.add_edge(head, word, weight=float(scores[word, head]))
        tree = nx.maximum_spanning_arborescence(graph)
        best = max(best, sum(weight for *_, weight in tree.edges(data="weight")))
    return best


@pytest.mark.parametrize("n_words", [9, 14, 20])
def test_a_subtree_equals_networkx_over_its_entries(n_words: int) -> None:
    for seed in range(3):
        random = np.random.default_rng(seed)
        subtree = random.choice(np.arange(1, n_words + 1), 5, replace=False).tolist()
        scores = random_scores(seed, n_words)
        tree = decode(scores, Constraints(subtrees=[subtree]), "mst", False)
        assert satisfies(tree.heads[None], Constraints(subtrees=[subtree])).all()
        assert total(scores, tree.heads) == pytest.approx(networkx_best(scores, subtree))


@BOTH
@ROOTS
def test_what_the_best_tree_has_anyway_changes_nothing(decoder: Decoder, single_root: bool) -> None:
    for seed in range(20):
        scores = np.nan_to_num(random_scores(seed, 30))
        (best,) = decode_batch([scores], decoder, True, "log-probability")
        heads = dict(enumerate(best.heads[1:].tolist(), start=1))
        some = Constraints(heads={word: heads[word] for word in range(1, 31, 3)})
        # With one root, the best tree is the best of those that have some of its arcs.
        assert decode(scores, some, decoder, True).heads.tolist() == best.heads.tolist()
        whole = Constraints(heads=heads)
        assert decode(scores, whole, decoder, single_root).heads.tolist() == best.heads.tolist()


def test_nested_subtrees_each_have_one_entry() -> None:
    nested = Constraints(subtrees=[range(1, 13), range(3, 10), [4, 6], [5, 8], [20, 25, 30]])
    for seed in range(20):
        for decoder in ("mst", "eisner"):
            asked = nested if decoder == "mst" else Constraints(subtrees=nested.subtrees[:2])
            heads = decode(random_scores(seed, 30), asked, decoder, True).heads
            assert is_tree(heads)
            assert n_roots(heads) == 1
            assert decoder == "mst" or is_projective(heads)
            assert satisfies(heads[None], asked).all()


def test_greedy_asks_for_a_tree_and_says_how_it_came_about() -> None:
    scores = np.array([[0, 0, 0], [-3, -9, -1], [-2, -1, -9]], dtype=np.float32)
    free = decode_batch([scores], "greedy", False, "log-probability", constraints=[None])
    assert free[0].heads.tolist() == [0, 2, 1]
    rooted = decode(scores, Constraints(root=1), "greedy", False)
    assert (rooted.heads.tolist(), rooted.how) == ([0, 0, 1], "greedy")
    other = decode(scores, Constraints(forbidden=[(2, 0)]), "greedy", False)
    assert (other.heads.tolist(), other.how) == ([0, 0, 1], "mst")


def test_probabilities_as_weights_keep_forbidden_arcs_out() -> None:
    log_probs = np.log([[1.0, 1.0, 1.0], [0.01, 0.49, 0.50], [0.02, 0.98, 1e-9]])
    (tree,) = decode_batch(
        [log_probs], "mst", True, "probability", constraints=[Constraints(forbidden=[(1, 0)])]
    )
    assert tree.heads.tolist() == [0, 2, 0]


def test_pairs_compare_entries_first() -> None:
    sets = entered_sets([[1, 2]], 3, single_root=False)
    scores = np.zeros((4, 4))
    scores[1, 3] = 100.0
    pairs = entry_pairs(scores, sets)
    assert pairs[1, 3] == -1 + 100j
    assert pairs[1].argmax() in (1, 2)
    assert enters_once(np.array([0, 2, 0, 0], np.int32), sets)
    assert not enters_once(np.array([0, 0, 0, 0], np.int32), sets)


def test_the_mask_of_no_words_is_empty() -> None:
    assert allowed_arcs(Constraints(), 0, single_root=True).tolist() == [[False]]
    tree = decode(np.zeros((1, 1)), Constraints(labels={}), "mst", True)
    assert tree.heads.tolist() == [0]
