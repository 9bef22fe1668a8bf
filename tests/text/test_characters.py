"""Characters: ids of their own, or those of their class."""

import numpy as np
import pytest

from headwise.text.characters import (
    CLASSES,
    FIRST_CHARACTER,
    class_id,
    class_ids,
    joins_back,
    make_alphabet,
    to_codes,
    to_text,
)


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("A", "Lu"),
        ("ß", "Ll"),
        ("7", "Nd"),
        ("(", "Ps"),
        ("\u0301", "Mn"),
        ("語", "Han"),
        ("カ", "Kana"),
        ("한", "Hangul"),
        ("ก", "Lo"),
        ("😀", "So"),
        ("\U00020001", "Han"),
        ("\ud800", "Cs"),
    ],
)
def test_class_says_what_a_character_is(character: str, name: str) -> None:
    assert CLASSES[class_id(ord(character)) - 1] == name


def test_unknown_characters_have_the_id_of_their_class() -> None:
    alphabet = make_alphabet("ab")
    ids = alphabet.ids(to_codes("abcé"))
    assert ids.tolist() == [FIRST_CHARACTER, FIRST_CHARACTER + 1, *class_ids(to_codes("cé"))]
    assert alphabet.size == FIRST_CHARACTER + 2
    assert alphabet.classes[ids].tolist() == class_ids(to_codes("abcé")).tolist()


def test_codes_are_text_again() -> None:
    assert to_text(to_codes("a語😀")) == "a語😀"
    assert to_codes("\udc80").tolist() == [0xDC80]


def test_marks_and_hangul_vowels_belong_to_what_is_before() -> None:
    codes = to_codes("a\u0301\u0903\u1161\u11a8가")
    assert joins_back(codes, class_ids(codes)).tolist() == [False, True, True, True, True, False]
    assert joins_back(np.zeros(0, np.uint32), np.zeros(0, np.int32)).tolist() == []
