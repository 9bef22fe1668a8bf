"""Trees as their files have them: reading, writing, and every way to be malformed."""

import io

import pytest
from convert.made_brackets import FIXED, one, read, trees
from hypothesis import example, given
from hypothesis import strategies as st

from headwise.convert.brackets import MAX_DEPTH, Node, PhraseTree, read_trees
from headwise.errors import ConfigError, DataError


def test_a_tree_is_its_brackets_in_order() -> None:
    tree = one("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")
    assert tree.nodes == (
        Node("S", -1),
        Node("NP", 0),
        Node("DT", 1, "the"),
        Node("NN", 1, "dog"),
        Node("VP", 0),
        Node("VBZ", 4, "barks"),
    )
    assert tree.children() == [[1, 4], [2, 3], [], [], [5], []]


@pytest.mark.parametrize("outer", ["( {} )", "({})", "(TOP {})", "(ROOT {})", "\n\n(\n\t{}\r\n)\n"])
def test_outer_brackets_may_have_a_label_or_none(outer: str) -> None:
    tree = one(outer.format("(S (NN dog))"))
    assert [node.label for node in tree.nodes[1:]] == ["S", "NN"]
    assert tree.nodes[0].label in ("", "TOP", "ROOT")


def test_trees_know_where_they_begin_and_are_read_before_a_fault() -> None:
    found = read_trees(io.BytesIO(b"(X a)\n\n\n(S\n (NN dog))\n)"))
    first, second = next(found), next(found)
    assert (first.first_line, second.first_line) == (1, 4)
    assert first.source == "<stream>"
    with pytest.raises(DataError, match=":6: "):
        next(found)


def test_markup_of_the_chinese_treebank_is_passed_over() -> None:
    text = (
        "<DOC>\n<DOCID> CHTB_001 </DOCID>\n<HEADER>\n<DATE> 1996\n(free) text\n</DATE>\n</HEADER>\n"
        "<BODY>\n<S ID=1>\n( (IP (NN 狗)\n (PU 。)) ) \n</S>\n"
        "<S ID=2> ((IP (NN 猫))) </S>\n<HEADER> one line </HEADER>\n"
        "((IP (PU\n<x>))) </S>\n</BODY>\n</DOC>\n"
    )
    words = [[node.word for node in tree.nodes if node.word] for tree in read(text)]
    assert words == [["狗", "。"], ["猫"], ["<x>"]]


def test_encodings() -> None:
    assert read("((IP (NN 狗)))", "gb18030") == read("((IP (NN 狗)))")
    assert read(b"\xef\xbb\xbf(NN a)") == read(b"(NN a)")
    with pytest.raises(DataError, match=r"<stream>:2: byte 5 of the line is not utf-8\nhint: name"):
        read(b"(NN a)\n(NN \xb9\xb7)")
    with pytest.raises(DataError, match=r":1: the line is not utf-7: half a character"):
        read(b"(NN +2AA-)", "utf-7")
    for encoding in ("klingon", "utf-16", "rot13", "punycode", "utf-8-sig", "a\0"):
        with pytest.raises(ConfigError, match=f"encoding '{encoding[0]}.*' is unknown"):
            read(b"(NN a)", encoding)


def test_words_under_one_tag_are_joined_when_asked() -> None:
    data = b"(NP (NR Ken\n Madsen Jr.) (NN a))"
    (tree,) = read_trees(io.BytesIO(data), join_words=True)
    assert [node.word for node in tree.nodes] == [None, "Ken_Madsen_Jr.", "a"]
    with pytest.raises(DataError, match=r":2: the word 'Madsen' .*\nhint: .*--join-words"):
        read(data)


def test_an_empty_file_has_no_trees() -> None:
    assert read("") == read(" \n\t\n") == []


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("(S\n (NN a)))\n", 2, "a ) without a ("),
        ("\n)", 2, "a ) without a ("),
        ("(S\n (NN a)\n", 1, "the file ends inside the tree that begins here: 1 bracket open"),
        ("(X a)\n(S (NP\n", 2, "the file ends inside the tree that begins here: 2 brackets open"),
        ("(S (NN a))\nwhat", 2, "'what' outside brackets"),
        ("1\tKids\t_\n", 1, "'1' outside brackets"),
        ("()", 1, "empty brackets"),
        ("(\n)", 2, "empty brackets (in the tree that begins in line 1)"),
        ("(S\n(NP)\n)", 2, "nothing under 'NP' (in the tree that begins in line 1)"),
        ("(S (NN New York))", 1, "the word 'York' beside 'New' under 'NN'"),
        ("(NP (DT the) dog)", 1, "the word 'dog' beside phrases under 'NP'"),
        ("(NP dog (DT the))", 1, "a phrase beside the word 'dog'"),
        ("((S (X a))\n( (S", 2, "a bracket without a label (in the tree that begins in line 1)"),
        ("(S (NN a) ((NN b)))", 1, "a bracket without a label"),
        ("<HEADER>\n(S (NN a))\n", 1, "the <HEADER> that begins here does not end"),
    ],
)
def test_what_is_malformed_has_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(DataError) as caught:
        read(text)
    message, hint = str(caught.value).split("\n")
    assert message == f"<stream>:{line}: {what}"
    assert hint.startswith("hint: ")


def test_sizes_are_bounded() -> None:
    deep = MAX_DEPTH
    assert len(one("(X " * (deep - 1) + "(X a" + ")" * deep).nodes) == deep
    with pytest.raises(DataError, match=r":1: a tree of more than .* 10,000 inside each other"):
        read("(X " * (deep + 1))
    assert list(read_trees(io.BytesIO(b"(X (X a) (X b))"), max_nodes=3))
    with pytest.raises(DataError, match="a tree of more than 3 brackets"):
        list(read_trees(io.BytesIO(b"(X (X a) (X b) (X c))"), max_nodes=3))
    line = b"(X a)" + b" " * (2**20 - 5)
    assert list(read_trees(io.BytesIO(line), max_line_bytes=2**20))
    with pytest.raises(DataError, match="a line of more than 1 MiB"):
        list(read_trees(io.BytesIO(line + b" "), max_line_bytes=2**20))


@FIXED
@given(st.lists(trees(), max_size=4))
@example([PhraseTree((Node("NN", -1, "dog"),))])
def test_written_trees_read_as_they_were(some: list[PhraseTree]) -> None:
    text = "".join(tree.text for tree in some)
    assert read(text) == some
    assert text.count("\n") == len(some)


@FIXED
@given(st.lists(trees(), min_size=1, max_size=3), st.data())
def test_white_space_is_all_the_same(some: list[PhraseTree], data: st.DataObject) -> None:
    text = "".join(tree.text for tree in some)
    space = data.draw(st.sampled_from(["\n", "\r\n", " \t ", "\n\n", "\f"]))
    loose = text.replace("(", f"({space}").replace(")", f"{space}){space}").replace(" ", space)
    # A line that starts with < is markup only outside of trees, and here all are inside.
    assert read(loose) == some


@FIXED
@given(
    st.binary(max_size=60)
    | st.text("()<> \n\tSNHEADR/", max_size=60).map(str.encode)
    | st.lists(st.sampled_from([b"(", b")", b"(NN a)", b"<S>", b"\xff", b"\n"])).map(b"".join),
    st.sampled_from(["utf-8", "gb18030", "latin-1", "utf-7", "hz", "big5"]),
)
def test_any_bytes_are_trees_or_a_data_error(data: bytes, encoding: str) -> None:
    try:
        for tree in read(data, encoding):
            assert read(tree.text) == [tree]
    except DataError as error:
        message = str(error)
        assert message.startswith("<stream>:")
