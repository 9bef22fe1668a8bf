"""A segmenter on any text: well-formed CoNLL-U, correct offsets, no dependence on chunks."""

import re
from collections.abc import Iterator
from itertools import pairwise

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwise.errors import ModelError
from headwise.text.segmenter import (
    SEGMENTER_GRAPH,
    SEGMENTER_SETTINGS,
    Segmenter,
    read_text,
    why_no_text,
)
from tests.text.referee import HARD_TEXTS, as_written, check_segmentation, token_ranges

FIXED = settings(max_examples=120, deadline=None, derandomize=True, database=None)
ODD = st.sampled_from(
    list(" \t\r\n\x0b\x1c\x85\xa0\u2028\u2029\u3000\ufeff\x00\x1b\u0301\u1161\u1100_#|=ab.do😀אع語")
)
TEXT = st.text(ODD | st.characters(), max_size=60)


@FIXED
@given(TEXT, st.lists(st.integers(0, 60), max_size=5))
@example("a\r\rb\r\n\r\nc\n\nd", [2, 5])
@example("\u1100\u1161\u11a8", [1])
@example("_ # \u00a0", [])
def test_any_text_in_any_chunks_becomes_conllu(
    segmenter: Segmenter, text: str, cuts: list[int]
) -> None:
    found = list(segmenter.segment(text))
    check_segmentation(text, found)
    chunks = [text[i:j] for i, j in pairwise([0, *sorted(cuts), len(text)])]
    assert list(segmenter.segment(chunks)) == found


@FIXED
@given(TEXT)
def test_lines_and_tokens_are_kept(segmenter: Segmenter, text: str) -> None:
    body = text.removeprefix("\ufeff")
    n_lines = len([line for line in re.split("\r\n|[\r\n\x85\u2028\u2029]", body) if line.strip()])
    for form in ("lines", "tokens"):
        found = list(read_text(text, form, segmenter))
        assert len(found) == n_lines
        check_segmentation(text, found)
    forms = [word.form for sentence in found for word in sentence.words]
    assert forms == [as_written(part) for part in body.split()]


@pytest.mark.parametrize(
    "text",
    [*HARD_TEXTS.values(), "x" * 5_000, "word " * 5_000, "\u0301" * 5_000],
    ids=[*HARD_TEXTS, "one letter", "many words", "many marks"],
)
def test_hard_texts_have_bounded_sentences(segmenter: Segmenter, text: str) -> None:
    found = list(segmenter.segment(text))
    check_segmentation(text, found)
    tokens = [token_ranges(sentence) for sentence in found]
    assert max(map(len, tokens), default=0) <= 1_000
    assert max((end - start for one in tokens for _, start, end in one), default=0) <= 1_000


def test_a_stream_is_not_held_whole(segmenter: Segmenter) -> None:
    n_read = 0

    def endless() -> Iterator[str]:
        nonlocal n_read
        while True:
            n_read += 1
            yield "Kids love candy.\n\n" * 100

    assert next(read_text(endless(), "text", segmenter)).words[0].id == "1"
    assert n_read < 200


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"characters": "aa"}, "a character is listed twice"),
        ({"reach": 0}, "reach"),
        ({"more": 1}, "unknown field"),
        ({"characters": "abc" + "".join(map(chr, range(500, 900)))}, "does not fit"),
        ({"reach": 3}, "does not fit"),
        ({"reach": 40}, "does not fit"),
        ({"expansions": {"whole": {"a": ["b"]}}}, "expansion of 'a' is not valid"),
        ({"expansions": {"whole": {"a": ["b", ""]}}}, "not valid"),
        ({"expansions": {"whole": {"a": ["b", "c\td"]}}}, "not valid"),
        ({"expansions": {"endings": {"": ["b", "c"]}}}, "not valid"),
        ({"expansions": {"endings": {"a": ["b", ""]}}}, "not valid"),
        ({"expansions": {"beginnings": {"a": ["", "b"]}}}, "not valid"),
    ],
)
def test_settings_are_checked(
    files: dict[str, bytes], values: dict[str, object], message: str
) -> None:
    graph, settings = files[SEGMENTER_GRAPH], files[SEGMENTER_SETTINGS]
    changed = msgspec.json.encode(msgspec.json.decode(settings) | values)
    with pytest.raises(ModelError, match=message):
        Segmenter(graph, changed, "models/xx")


def test_damaged_files_are_refused(files: dict[str, bytes]) -> None:
    graph, settings = files[SEGMENTER_GRAPH], files[SEGMENTER_SETTINGS]
    with pytest.raises(ModelError, match=r"models/xx/segment\.onnx: "):
        Segmenter(graph[:200], settings, "models/xx")
    with pytest.raises(ModelError, match=r"models/xx/segment\.json: "):
        Segmenter(graph, settings[:20], "models/xx")


def test_a_model_that_reads_tags_cannot_parse_text() -> None:
    assert why_no_text(()) is None
    assert str(why_no_text(["xpos"])).startswith("this model reads the column XPOS, and text ")
    assert "the columns UPOS, FEATS, " in str(why_no_text(["upos", "feats"]))
