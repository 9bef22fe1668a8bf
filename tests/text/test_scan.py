"""Labels: windows and neighbours change nothing, and rules stand above the network."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.text.characters import Ids, make_alphabet
from headwise.text.scan import (
    EXPANDS,
    SENTENCE_END,
    TOKEN_END,
    WORD_END,
    Scanner,
    Scores,
    label_by_space,
)
from headwise.text.stream import read_symbols

FIXED = settings(max_examples=100, deadline=None, derandomize=True, database=None)
REACH = 3
TEXT = st.text(st.sampled_from("ab. \n\u0301語"), max_size=60)


def hashed(ids: Ids) -> Scores:
    """Score by a scramble of all that is in reach: as fickle as a network can be."""
    n = len(ids) - 2 * REACH
    mixed = np.zeros(n, np.uint64)
    for i in range(2 * REACH + 1):
        mixed = mixed * np.uint64(1_000_003) + ids[i : i + n].astype(np.uint64)
    parts = [(mixed >> np.uint64(k)) % np.uint64(7) for k in (3, 7, 11, 17, 23)]
    return np.stack(parts, axis=1).astype(np.float32) - 3


def fixed(*scores: float) -> "type[Scores] | object":
    return lambda ids: np.tile(np.array(scores, np.float32), (len(ids) - 2 * REACH, 1))


def scanner(network: object = hashed, spaces_inside: bool = False) -> Scanner:
    return Scanner(network, make_alphabet("ab. "), REACH, spaces_inside)  # type: ignore[arg-type]


def labels(text: str, with_scanner: Scanner, by_line: bool = False) -> list[int]:
    parts = with_scanner.label(read_symbols([text], by_line), by_line)
    return [label for part in parts for label in part.labels.tolist()]


@FIXED
@given(TEXT, st.integers(1, 12), st.integers(1, 12))
def test_windows_and_pieces_change_nothing(text: str, window: int, piece: int) -> None:
    expected = labels(text, scanner())
    with patch("headwise.text.scan.WINDOW", window), patch("headwise.text.stream.PIECE", piece):
        assert labels(text, scanner()) == expected


@FIXED
@given(TEXT, TEXT)
def test_paragraphs_do_not_see_their_neighbours(first: str, second: str) -> None:
    alone = labels(first, scanner()) + labels(second, scanner())
    assert labels(f"{first}\n\n{second}", scanner()) == alone


def test_white_space_ends_tokens_and_paragraphs_end_sentences() -> None:
    never = scanner(fixed(1, 0, 0, -1, -1))
    assert labels("ab a\n\nb", never) == [0, 2, 0, 6, 0, 6, 0]
    inside = scanner(fixed(1, 0, 0, -1, -1), spaces_inside=True)
    assert labels("ab a\n\nb", inside) == [0, 0, 0, 6, 0, 6, 0]


def test_scores_become_bits() -> None:
    everywhere = scanner(fixed(0, 0, 1, 1, 1))
    assert labels("a b", everywhere) == [TOKEN_END | SENTENCE_END | EXPANDS, 0, 14, 0]
    words = scanner(fixed(0, 1, 0, -1, -1))
    assert labels("ab", words) == [WORD_END, TOKEN_END | SENTENCE_END, 0]


def test_nothing_ends_before_a_mark() -> None:
    everywhere = scanner(fixed(0, 0, 1, 1, -1))
    assert labels("a\u0301b", everywhere) == [0, 6, 6, 0]
    words = scanner(fixed(0, 1, 0, -1, -1))
    assert labels("a\u0301b", words) == [0, WORD_END, 6, 0]
    assert labels("a \u0301", everywhere) == [6, 0, 6, 0]


def test_lines_are_sentences_where_they_are_asked_to_be() -> None:
    everywhere = scanner(fixed(0, 0, 1, 1, -1))
    assert labels("ab a\nb", everywhere, by_line=True) == [2, 2, 0, 6, 0, 6, 0]


@pytest.mark.parametrize("piece", [1, 2, 3, 100])
def test_tokens_by_space(piece: int) -> None:
    with patch("headwise.text.stream.PIECE", piece):
        parts = list(label_by_space(read_symbols(["a.b c\nd\n\ne"], by_line=True)))
    assert [label for part in parts for label in part.labels.tolist()] == [
        *(0, 0, TOKEN_END, 0, 6, 0, 6, 0, 6, 0)
    ]


def test_nothing_gives_nothing() -> None:
    assert labels("", scanner()) == []
    assert [part.labels.tolist() for part in label_by_space([])] == [[]]
