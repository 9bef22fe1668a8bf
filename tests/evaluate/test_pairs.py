"""Pairing gold and predicted sentences, and where it ends with an error."""

from itertools import repeat

import pytest
from made_texts import read, spell
from made_trees import tree

from headwise.errors import DataError
from headwise.evaluate.pairs import pair_sentences

GOLD = spell("gold.conllu", "a b/1 | c")


def test_pairing_is_lazy() -> None:
    endless = repeat(tree((0, "root")))
    assert next(pair_sentences(endless, endless))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b/1 | d", "gold.conllu:4: word 1 is 'c' here and 'd' in out.conllu:4"),
        ("a | c", "gold.conllu:1: the sentence has 2 words here and 1 in out.conllu:1"),
        (
            "a b",
            "gold.conllu:4: sentence 2 has no counterpart: the other file ends at out.conllu:3",
        ),
        (
            "a b | c | e",
            "out.conllu:6: sentence 3 has no counterpart: the other file ends at gold.conllu:5",
        ),
        ("", "gold.conllu:1: sentence 1 has no counterpart: the other file ends at its start"),
    ],
)
def test_a_difference_names_both_files(text: str, expected: str) -> None:
    with pytest.raises(DataError, match="the same sentences and words") as caught:
        list(pair_sentences(GOLD, spell("out.conllu", text)))
    assert caught.value.what == expected


def test_blocks_without_words_are_passed_over() -> None:
    blank = read("blank", "\n\n# only a comment\n\n")
    assert [len(sentence) for sentence in blank] == [0, 0]
    assert list(pair_sentences(blank + GOLD, GOLD + blank)) == list(zip(GOLD, GOLD, strict=True))
