"""Streams: bytes to text, text to symbols, whatever the chunks."""

import re
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwise.errors import DataError
from headwise.text.characters import to_codes, to_text
from headwise.text.stream import decode_utf8, in_pieces, read_symbols

FIXED = settings(max_examples=200, deadline=None, derandomize=True, database=None)
ODD = st.sampled_from(list(" \t\r\n\x0b\x0c\x1c\x85\xa0\u2028\u2029\u3000\ufeff\x00\x1b\u0301ab."))
TEXT = st.text(ODD | st.characters(), max_size=40)
CUTS = st.lists(st.integers(0, 40), max_size=6)


def cut(text: str, cuts: list[int]) -> list[str]:
    return [text[i:j] for i, j in pairwise([0, *sorted(cuts), len(text)])]


def symbols(chunks: list[str], by_line: bool = False) -> list[tuple[str, int]]:
    pieces = list(read_symbols(chunks, by_line))
    codes = [code for piece in pieces for code in piece.codes.tolist()]
    offsets = [offset for piece in pieces for offset in piece.offsets.tolist()]
    return [(chr(code), offset) for code, offset in zip(codes, offsets, strict=True)]


def expected(text: str, by_line: bool) -> str:
    """Say the same with regular expressions."""

    def gap(match: re.Match[str]) -> str:
        n_lines = len(re.findall("\r\n|[\r\n\x85\u2028\u2029]", match[0]))
        return "\u2029" if n_lines > 1 else "\u2028" if n_lines and by_line else " "

    body = re.sub(r"\s+", gap, text.strip())
    body = re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd]", "\u25a1", body)
    return body + "\u2029" * bool(body)


@FIXED
@given(TEXT, CUTS, st.booleans(), st.integers(1, 9))
@example("a\r\n\r\nb", [2, 3], False, 2)
@example("a\r\nb", [2], True, 9)
def test_symbols_do_not_depend_on_chunks(
    text: str, cuts: list[int], by_line: bool, piece: int
) -> None:
    with patch("headwise.text.stream.PIECE", piece):
        found = symbols(cut(text, cuts), by_line)
    assert "".join(character for character, _ in found) == expected(text, by_line)
    assert found == symbols([text], by_line)
    for character, offset in found:
        assert character in " \u2028\u2029\u25a1" or text[offset] == character


@FIXED
@given(TEXT, CUTS, st.integers(1, 9))
def test_pieces_have_one_length(text: str, cuts: list[int], piece: int) -> None:
    with patch("headwise.text.stream.PIECE", piece):
        pieces = list(in_pieces(cut(text, cuts)))
    assert "".join(pieces) == text
    assert all(len(part) == piece for part in pieces[:-1])
    assert len(pieces[-1]) < piece


@FIXED
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), CUTS)
def test_bytes_decode_however_they_are_cut(text: str, cuts: list[int]) -> None:
    data = text.encode()
    chunks = [data[i:j] for i, j in pairwise([0, *sorted(cuts), len(data)])]
    assert "".join(decode_utf8(chunks)) == text.removeprefix("\ufeff")


def test_only_the_first_byte_order_mark_is_left_out() -> None:
    data = "\ufeff\ufeffa\ufeff".encode()
    assert "".join(decode_utf8([data[:1], data[1:2], data[2:]])) == "\ufeffa\ufeff"


@pytest.mark.parametrize(
    ("chunks", "offset"),
    [([b"ab\xffc"], 2), ([b"ab", b"\xc3", b"(x"], 2), ([b"a\xe2\x82"], 1), ([b"\xe2", b"\x82"], 0)],
)
def test_bytes_that_are_no_text_are_refused_with_their_place(
    chunks: list[bytes], offset: int
) -> None:
    with pytest.raises(DataError, match=rf"here\.txt: byte {offset} .*\nhint: .*iconv"):
        list(decode_utf8(chunks, "here.txt"))


def test_nothing_gives_nothing() -> None:
    assert symbols([]) == symbols([""]) == symbols([" \n\n \t"]) == []
    assert list(decode_utf8([])) == []


def test_offsets_are_those_of_the_stream() -> None:
    pieces = list(read_symbols(["  ab", " \n\n", "c"]))
    codes = np.concatenate([piece.codes for piece in pieces])
    assert to_text(codes) == "ab\u2029c\u2029"
    assert codes.tolist() == to_codes("ab\u2029c\u2029").tolist()
    characters = [(c, o) for c, o in symbols(["  ab", " \n\n", "c"]) if c.isalpha()]
    assert characters == [("a", 2), ("b", 3), ("c", 7)]


@pytest.mark.parametrize(
    "start", [b"%PDF-1.7\n", b"PK\x03\x04rest", b"{\\rtf1 x}", b"\xd0\xcf\x11\xe0"]
)
def test_a_document_that_is_no_text_is_named(start: bytes) -> None:
    with pytest.raises(DataError, match=r"this is .*, not text") as caught:
        list(decode_utf8([start, b"more"], "a.doc"))
    assert "plain text" in str(caught.value)


def test_text_may_speak_of_documents() -> None:
    assert "".join(decode_utf8([b"see ", b"%PDF-1.7"])) == "see %PDF-1.7"
