"""A sentence keeps its lines; a parse changes HEAD, DEPREL and predicted tags of a copy."""

import dataclasses
import io
from pathlib import Path

import pytest

from headwise.errors import ConfigError, DataError
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import (
    EmptyNode,
    Parse,
    Sentence,
    Token,
    Word,
    line_end,
    sentence_from_tokens,
    sentence_from_words,
)

FIXTURES = Path(__file__).parents[1] / "fixtures"
TEXT = (
    "# text = It's cold\r\n"
    "1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tIt\tit\tPRON\tPRP\tNumber=Sing\t3\tnsubj\t3:nsubj\tA=1\r\n"
    "2\t's\tbe\tAUX\tVBZ\t_\t3\tcop\t3:cop\t_\n"
    "2.1\tvery\tvery\tADV\tRB\t_\t_\t_\t3:advmod\t_\n"
    "3\tcold\tcold\tADJ\tJJ\tDegree=Pos\t0\troot\t0:root\tSpaceAfter=No"
)
PARSE = Parse((2, 0, 2), ("a", "b", "c:d"), (-0.1, -0.2, -0.3), "eisner")


def read(text: str) -> Sentence:
    (sentence,) = read_sentences(io.BytesIO(text.encode()))
    return sentence


def test_a_parse_goes_to_the_columns_of_words_only() -> None:
    sentence = read(TEXT)
    parsed = sentence.with_parse(PARSE)
    assert sentence.conllu == TEXT
    assert parsed.gold_heads() == PARSE.heads
    assert (parsed.rows, parsed.source, parsed.first_line) == ((2, 3, 5), "<stream>", 1)
    assert parsed.conllu == (
        "# text = It's cold\r\n"
        "1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tIt\tit\tPRON\tPRP\tNumber=Sing\t2\ta\t3:nsubj\tA=1\r\n"
        "2\t's\tbe\tAUX\tVBZ\t_\t0\tb\t3:cop\t_\n"
        "2.1\tvery\tvery\tADV\tRB\t_\t_\t_\t3:advmod\t_\n"
        "3\tcold\tcold\tADJ\tJJ\tDegree=Pos\t2\tc:d\t0:root\tSpaceAfter=No"
    )


def test_tags_of_a_parse_go_to_their_columns() -> None:
    tagged = dataclasses.replace(PARSE, upos=("X", "Y", "Z"))
    words = read(TEXT).with_parse(tagged).words
    assert [(word.upos, word.xpos) for word in words] == [("X", "PRP"), ("Y", "VBZ"), ("Z", "JJ")]
    words = read(TEXT).with_parse(dataclasses.replace(tagged, xpos=("x", "y", "z"))).words
    assert [(word.upos, word.xpos) for word in words] == [("X", "x"), ("Y", "y"), ("Z", "z")]
    assert [word.feats for word in words] == ["Number=Sing", "_", "Degree=Pos"]
    full = dataclasses.replace(tagged, feats=("A=B", "_", "C=D"), lemmas=("I", "be", "_"))
    words = read(TEXT).with_parse(full).words
    assert [word.lemma for word in words] == ["I", "be", "_"]
    assert [word.feats for word in words] == ["A=B", "_", "C=D"]
    assert [word.upos for word in words] == ["X", "Y", "Z"]


@pytest.mark.parametrize(
    "columns",
    [
        {"heads": (0,)},
        {"heads": (0, 1, 1, 1)},
        {"labels": ("a", "b")},
        {"upos": ("X",)},
        {"lemmas": ("a",) * 4},
        {"feats": ("_",)},
    ],
)
def test_a_parse_of_another_length_is_an_error(columns: dict[str, tuple[object, ...]]) -> None:
    with pytest.raises(ValueError):
        read(TEXT).with_parse(dataclasses.replace(PARSE, **columns))  # type: ignore[arg-type]


def test_a_missing_head_is_an_error_when_gold_is_asked_for() -> None:
    sentence = read("# c\n1\tA\t_\t_\t_\t_\t0\tx\t_\t_\n2\tB\t_\t_\t_\t_\t_\t_\t_\t_\n")
    with pytest.raises(DataError) as refusal:
        sentence.gold_heads()
    assert str(refusal.value).startswith("<stream>:3: word 2 ('B') has no HEAD\nhint: ")


@pytest.mark.parametrize(
    ("line", "end"),
    [("a\n", "\n"), ("a\r\n", "\r\n"), ("a", ""), ("a\r\r\n", "\r\r\n"), ("a\x85", ""), ("", "")],
)
def test_line_end_is_newline_carriage_return_or_nothing(line: str, end: str) -> None:
    assert line_end(line) == end


def test_plain_words_become_a_sentence_that_can_be_read() -> None:
    sentence = sentence_from_words([("Kids", "NNS"), ("love it", "VBP")], ["form", "xpos"])
    assert sentence.conllu == (
        "1\tKids\t_\t_\tNNS\t_\t_\t_\t_\t_\n2\tlove it\t_\t_\tVBP\t_\t_\t_\t_\t_\n\n"
    )
    assert sentence.words == read(sentence.conllu).words
    assert sentence.words[1] == Word("2", "love it", "_", "_", "VBP", *"_____")
    assert (sentence.source, sentence.line_of(2)) == ("<memory>", 2)
    parsed = sentence.with_parse(Parse((2, 0), ("nsubj", "root"), (0.0, 0.0), "greedy"))
    assert read(parsed.data.decode()).gold_heads() == (2, 0)


def test_no_words_are_a_sentence_too() -> None:
    sentence = sentence_from_words([], ["form"])
    assert (len(sentence), sentence.conllu, sentence.gold_heads()) == (0, "\n", ())
    assert sentence.with_parse(Parse((), (), (), "greedy")) == sentence


@pytest.mark.parametrize("form", ["", "a\tb", "a\n", "\r"])
def test_a_value_that_no_file_can_hold_is_refused(form: str) -> None:
    with pytest.raises(DataError, match=r"^<memory>: FORM of word 2 is '.*'\nhint: "):
        sentence_from_words([("Kids",), (form,)], ["form"])


@pytest.mark.parametrize("column", ["foo", "id"])
def test_a_column_that_cannot_be_given_is_refused(column: str) -> None:
    with pytest.raises(ConfigError, match=f"no column '{column}'"):
        sentence_from_words([("Kids", "1")], ["form", column])


CONTRACTED = """# sent_id = 1
#text=
# newpar
1\tNo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\t,\t_\t_\t_\t_\t_\t_\t_\tTokenRange=2:3
3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|TokenRange=4:9
3\tdo\t_\t_\t_\t_\t_\t_\t_\t_
4\tn't\t_\t_\t_\t_\t_\t_\t_\t_
4.1\tgo\tgo\tVERB\tVB\tA=1\t_\t_\t3:dep\tB=2
5\t!\t_\t_\t_\t_\t_\t_\t_\tGloss=x|SpaceAfter=No
"""


def test_comments_and_empty_nodes_are_values() -> None:
    sentence = read(CONTRACTED)
    node = EmptyNode("4.1", "go", "go", "VERB", "VB", "A=1", "3:dep", "B=2", 8)
    assert sentence.empty_nodes == (node,)
    assert sentence.comments == ("sent_id = 1", "text=", "newpar")
    assert sentence.metadata == {"sent_id": "1", "text": "", "newpar": ""}
    assert read("#a=\n# a = b = c\n# a = d\n" + CONTRACTED).metadata["a"] == "b = c"


def test_tokens_are_multi_word_tokens_and_the_words_outside_of_them() -> None:
    sentence = read(CONTRACTED)
    dont = Token(3, 4, "don't", "SpaceAfter=No|TokenRange=4:9", 5, True)
    assert sentence.multi_word_tokens == (dont,)
    assert [token.form for token in sentence.tokens] == ["No", ",", "don't", "!"]
    assert sentence.tokens[2] == dont
    assert sentence.tokens[1] == Token(2, 2, ",", "TokenRange=2:3", 4, False)
    assert [token.has_space_after for token in sentence.tokens] == [False, True, False, False]
    assert [token.span for token in sentence.tokens] == [None, (2, 3), (4, 9), None]


def test_text_is_the_comment_or_the_tokens_put_together() -> None:
    assert read(CONTRACTED).text == "No, don't!"
    assert read("# text = a  b\n" + CONTRACTED).text == "a  b"
    alone = read("# alone\n\n")
    assert (alone.comments, alone.text, alone.tokens) == (("alone",), "", ())
    for sentence in read_sentences(FIXTURES / "ewt-dev-100.conllu"):
        bare = sentence_from_tokens([(t.form, t.misc, ()) for t in sentence.tokens])
        assert bare.text == sentence.text


@pytest.mark.parametrize(
    ("misc", "span"),
    [
        ("TokenRange=5:9", (5, 9)),
        ("SpaceAfter=No|TokenRange=0:1", (0, 1)),
        ("_", None),
        ("TokenRange=5", None),
        ("XTokenRange=5:9", None),
        (f"TokenRange=1:{'9' * 5000}", None),
    ],
)
def test_the_span_of_a_word_comes_from_misc(misc: str, span: tuple[int, int] | None) -> None:
    assert sentence_from_words([("a", misc)], ["form", "misc"]).words[0].span == span


@pytest.mark.parametrize("head", ["_", "3", "x", "-1", "٢", "9" * 5000])
def test_a_head_that_is_not_in_the_sentence_is_none(head: str) -> None:
    sentence = sentence_from_words([("a", head), ("b", "0")], ["form", "head"])
    assert sentence.heads == (None, 0)
