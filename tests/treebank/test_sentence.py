"""A sentence keeps its lines; a parse changes HEAD, DEPREL and predicted tags of a copy."""

import dataclasses
import io

import pytest

from headwise.errors import ConfigError, DataError
from headwise.treebank.conllu import as_bytes, read_sentences
from headwise.treebank.sentence import Parse, Sentence, Word, line_end, sentence_from_words

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
    assert read(TEXT).with_parse(PARSE).text == (
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
    with pytest.raises(ValueError):
        read(TEXT).with_parse(dataclasses.replace(PARSE, upos=("X",)))


def test_a_parse_leaves_the_sentence_as_it_was() -> None:
    sentence = read(TEXT)
    parsed = sentence.with_parse(PARSE)
    assert sentence.text == TEXT
    assert sentence.gold_heads() == (3, 3, 0)
    assert parsed.gold_heads() == PARSE.heads
    assert [word.deprel for word in parsed.words] == list(PARSE.labels)
    assert (parsed.rows, parsed.source, parsed.first_line) == ((2, 3, 5), "<stream>", 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        sentence.words = ()  # type: ignore[misc]


def test_the_gold_as_a_parse_changes_nothing() -> None:
    sentence = read(TEXT)
    labels = tuple(word.deprel for word in sentence.words)
    gold = Parse(sentence.gold_heads(), labels, (0.0,) * 3, "greedy")
    assert sentence.with_parse(gold) == sentence


@pytest.mark.parametrize(
    ("heads", "labels"), [((0,), ("a",)), ((0, 1, 1, 1), ("a",) * 4), ((0, 1, 1), ("a", "b"))]
)
def test_a_parse_of_another_length_is_an_error(
    heads: tuple[int, ...], labels: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError):
        read(TEXT).with_parse(Parse(heads, labels, (), "greedy"))


def test_words_are_counted_and_found() -> None:
    sentence = read(TEXT)
    assert len(sentence) == 3
    assert [sentence.line_of(position) for position in (1, 2, 3)] == [3, 4, 6]


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
    assert sentence.text == (
        "1\tKids\t_\t_\tNNS\t_\t_\t_\t_\t_\n2\tlove it\t_\t_\tVBP\t_\t_\t_\t_\t_\n\n"
    )
    assert sentence.words == read(sentence.text).words
    assert sentence.words[1] == Word("2", "love it", "_", "_", "VBP", *"_____")
    assert (sentence.source, sentence.line_of(2)) == ("<memory>", 2)
    parsed = sentence.with_parse(Parse((2, 0), ("nsubj", "root"), (0.0, 0.0), "greedy"))
    assert read(as_bytes(parsed).decode()).gold_heads() == (2, 0)


def test_no_words_are_a_sentence_too() -> None:
    sentence = sentence_from_words([], ["form"])
    assert (len(sentence), sentence.text, sentence.gold_heads()) == (0, "\n", ())
    assert sentence.with_parse(Parse((), (), (), "greedy")) == sentence


def test_a_row_has_a_value_for_each_column() -> None:
    with pytest.raises(ValueError):
        sentence_from_words([("Kids",)], ["form", "xpos"])


@pytest.mark.parametrize("form", ["", "a\tb", "a\n", "\r", "a\nb"])
def test_a_value_that_no_file_can_hold_is_refused(form: str) -> None:
    with pytest.raises(DataError, match=r"^<memory>: FORM of word 2 is '.*'\nhint: "):
        sentence_from_words([("Kids",), (form,)], ["form"])


@pytest.mark.parametrize("column", ["foo", "id"])
def test_a_column_that_cannot_be_given_is_refused(column: str) -> None:
    with pytest.raises(ConfigError, match=f"no column '{column}'"):
        sentence_from_words([("Kids", "1")], ["form", column])
