"""From a tree to a sentence: a hand-made one, a free sample, and any tree at all."""

import io
from pathlib import Path

import numpy as np
import pytest
from convert.made_brackets import FIXED, one, trees
from hypothesis import given
from hypothesis import strategies as st

from headwise.convert.brackets import Node, PhraseTree, read_trees
from headwise.convert.dependencies import find_arcs, tree_to_sentence
from headwise.convert.heads import load_rules, remove_empty
from headwise.treebank.conllu import read_sentences
from headwise.trees.tree import is_projective, is_tree

FIXTURES = Path(__file__).parent.parent / "fixtures"
RULES = {name: load_rules(name) for name in ("english", "chinese")}
KIDS = """( (S (NP-SBJ-1 (NNS Kids)) (VP (VBP want)
    (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB eat) (NP (-LRB- -LRB-) (NN a\\/b)))))) (. .)) )"""


def test_a_sentence_in_conllu() -> None:
    sentence = tree_to_sentence(one(KIDS), RULES["english"], sentence_id="kids 1.1")
    assert sentence is not None
    assert sentence.conllu == (
        "# sent_id = kids_1.1\n"
        "1\tKids\t_\t_\tNNS\t_\t2\tSUB\t_\t_\n"
        "2\twant\t_\t_\tVBP\t_\t0\tROOT\t_\t_\n"
        "3\tto\t_\t_\tTO\t_\t4\tVMOD\t_\t_\n"
        "4\teat\t_\t_\tVB\t_\t2\tVMOD\t_\t_\n"
        "5\t-LRB-\t_\t_\t-LRB-\t_\t6\tP\t_\t_\n"
        "6\ta\\/b\t_\t_\tNN\t_\t4\tOBJ\t_\t_\n"
        "7\t.\t_\t_\t.\t_\t2\tP\t_\t_\n\n"
    )
    assert sentence.line_of(1) == 2
    assert sentence.gold_heads() == (2, 0, 4, 2, 6, 4, 2)


def test_a_sentence_in_conllx_has_the_tag_twice_and_no_comment() -> None:
    sentence = tree_to_sentence(one(KIDS), RULES["english"], "conllx", "kids.1")
    assert sentence is not None
    assert sentence.lines[0] == "1\tKids\t_\tNNS\tNNS\t_\t2\tSUB\t_\t_\n"


def test_escapes_are_undone_when_asked() -> None:
    sentence = tree_to_sentence(one(KIDS), RULES["english"], unescape=True)
    assert sentence is not None
    assert [(word.form, word.xpos) for word in sentence.words[4:6]] == [
        ("(", "-LRB-"),
        ("a/b", "NN"),
    ]
    assert sentence.lines[0].startswith("1\t")


def test_a_tree_without_words_is_no_sentence() -> None:
    assert tree_to_sentence(one("((S (-NONE- *)))"), RULES["english"]) is None


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("(NP (NP (NNS cats)) (CC and) (NP (NNS dogs)))", [3, 3, 0]),
        ("(VP (VBD came) (, ,) (VBD saw) (CC and) (VBD won))", [0, 1, 1, 1, 1]),
        ("(NP (NN cat) (CC and) (NN dog) (NN food))", [4, 4, 4, 0]),
        ("(S (S (VP (VBZ is))) (CC and) (S (VP (VBD was))))", [3, 3, 0]),
        ("((S (VP (VB Go))) (. .) (S (VP (VB Stop))) (. .))", [3, 3, 0, 3]),
    ],
)
def test_coordination_goes_by_the_table(text: str, heads: list[int]) -> None:
    assert find_arcs(one(text), RULES["english"])[0] == heads


def test_a_free_sample_is_as_the_rules_say() -> None:
    found = [
        tree_to_sentence(tree, RULES["english"], sentence_id=f"heads-gentle-road.{number}")
        for number, tree in enumerate(read_trees(FIXTURES / "heads-gentle-road.txt"), 1)
    ]
    gold = list(read_sentences(FIXTURES / "heads-gentle-road.conllu"))
    assert [sentence.conllu for sentence in found if sentence] == [s.conllu for s in gold]


@FIXED
@given(trees(60), st.sampled_from(sorted(RULES)))
def test_any_tree_becomes_a_projective_tree_with_one_root(tree: PhraseTree, language: str) -> None:
    words = remove_empty(tree)
    if words is None:
        return
    heads, labels = find_arcs(words, RULES[language])
    assert heads.count(0) == 1
    assert labels.count("ROOT") == 1
    assert labels[heads.index(0)] == "ROOT"
    array = np.array([0, *heads], dtype=np.int32)
    assert is_tree(array)
    assert is_projective(array)


@FIXED
@given(trees(60), st.sampled_from(["conllu", "conllx"]))
def test_what_is_written_can_be_read(tree: PhraseTree, form: str) -> None:
    sentence = tree_to_sentence(tree, RULES["english"], form, "a.1")  # type: ignore[arg-type]
    if sentence is not None:
        (again,) = read_sentences(io.BytesIO(sentence.conllu.encode()), form)  # type: ignore[arg-type]
        assert again.words == sentence.words


def test_depth_is_no_matter() -> None:
    n_nodes = 50_000
    nodes = [Node("S", place - 1) for place in range(n_nodes)]
    tree = PhraseTree((*nodes, Node("NN", n_nodes - 1, "dog")))
    assert find_arcs(tree, RULES["english"]) == ([0], ["ROOT"])
    assert len(tree.text) == 3 * n_nodes + n_nodes - 1 + len(" (NN dog)") + 1
