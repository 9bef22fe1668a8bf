"""Labels of arcs, each rule on a tree made by hand."""

import pytest
from convert.made_brackets import one

from headwise.convert.dependencies import find_arcs
from headwise.convert.heads import load_rules

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


@pytest.mark.parametrize(
    ("language", "text", "labels"),
    [("english", *case) for case in ENGLISH] + [("chinese", *case) for case in CHINESE],
)
def test_labels_of_hand_made_trees(language: str, text: str, labels: str) -> None:
    heads, found = find_arcs(one(text), load_rules(language))
    assert " ".join(found) == labels
    assert [label == "ROOT" for label in found] == [head == 0 for head in heads]


def test_the_trees_above_have_every_label() -> None:
    found = {label for _, labels in ENGLISH for label in labels.split()}
    assert " ".join(sorted(found)) == "AMOD DEP NMOD OBJ P PMOD PRD ROOT SBAR SUB VC VMOD"
