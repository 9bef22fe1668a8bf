"""Text to symbols: white space, offsets and replaced characters, in chunks of any size."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwise.text.symbols import in_blocks, read_symbols, to_codes, to_text

FIXED = settings(max_examples=200, deadline=None, derandomize=True, database=None)
ODD = st.sampled_from(list(" \t\r\n\x0b\x0c\x1c\x85\xa0\u2028\u2029\u3000\ufeff\x00\x1b\u0301ab."))
TEXT = st.text(ODD | st.characters(), max_size=40)
CUTS = st.lists(st.integers(0, 40), max_size=6)


def cut(text: str, cuts: list[int]) -> list[str]:
    return [text[i:j] for i, j in pairwise([0, *sorted(cuts), len(text)])]


def symbols(
    chunks: str | list[str], by_line: bool = False, block_size: int = 100
) -> list[tuple[str, int]]:
    return [
        (chr(code), offset)
        for part in read_symbols(chunks, by_line, block_size)
        for code, offset in zip(part.codes.tolist(), part.offsets.tolist(), strict=True)
    ]


def with_patterns(text: str, by_line: bool) -> str:
    """Do the same with regular expressions."""

    def gap(match: re.Match[str]) -> str:
        n_lines = len(re.findall("\r\n|[\r\n\x85\u2028\u2029]", match[0]))
        return "\u2029" if n_lines > 1 else "\u2028" if n_lines and by_line else " "

    body = re.sub(r"\s+", gap, text.removeprefix("\ufeff").strip())
    body = re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd]", "\u25a1", body)
    return body + "\u2029" * bool(body)


@FIXED
@given(TEXT, CUTS, st.booleans(), st.integers(1, 9))
@example("a\r\n\r\nb", [2, 3], False, 2)
@example("a\r\nb", [2], True, 9)
def test_symbols_do_not_depend_on_chunks_or_blocks(
    text: str, cuts: list[int], by_line: bool, block_size: int
) -> None:
    found = symbols(cut(text, cuts), by_line, block_size)
    assert "".join(character for character, _ in found) == with_patterns(text, by_line)
    assert found == symbols(text, by_line)
    for character, offset in found:
        assert character in " \u2028\u2029\u25a1" or text[offset] == character


@FIXED
@given(TEXT, CUTS, st.integers(1, 9))
def test_blocks_have_one_length(text: str, cuts: list[int], size: int) -> None:
    blocks = list(in_blocks(cut(text, cuts), size))
    assert "".join(blocks) == text
    assert all(len(block) == size for block in blocks[:-1])
    assert len(blocks[-1]) < size


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ("\ufeffab", [("a", 1), ("b", 2), ("\u2029", 3)]),
        (["", "\ufeff", " a\ufeff"], [("a", 2), ("\ufeff", 3), ("\u2029", 4)]),
        (["  ab", " \n\n", "c"], [("a", 2), ("b", 3), ("\u2029", 7), ("c", 7), ("\u2029", 8)]),
        *(([], []), ("", []), (" \n\n \t", []), ("\ufeff", [])),
    ],
)
def test_offsets_count_from_the_start_and_a_byte_order_mark_there_is_white_space(
    chunks: str | list[str], expected: list[tuple[str, int]]
) -> None:
    assert symbols(chunks) == expected


def test_codes_are_text_again() -> None:
    assert to_text(to_codes("a語😀")) == "a語😀"
    assert to_codes("\udc80").tolist() == [0xDC80]
