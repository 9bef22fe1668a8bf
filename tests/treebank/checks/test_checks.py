"""`check_sentence` finds what is wrong, says where, and gives no false alarm."""

from pathlib import Path

import pytest

from headwise import sentence_from_words
from headwise.treebank.checks import Check, check_lines, check_sentence
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import Sentence

FIXTURES = Path(__file__).parents[2] / "fixtures"
GOOD = """\
# sent_id = s1
# text = Kids don't love candy.
1\tKids\tkid\tNOUN\tNNS\tNumber=Plur\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\tMood=Ind|VerbForm=Fin\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tlove\tlove\tVERB\tVB\tVerbForm=Inf\t0\troot\t_\t_
5\tcandy\tcandy\tNOUN\tNN\tNumber=Sing\t4\tobj\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\tSpaceAfter=No

"""


def checks_of(text: str) -> list[Check]:
    return check_lines(text.splitlines(keepends=True))


def changed(old: str, new: str) -> list[Check]:
    assert GOOD.count(old) == 1, old
    return checks_of(GOOD.replace(old, new))


def test_a_good_sentence_has_no_finding() -> None:
    assert checks_of(GOOD) == []


@pytest.mark.parametrize("name", ["ewt-dev-100", "coptic-20", "ewt-empty-nodes-6"])
def test_real_sentences_have_no_error(name: str) -> None:
    for sentence in read_sentences(FIXTURES / f"{name}.conllu"):
        assert [check for check in check_sentence(sentence) if check.level] == []


def test_a_sentence_is_checked_as_its_lines_are() -> None:
    sentence = sentence_from_words([("Kids",), ("love",)], ["form"])
    assert check_sentence(sentence) == check_lines(sentence.lines)
    assert {check.word for check in check_sentence(sentence) if check.column == "head"} == {1, 2}


@pytest.mark.parametrize(
    ("old", "new", "level", "word", "column", "message"),
    [
        ("1\tKids", "0\tKids", 1, 0, "id", "ID is '0', but must be a number (3), a range"),
        ("\n3\tn't", "\n4\tn't", 1, 4, "id", "ID is 4 where 3 is next"),
        ("2-3\t", "2-7\t", 1, None, "id", "the range is 2-7, but the sentence has 6 words"),
        ("2-3\t", "3-2\t", 1, None, "id", "the range 3-2 ends before it starts"),
        ("2-3\t", "1-3\t", 1, None, "id", "the range 1-3 must come right before word 1"),
        ("2-3\tdon't", "2-3\tdo n't", 1, None, "form", "FORM of a multi-word token must not"),
        ("\tPART\t", "\tPA RT\t", 1, 3, "upos", "UPOS must not contain a space: 'PA RT'"),
        ("\tnot\t", "\t\t", 1, 3, "lemma", "LEMMA is empty; write _ if it has no value"),
        ("\tnot\t", "\t not\t", 1, 3, "lemma", "LEMMA must not start or end with a space"),
        ("\tRB\t_", "\tRB", 1, None, None, "the line has 9 columns, but 10 are needed"),
        ("1\tKids", "x\tKids", 1, None, None, "a line must start with a number or #"),
        ("6\t.", "# x\n6\t.", 1, None, None, "a comment must come before the first word"),
        ("6\t.", "\n6\t.", 1, None, None, "only one blank line may stand between"),
        ("\tSpaceAfter=No\n\n", "\t_\n\n\n", 1, None, None, "only one blank line may stand"),
        ("\tSpaceAfter=No\n\n", "\tSpaceAfter=No\n", 1, None, None, "a blank line must follow"),
        ("\tSpaceAfter=No\n\n", "\tSpaceAfter=No\n \n", 1, None, None, "the line looks blank"),
        ("_\n4\t", "_\r\n4\t", 1, None, None, "the line ends with CR LF"),
        ("\tnot\t", "\tno\u0308\t", 1, None, None, "a letter and its accent are two characters"),
        ("\tnot\t", "\t\ufffd\t", 1, None, None, "the line has a replacement character"),
        ("\tPART\t", "\tPRT\t", 2, 3, "upos", "'PRT' is not a universal tag"),
        ("\tPART\t", "\t_\t", 2, 3, "upos", "the word has no UPOS"),
        ("\tadvmod\t", "\t_\t", 2, 3, "deprel", "the word has no DEPREL"),
        ("\tadvmod\t", "\tAdvmod\t", 2, 3, "deprel", "DEPREL is 'Advmod', but must look like"),
        ("\tadvmod\t", "\tneg\t", 2, 3, "deprel", "'neg' is not a universal relation"),
        ("\tadvmod\t", "\troot\t", 2, 3, "deprel", "DEPREL is root, but HEAD is 4, not 0"),
        ("\troot\t", "\tdep\t", 2, 4, "deprel", "HEAD is 0, so that DEPREL must be root"),
        ("4\tnsubj", "_\tnsubj", 2, 1, "head", "the word has no HEAD"),
        ("4\tnsubj", "9\tnsubj", 2, 1, "head", "HEAD is '9', but must be a number from 0 to 6"),
        ("4\tnsubj", "04\tnsubj", 2, 1, "head", "HEAD is '04', but must be a number"),
        ("4\tnsubj", "1\tnsubj", 2, 1, "head", "the word is its own head"),
        ("4\tnsubj", "0\troot", 2, 4, "head", "words 1 and 4 all have HEAD 0"),
        ("0\troot", "1\tdep", 2, 1, "head", "words 1 and 4 form a cycle"),
        ("0\troot", "1\tdep", 2, None, "head", "no word has HEAD 0"),
        ("Mood=Ind|VerbForm=Fin", "VerbForm=Fin|Mood=Ind", 2, 2, "feats", "features must be"),
        ("Mood=Ind|VerbForm=Fin", "Mood=Ind|Mood=Sub", 2, 2, "feats", "the feature 'Mood' occ"),
        ("Number=Plur", "Number=Plur,Dual", 2, 1, "feats", "the values of 'Number=Plur,Dual'"),
        ("Number=Plur", "Number=Plur,Plur", 2, 1, "feats", "'Number=Plur,Plur' has a value tw"),
        ("Number=Plur", "Number=Plur,", 2, 1, "feats", "'Number=Plur,' must look like Name=V"),
        ("Number=Plur", "plural", 2, 1, "feats", "'plural' must look like Name=Value"),
        ("2-3\tdon't\t_", "2-3\tdon't\tx", 2, None, "lemma", "LEMMA of a multi-word token must"),
        ("\tnsubj\t_\t_", "\tnsubj\t_\tLang=a|Lang=b", 2, 1, "misc", "Lang must not occur twice"),
        ("\tnsubj\t_\t_", "\tnsubj\t_\tSpaceAfter=Yes", 2, 1, "misc", "SpaceAfter can only be"),
        ("\tnsubj\t_\t_", "\tnsubj\t_\tNoSpaceAfter=Yes", 2, 1, "misc", "write SpaceAfter=No"),
        ("\tnsubj\t_\t_", "\tnsubj\t_\tSpaceAfter=No", 2, None, "form", "is there an extra Space"),
        ("\taux\t_\t_", "\taux\t_\tSpaceAfter=No", 2, 2, "misc", "SpaceAfter=No belongs to the"),
        ("obj\t_\tSpaceAfter=No", "obj\t_\t_", 2, 5, "misc", "no space follows 'candy' in the"),
        ("\tcandy\tcandy", "\tsweets\tcandy", 2, 5, "form", "FORM is 'sweets', but the text"),
        ("love candy.\n", "love candy. Yes.\n", 2, None, None, "the text continues after the last"),
        ("love candy.\n", "love candy. \n", 2, None, None, "the comment '# text' must not end wi"),
        ("# text = Kids don't love candy.", "# text =", 2, None, None, "the comment '# text' must"),
        ("# text = Kids don't love candy.\n", "", 2, None, None, "the comment '# text = ...' is"),
        ("# text = Kids", "# text = a\n# text = Kids", 2, None, None, "'# text' occurs twice"),
        ("# sent_id = s1\n", "", 2, None, None, "the comment '# sent_id = ...' is missing"),
        ("# sent_id = s1", "# sent_id = s 1", 2, None, None, "must look like '# sent_id = x'"),
        ("# sent_id = s1", "# sent_id = s/1/a", 2, None, None, "sent_id may have one / at most"),
        ("# sent_id = s1", "# sent_id = s\n# sent_id = t", 2, None, None, "'# sent_id' occurs tw"),
        ("# sent_id", "# newpar\n# newpar x\n# sent_id", 2, None, None, "'# newpar' occurs twice"),
        ("# sent_id", "# parallel_id = X\n# sent_id", 2, None, None, "must look like '# parallel"),
        ("# sent_id", "# parallel_id = a/b\n" * 2 + "# sent_id", 2, None, None, "occurs twice"),
        ("\tnsubj\t_", "\tnsubj\tx", 2, 1, "deps", "DEPS is 'x', but must be pairs like 4:nsubj"),
        ("\tnsubj\t_", "\tnsubj\t9:nsubj", 2, 1, "deps", "DEPS has the head 9, which is not in"),
        ("\tnsubj\t_", "\tnsubj\t1:dep", 2, 1, "deps", "DEPS makes the word its own head"),
        ("\tnsubj\t_", "\tnsubj\t4:A", 2, 1, "deps", "'A' in DEPS must look like obl"),
        ("\tnsubj\t_", "\tnsubj\t4:abc", 2, 1, "deps", "'abc' in DEPS is not a universal rel"),
        ("\tnsubj\t_", "\tnsubj\t4:obj|3:obj", 2, 1, "deps", "DEPS must be sorted by head"),
        ("\tnsubj\t_", "\tnsubj\t4:obj|4:obj", 2, 1, "deps", "DEPS has the same pair twice"),
        ("\tnsubj\t_", "\tnsubj\t0:root", 2, 2, "deps", "the enhanced graph has no path"),
        ("\tKids\t", "\tKids all\t", 0, 1, "form", "FORM contains a space"),
        ("4\tpunct", "1\tpunct", 0, 6, "head", "the arc to its head 'Kids' crosses another arc"),
    ],
)
def test_each_finding_has_its_place_and_message(
    old: str, new: str, level: int, word: int | None, column: str | None, message: str
) -> None:
    found = [check for check in changed(old, new) if message in check.message]
    assert [(check.level, check.word, check.column) for check in found][:1] == [
        (level, word, column)
    ], changed(old, new)


def test_a_row_is_the_line_of_the_sentence() -> None:
    (check,) = changed("\tPART\t", "\tPRT\t")
    assert GOOD.splitlines()[check.row or 0].startswith("3\tn't")


def test_a_cell_that_is_broken_is_reported_once() -> None:
    assert [check.level for check in changed("4\tnsubj", "\tnsubj") if check.column == "head"] == [
        1
    ]


def test_level_2_is_left_out_if_ids_are_broken() -> None:
    found = changed("\tPART\t", "\tPRT\t") and checks_of(
        GOOD.replace("PART", "PRT").replace("2-3", "7-8")
    )
    assert {check.level for check in found} == {1}


def test_overlapping_ranges_and_misplaced_nodes() -> None:
    overlapping = changed("3\tn't", "3-4\tx\t_\t_\t_\t_\t_\t_\t_\t_\n3\tn't")
    assert [check.message for check in overlapping] == ["the range 3-4 overlaps the one before it"]
    node = "1.1\tx\t_\t_\t_\t_\t_\t_\t4:dep\t_\n"
    misplaced = changed("2\tdo\t", f"{node}2\tdo\t")
    assert [check.message for check in misplaced] == [
        "empty node 1.1 must come before the multi-word token 2-3"
    ]
    skipped = changed("2-3\t", node.replace("1.1", "1.2") + "2-3\t")
    assert [check.message for check in skipped] == ["ID of the empty node is 1.2 where 1.1 is next"]


def test_an_empty_node_needs_the_enhanced_graph() -> None:
    node = "6.1\tx\t_\t_\t_\t_\t4\tdep\t4:dep\tSpaceAfter=No\n\n"
    found = checks_of(GOOD.removesuffix("\n") + node)
    assert {(check.word, check.column) for check in found} >= {
        (None, "head"), (None, "deprel"), (None, "misc"), (1, "deps")
    }  # fmt: skip


def test_enhanced_relations_may_have_a_preposition_and_a_case() -> None:
    def is_fine(label: str) -> bool:
        found = changed("\tnsubj\t_", f"\tnsubj\t4:{label}")
        return not any("DEPS must look like" in check.message for check in found)

    good = ["obl", "obl:tmod", "nmod:of", "obl:in_front_of", "obl:arg:für:acc", "obl:في:gen"]
    bad = ["obl:", "obl:a:b:c:d", "obl:In", "obl:a__b", "obl:ü:a:b", "obl:ü:ä", "Obl", "obl:1"]
    assert [is_fine(label) for label in good] == [True] * len(good)
    assert [is_fine(label) for label in bad] == [False] * len(bad)


def test_labels_that_are_not_known_are_noted() -> None:
    labels = {"nsubj", "aux", "advmod", "root", "obj"}
    (check,) = check_lines(GOOD.splitlines(keepends=True), labels)
    assert check[:4] == (0, 6, "deprel", "the label 'punct' is not among the known ones")


def test_long_circles_and_values_are_cut() -> None:
    words = [(f"w{i}", str(i % 20 + 1)) for i in range(1, 21)]
    found = check_sentence(sentence_from_words(words, ["form", "head"]))
    assert any("10 and 10 more form a cycle" in check.message for check in found)
    (check,) = [c for c in changed("\tPART\t", f"\t{'P' * 99}\t") if c.column == "upos"]
    assert len(check.message) < 100


@pytest.mark.parametrize("lines", [(), ("\n",), ("# text = x\n", "\n")])
def test_a_sentence_without_words_is_an_error(lines: tuple[str, ...]) -> None:
    assert "the sentence has no words" in {c.message for c in check_lines(lines)}
    assert check_sentence(Sentence((), lines, ()))
