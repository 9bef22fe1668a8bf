import json
from shutil import get_terminal_size
from xml.etree import ElementTree

import pytest

from headwise import ConfigError, DataError, Malformed, Parse, sentence_from_words
from headwise.cli.streams import output
from headwise.cli.streams.output import (
    PAGE,
    SHOWN,
    WIDEST_TREE,
    Annotated,
    OutputFormat,
    Screen,
    columns_to_show,
    screen_of,
    written,
)

PARSE = Parse((2, 0), ("nsubj", "root"), (-0.01, -0.02), "greedy")
SENTENCE = sentence_from_words([("Kids",), ("sing",)], ["form"]).with_parse(PARSE)
EMPTY = sentence_from_words([], ["form"])
BROKEN = Malformed(b"what\n\n", DataError("broken", "here", 1))
ITEMS: list[Annotated] = [(SENTENCE, PARSE), (BROKEN, None), (EMPTY, None), (SENTENCE, PARSE)]


def written_out(form: OutputFormat, items: list[Annotated] = ITEMS, screen: Screen = PAGE) -> bytes:
    return b"".join(written(items, form, screen))


@pytest.mark.parametrize("form", ["conllu", "conllx"])
def test_conll_loses_nothing(form: OutputFormat) -> None:
    text = SENTENCE.conllu.encode()
    assert written_out(form) == text + b"what\n\n" + EMPTY.conllu.encode() + text


def test_json_has_one_object_a_line_and_only_sentences() -> None:
    lines = written_out("json").splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["Kids sing"] * 2


def test_trees_have_a_blank_line_between_them() -> None:
    drawn = written_out("tree").decode()
    assert drawn.count("Kids") == 2
    one, two = drawn.split("\n\n")
    assert one + "\n" == two


def test_a_tree_is_in_the_encoding_of_its_screen() -> None:
    screen = Screen(True, 80, True, "ascii")
    drawn = written_out("tree", ITEMS[:1], screen)
    assert drawn.isascii()
    assert b"\x1b[" in drawn


def test_pictures_show_the_columns_that_are_asked_for() -> None:
    full = sentence_from_words(
        [("Kids", "kid", "A=B"), ("sing", "sing", "_")], ["form", "lemma", "feats"]
    )
    items: list[Annotated] = [(full, PARSE)]
    for form in ("tree", "svg"):
        plain, asked = (
            b"".join(written(items, form, PAGE, columns))  # type: ignore[arg-type]
            for columns in (SHOWN, columns_to_show("feats, lemma,feats"))
        )
        assert b"A=B" in asked
        assert b"kid" in asked
        assert b"A=B" not in plain
    assert columns_to_show("feats, lemma,feats") == ("feats", "lemma")
    assert columns_to_show("") == ()
    with pytest.raises(ConfigError, match="--columns: there is no column 'heads'"):
        columns_to_show("upos,heads")


def test_pictures_are_one_file() -> None:
    picture = ElementTree.fromstring(written_out("svg"))
    assert len(picture.findall("{*}svg")) == 2
    assert ElementTree.fromstring(written_out("svg", ITEMS[:1])).find("{*}svg") is None
    assert len(ElementTree.fromstring(written_out("svg", []))) == 1  # only the background


def test_too_many_pictures_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "MAX_PICTURES", 2)
    assert written_out("svg")
    with pytest.raises(ConfigError, match="more than 2 sentences"):
        written_out("svg", ITEMS * 2)


def test_output_is_written_sentence_by_sentence() -> None:
    def endless() -> object:
        while True:
            yield SENTENCE, PARSE

    for form in ("conllu", "json", "tree"):
        assert b"Kids" in next(written(endless(), form, PAGE))  # type: ignore[arg-type]


def test_a_file_or_pipe_has_the_width_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns, width in (("66", 66), ("", None), ("0", None), ("wide", None)):
        monkeypatch.setenv("COLUMNS", columns)
        assert screen_of("tree.txt").width == screen_of("-").width == width
    monkeypatch.delenv("COLUMNS")
    assert screen_of("-").tree_width == WIDEST_TREE
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert screen_of("tree.txt").width is None
    assert screen_of("-").width == get_terminal_size().columns


def test_a_file_has_no_colour_and_utf8(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "66")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert screen_of("tree.txt") == Screen(False, 66, False, "utf-8")
    assert screen_of("-").colour
    monkeypatch.setenv("NO_COLOR", "")  # by convention, empty is as good as absent
    assert screen_of("-").colour
    monkeypatch.setenv("NO_COLOR", "1")
    assert screen_of("-").is_terminal
    assert not screen_of("-").colour
