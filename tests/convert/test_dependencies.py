"""From a tree to a sentence: trees made by hand, and any tree at all."""

import io

import numpy as np
import pytest
from convert.made_brackets import FIXED, one, trees
from hypothesis import given
from hypothesis import strategies as st

from headwise.convert.brackets import Node, PhraseTree
from headwise.convert.dependencies import find_arcs, tree_to_sentence
from headwise.convert.heads import load_rules, remove_empty
from headwise.treebank.conllu import read_sentences
from headwise.trees.tree import is_projective, is_tree

RULES = {name: load_rules(name) for name in ("english", "chinese")}
KIDS = """( (S (NP-SBJ-1 (NNS Kids)) (VP (VBP want)
    (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB eat) (NP (-LRB- -LRB-) (NN a\\/b)))))) (. .)) )"""

ENGLISH = [
    ("(S (NP-SBJ (NNS Kids)) (VP (VBP love) (NP (NN candy))) (. .))", "SUB ROOT OBJ P"),
    ("(S (NP-SBJ (EX There)) (VP (VBZ is) (NP-PRD (DT no) (NN room))))", "SUB ROOT NMOD PRD"),
    ("(S (NP-SBJ (PRP I)) (VP (VBP am) (ADJP-PRD (RB so) (JJ old))))", "SUB ROOT AMOD PRD"),
    ("(VP (VBD was) (PP-LOC-PRD (IN in) (NP (NN bed))))", "ROOT VMOD PMOD"),
    ("(VP (VBD came) (NP-TMP (NN today)) (NP-2 (PRP it)))", "ROOT VMOD OBJ"),
    ("(VP (MD will) (RB not) (VP (VB have) (VP (VBN gone))))", "ROOT VMOD VC VC"),
    ("(SQ (VBZ Does) (NP-SBJ (PRP it)) (VP (VB work)) (. ?))", "ROOT SUB VC P"),
    ("(VP (VP (VBD came)) (CC and) (VP (VBD went)))", "ROOT VMOD VMOD"),
    ("(VP (VBD wanted) (S (NP-SBJ (PRP it)) (VP (TO to) (VP (VB go)))))", "ROOT SUB VMOD VMOD"),
    ("(VP (VBD said) (SBAR (IN that) (S (NP-SBJ (PRP it)) (VP (VBD rained)))))",
     "ROOT VMOD SUB SBAR"),
    ("(NP (NP (NN rain)) (SBAR (WHNP (WDT that)) (S (VP (VBD fell)))))", "ROOT NMOD SBAR"),
    ("(SBAR (RB even) (IN if) (S (NP-SBJ (PRP it)) (VP (VBZ rains))))", "AMOD ROOT SUB SBAR"),
    ("(SBAR (SBAR (IN if) (S (VP (VBD was)))) (CC or) (SBAR (IN as) (S (VP (VBD was)))))",
     "DEP SBAR DEP ROOT SBAR"),
    ("(NP (NP (DT the) (NN dog) (POS 's)) (JJ old) (NN bed))", "NMOD NMOD NMOD NMOD ROOT"),
    ("(NP (QP (RB about) (CD ten)) (NNS dogs))", "NMOD NMOD ROOT"),
    ("(NP (NP (NN wind)) (PRN (-LRB- -LRB-) (NP (NN rain)) (-RRB- -RRB-)))", "ROOT P NMOD P"),
    ("(UCP (JJ old) (CC and) (IN in))", "ROOT DEP DEP"),
    ("(CONJP (RB as) (RB well) (IN as))", "ROOT DEP DEP"),
    ("(S (CC But) (NP-SBJ (PRP it)) (ADVP (RB barely)) (VP (VBD rained)))", "VMOD SUB VMOD ROOT"),
    ("(NP ($ $) (CD 5))", "NMOD ROOT"),
    ("(NN dog)", "ROOT"),
]  # fmt: skip
CHINESE = [
    ("(IP (NP-SBJ (PN 他)) (VP (VV 买) (AS 了) (NP-OBJ (NN 书))) (PU 。))", "SUB ROOT VMOD OBJ P"),
    ("(IP (NP-SBJ (PN 他)) (VP (VV 能) (VP (VV 来))))", "SUB ROOT VC"),
    ("(IP (NP-SBJ (PN 他)) (VP (VC 是) (NP-PRD (NN 学生))))", "SUB ROOT PRD"),
    ("(VP (VV 说) (IP-OBJ (NP-SBJ (PN 他)) (VP (VV 来))))", "ROOT SUB OBJ"),
    ("(VP (VV 给) (NP-IO (PN 他)) (NP-OBJ (NN 书)))", "ROOT OBJ OBJ"),
    ("(VP (NP-TMP (NT 今天)) (PP-LOC (P 在) (NP (NN 家))) (VP (VV 看)))", "VMOD VMOD PMOD ROOT"),
    ("(NP (DNP (NP (PN 他)) (DEG 的)) (NP (NN 书)))", "DEP NMOD ROOT"),
    ("(NP (CP (IP (VP (VV 来))) (DEC 的)) (NP (NN 人)))", "NMOD VMOD ROOT"),
    ("(NP (QP (CD 三) (CLP (M 本))) (NP (NN 书)))", "NMOD NMOD ROOT"),
    ("(LCP (NP (NN 桌子)) (LC 上))", "DEP ROOT"),
]  # fmt: skip


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


def test_escapes_are_undone_when_asked() -> None:
    sentence = tree_to_sentence(one(KIDS), RULES["english"], unescape=True)
    assert sentence is not None
    found = [(word.form, word.xpos) for word in sentence.words[4:6]]
    assert found == [("(", "-LRB-"), ("a/b", "NN")]
    assert sentence.lines[0].startswith("1\t")


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


@pytest.mark.parametrize(
    ("language", "text", "labels"),
    [("english", *case) for case in ENGLISH] + [("chinese", *case) for case in CHINESE],
)
def test_labels_of_hand_made_trees(language: str, text: str, labels: str) -> None:
    assert " ".join(find_arcs(one(text), RULES[language])[1]) == labels


def test_the_trees_above_have_every_label() -> None:
    found = {label for _, labels in ENGLISH for label in labels.split()}
    assert " ".join(sorted(found)) == "AMOD DEP NMOD OBJ P PMOD PRD ROOT SBAR SUB VC VMOD"


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
