"""Pairing gold and predicted sentences, and where it ends with an error."""

import io
from itertools import repeat

import pytest
from made_trees import tree

from headwise.errors import DataError
from headwise.evaluate.pairs import pair_sentences
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import Sentence


def read(name: str, text: str) -> list[Sentence]:
    """Read `form/head` words; `|` ends a sentence."""
    lines = []
    for block in text.split("|"):
        lines.append("# text\n")
        for number, word in enumerate(block.split(), 1):
            form, head = word.split("/")
            lines.append(f"{number}\t{form}\t_\t_\t_\t_\t{head}\tdep\t_\t_\n")
        lines.append("\n")
    stream = io.BytesIO("".join(lines).encode())
    stream.name = name  # type: ignore[attr-defined]  # so that messages can name it
    return list(read_sentences(stream))


GOLD = read("gold.conllu", "a/0 b/1 | c/0")


def message(gold: list[Sentence], predicted: list[Sentence]) -> str:
    with pytest.raises(DataError) as caught:
        list(pair_sentences(gold, predicted))
    assert caught.value.hint is not None
    assert "same tokenisation" in caught.value.hint
    return caught.value.what


def test_sentences_are_paired_in_order() -> None:
    assert list(pair_sentences(GOLD, GOLD)) == list(zip(GOLD, GOLD, strict=True))


def test_pairing_is_lazy() -> None:
    endless = repeat(tree((0, "root")))
    assert next(pair_sentences(endless, endless))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a/0 b/1 | d/0", "gold.conllu:6: word 1 is 'c' here and 'd' in out.conllu:6"),
        ("a/0 | c/0", "gold.conllu:1: the sentence has 2 words here and 1 in out.conllu:1"),
        (
            "a/0 b/1",
            "gold.conllu:5: sentence 2 has no partner: the other file ends at out.conllu:4",
        ),
        (
            "a/0 b/1 | c/0 | e/0",
            "out.conllu:8: sentence 3 has no partner: the other file ends at gold.conllu:7",
        ),
    ],
)
def test_a_difference_names_both_files(text: str, expected: str) -> None:
    assert message(GOLD, read("out.conllu", text)) == expected


def test_an_empty_file_ends_at_its_start() -> None:
    assert message(GOLD, []).endswith("the other file ends at its start")


def test_blocks_without_words_are_passed_over() -> None:
    blank = list(read_sentences(io.BytesIO(b"\n\n# only a comment\n\n")))
    assert [len(sentence) for sentence in blank] == [0, 0]
    assert len(list(pair_sentences(blank + GOLD, GOLD + blank))) == len(GOLD)
