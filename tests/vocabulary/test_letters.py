"""Letters of any script, and both ends of long words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.errors import ModelError
from headwise.vocabulary.letters import (
    END_OF_WORD,
    MAX_LETTERS,
    N_LETTER_SPECIALS,
    PAD_LETTER,
    START_OF_WORD,
    UNKNOWN_LETTER,
    Letters,
    collect_letters,
)

ALPHABET = Letters("abc")


def test_letters_stand_between_start_and_end() -> None:
    assert ALPHABET.ids_of("cab").tolist() == [START_OF_WORD, 6, 4, 5, END_OF_WORD]
    assert ALPHABET.ids_of("").tolist() == [START_OF_WORD, END_OF_WORD]
    assert ALPHABET.ids_of("aé").tolist() == [START_OF_WORD, 4, UNKNOWN_LETTER, END_OF_WORD]
    assert ALPHABET.ids_of("a").dtype == np.int32
    assert len(ALPHABET) == N_LETTER_SPECIALS + 3


def test_without_an_alphabet_nothing_is_read() -> None:
    assert Letters().ids_of("cab").shape == (0,)
    assert Letters().ids_of_all(["cab", ""]).shape == (2, 0)


@settings(derandomize=True, database=None)
@given(st.lists(st.text("abcde\u00e9\U0001f600\ud800", max_size=30), max_size=6))
def test_words_are_read_together_as_they_are_alone(forms: list[str]) -> None:
    together = ALPHABET.ids_of_all(forms)
    assert together.dtype == np.int32
    for form, row in zip(forms, together, strict=True):
        ids = ALPHABET.ids_of(form)
        assert row.tolist() == ids.tolist() + [PAD_LETTER] * (len(row) - len(ids))


def test_both_ends_of_a_long_word_are_read() -> None:
    longest = "a" * (MAX_LETTERS // 2) + "b" * (MAX_LETTERS // 2)
    ids = ALPHABET.ids_of(longest).tolist()
    assert len(ids) == MAX_LETTERS + 2
    longer = longest[: MAX_LETTERS // 2] + "c" * 10_000 + longest[MAX_LETTERS // 2 :]
    assert ALPHABET.ids_of(longer).tolist() == ids


@settings(derandomize=True, database=None)
@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_script_is_read_within_bounds(form: str) -> None:
    ids = Letters(collect_letters([form], min_count=1)).ids_of(form)
    if form:
        assert len(ids) == min(len(form), MAX_LETTERS) + 2
        assert UNKNOWN_LETTER not in ids[1:-1]
        assert ids.max() < len(set(form)) + N_LETTER_SPECIALS
    else:
        assert len(ids) == 0


def test_frequent_letters_come_first_and_rare_ones_are_left_out() -> None:
    assert collect_letters(["abba", "ca", "éé"]) == ["a", "b", "é"]
    assert collect_letters(["abba", "ca"], min_count=1) == ["a", "b", "c"]


@pytest.mark.parametrize("letters", [["a", "a"], ["ab"], [""]])
def test_letters_are_distinct_single_characters(letters: list[str]) -> None:
    with pytest.raises(ModelError, match="a letter occurs twice in the alphabet, or is not one"):
        Letters(letters)
