"""Labels: windows, blocks and neighbours do not change them, and rules override the network."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.text.scan import (
    CHARACTER_CLASSES,
    EXPANDS,
    FIRST_CHARACTER,
    SENTENCE_END,
    TOKEN_END,
    WINDOW,
    WORD_END,
    BoundaryScores,
    CharacterIds,
    CharacterScorer,
    Scanner,
    class_id,
    class_ids,
    joins_previous,
    label_by_space,
    make_alphabet,
)
from headwise.text.symbols import BLOCK_SIZE, read_symbols, to_codes

FIXED = settings(max_examples=100, deadline=None, derandomize=True, database=None)
REACH = 3
TEXT = st.text(st.sampled_from("ab. \n\u0301語"), max_size=60)
BOTH = TOKEN_END | SENTENCE_END
ALPHABET = make_alphabet("ab. ")


def hashed(ids: CharacterIds) -> BoundaryScores:
    """Score by a hash of everything in reach, so that any change shows."""
    n = len(ids) - 2 * REACH
    mixed = np.zeros(n, np.uint64)
    for i in range(2 * REACH + 1):
        mixed = mixed * np.uint64(1_000_003) + ids[i : i + n].astype(np.uint64)
    parts = [(mixed >> np.uint64(k)) % np.uint64(7) for k in (3, 7, 11, 17, 23)]
    return np.stack(parts, axis=1).astype(np.float32) - 3


def fixed(*scores: float) -> CharacterScorer:
    return lambda ids: np.tile(np.array(scores, np.float32), (len(ids) - 2 * REACH, 1))


def labels(
    text: str,
    network: CharacterScorer = hashed,
    spaces_inside: bool = False,
    by_line: bool = False,
    window: int = WINDOW,
    block_size: int = BLOCK_SIZE,
) -> list[int]:
    scanner = Scanner(network, ALPHABET, REACH, spaces_inside, window)
    parts = scanner.label(read_symbols(text, by_line, block_size), by_line)
    return [label for part in parts for label in part.labels.tolist()]


@FIXED
@given(TEXT, st.integers(1, 12), st.integers(1, 12))
def test_windows_and_blocks_change_nothing(text: str, window: int, block_size: int) -> None:
    assert labels(text, window=window, block_size=block_size) == labels(text)


@FIXED
@given(TEXT, TEXT)
def test_paragraphs_do_not_see_their_neighbours(first: str, second: str) -> None:
    assert labels(f"{first}\n\n{second}") == labels(first) + labels(second)


NEVER = fixed(1, 0, 0, -1, -1)
TOKENS = fixed(0, 0, 1, 1, -1)
EXPANDING = fixed(0, 0, 1, 1, 1)
WORDS = fixed(0, 1, 0, -1, -1)


@pytest.mark.parametrize(
    ("text", "network", "expected", "options"),
    [
        ("ab a\n\nb", NEVER, [0, TOKEN_END, 0, BOTH, 0, BOTH, 0], {}),
        ("ab a\n\nb", NEVER, [0, 0, 0, BOTH, 0, BOTH, 0], {"spaces_inside": True}),
        ("ab a\nb", TOKENS, [2, 2, 0, BOTH, 0, BOTH, 0], {"by_line": True}),
        ("a b", EXPANDING, [BOTH | EXPANDS, 0, BOTH | EXPANDS, 0], {}),
        ("ab", WORDS, [WORD_END, BOTH, 0], {}),
        ("a\u0301b", TOKENS, [0, BOTH, BOTH, 0], {}),
        ("a\u0301b", WORDS, [0, WORD_END, BOTH, 0], {}),
        ("a \u0301", TOKENS, [BOTH, 0, BOTH, 0], {}),
        ("", TOKENS, [], {}),
    ],
)
def test_rules_override_the_network(
    text: str, network: CharacterScorer, expected: list[int], options: dict[str, bool]
) -> None:
    assert labels(text, network, **options) == expected


@pytest.mark.parametrize("block_size", [1, 2, 3, 100])
def test_tokens_by_space(block_size: int) -> None:
    parts = list(label_by_space(read_symbols("a.b c\nd\n\ne", True, block_size)))
    assert [label for part in parts for label in part.labels.tolist()] == [
        *(0, 0, TOKEN_END, 0, BOTH, 0, BOTH, 0, BOTH, 0)
    ]
    assert [part.labels.tolist() for part in label_by_space([])] == [[]]


@pytest.mark.parametrize(
    ("characters", "name"),
    [
        ("A", "Lu"), ("ß", "Ll"), ("7", "Nd"), ("(", "Ps"), ("\u0301", "Mn"), ("ก", "Lo"),
        ("😀", "So"), ("語\U00020001", "Han"), ("カ", "Kana"), ("한", "Hangul"), ("\ud800", "Cs"),
    ],
)  # fmt: skip
def test_classes_are_categories_and_scripts(characters: str, name: str) -> None:
    assert {CHARACTER_CLASSES[class_id(ord(character)) - 1] for character in characters} == {name}


def test_unknown_characters_have_the_id_of_their_class() -> None:
    alphabet = make_alphabet("ab")
    ids = alphabet.ids(to_codes("abcé"))
    assert ids.tolist() == [FIRST_CHARACTER, FIRST_CHARACTER + 1, *class_ids(to_codes("cé"))]
    assert alphabet.size == FIRST_CHARACTER + 2
    assert alphabet.classes[ids].tolist() == class_ids(to_codes("abcé")).tolist()


def test_marks_and_hangul_vowels_join_the_character_before() -> None:
    found = joins_previous(to_codes("a\u0301\u0903\u1161\u11a8가"))
    assert found.tolist() == [False, True, True, True, True, False]
    assert joins_previous(to_codes("")).tolist() == []
