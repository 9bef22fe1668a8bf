"""Sentences from labels: forms, ranges, offsets and forced cuts."""

from collections.abc import Iterator

import numpy as np
import pytest

from headwise.errors import DataError
from headwise.text.assemble import assemble
from headwise.text.expand import Expansions
from headwise.text.scan import EXPANDS, SENTENCE_END, TOKEN_END, WORD_END, Labelled, is_white_space
from headwise.text.symbols import read_symbols
from headwise.treebank.sentence import Sentence

MARKS = {"|": TOKEN_END, "+": WORD_END, "*": TOKEN_END | EXPANDS, "/": TOKEN_END | SENTENCE_END}
RULES = Expansions({"do": ("de", "o")})


def labelled(marked: str, n: int = 100) -> Iterator[Labelled]:
    """Label `ab|c/` by the marks after its characters; yield n symbols at a time."""
    labels: list[int] = []
    for character in marked:
        if character in MARKS:
            labels[-1] |= MARKS[character]
        else:
            labels.append(0)
    for part in read_symbols(marked.translate(dict.fromkeys(map(ord, MARKS)))):
        values = np.array([*labels, 0], np.uint8)[part.offsets]
        values[is_white_space(part.codes)] = 0
        for i in range(0, len(values), n):
            some = slice(i, i + n)
            scores = np.zeros(len(values[some]), np.float32)
            yield Labelled(part.codes[some], part.offsets[some], values[some], scores, scores)


def rows(sentence: Sentence) -> list[tuple[str, str, str]]:
    columns = [line.rstrip("\n").split("\t") for line in sentence.lines if "\t" in line]
    return [(number, form, misc) for number, form, *_, misc in columns]


@pytest.mark.parametrize("n", [1, 2, 3, 100])
def test_a_sentence_in_full(n: int) -> None:
    first, second = assemble(labelled("We| do+n't|  do*./\n\nNo/", n), RULES)
    assert first.conllu == (
        "# newpar\n"
        "# sent_id = 1\n"
        "# text = We don't do.\n"
        "1\tWe\t_\t_\t_\t_\t_\t_\t_\tTokenRange=0:2\n"
        "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tTokenRange=3:8\n"
        "2\tdo\t_\t_\t_\t_\t_\t_\t_\tTokenRange=3:5\n"
        "3\tn't\t_\t_\t_\t_\t_\t_\t_\tTokenRange=5:8\n"
        "4-5\tdo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|TokenRange=10:12\n"
        "4\tde\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "5\to\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "6\t.\t_\t_\t_\t_\t_\t_\t_\tTokenRange=12:13\n"
        "\n"
    )
    assert [word.form for word in first.words] == ["We", "do", "n't", "de", "o", "."]
    assert first.lines[first.rows[3]].startswith("4\tde\t")
    assert second.lines[:3] == ("# newpar\n", "# sent_id = 2\n", "# text = No\n")
    first, second = assemble(labelled("a/b/", n), RULES)
    assert rows(first) == [("1", "a", "SpaceAfter=No|TokenRange=0:1")]
    assert second.lines[0] == "# sent_id = 2\n"
    assert list(assemble([], RULES)) == []


def test_a_token_that_expands_without_a_rule_is_kept_or_cut() -> None:
    (sentence,) = assemble(labelled("xy* x+y*./"), RULES)
    found = [f"{number} {form}" for number, form, _ in rows(sentence)]
    assert found == ["1 xy", "2-3 xy", "2 x", "3 y", "4 ."]


def test_a_token_with_a_space_is_one_word() -> None:
    (sentence,) = assemble(labelled("a+a b|/"), RULES)
    assert rows(sentence) == [("1", "aa b", "TokenRange=0:4")]


def test_forms_are_normalised_and_offsets_are_not() -> None:
    (sentence,) = assemble(labelled("e\u0301| e\u0301+x/"), RULES)
    assert sentence.lines[2] == "# text = \u00e9 \u00e9x\n"
    assert rows(sentence) == [
        ("1", "\u00e9", "TokenRange=0:2"),
        ("2-3", "\u00e9x", "TokenRange=3:6"),
        ("2", "\u00e9", "TokenRange=3:5"),
        ("3", "x", "TokenRange=5:6"),
    ]


def test_forms_that_would_merge_are_written_apart() -> None:
    (sentence,) = assemble(labelled("e|\u0301/"), RULES)
    assert sentence.lines[2] == "# text = e \u0301\n"
    assert rows(sentence) == [("1", "e", "TokenRange=0:1"), ("2", "\u0301", "TokenRange=1:2")]


@pytest.mark.parametrize("n", [1, 3, 4, 5, 100])
def test_long_sentences_are_cut(n: int) -> None:
    marked = labelled("a| b| c| d| e| f| g/ h| i| j/\n\nk/", n)
    found = list(assemble(marked, RULES, max_tokens=3))
    assert [len(sentence) for sentence in found] == [3, 3, 1, 3, 1]
    starts = [i for i, sentence in enumerate(found) if sentence.lines[0] == "# newpar\n"]
    assert starts == [0, 4]


@pytest.mark.parametrize("n", [1, 3, 4, 5, 100])
def test_long_tokens_are_cut(n: int) -> None:
    marked = labelled("abcdefg| ab c d| efg|hi/", n)
    (sentence,) = assemble(marked, RULES, max_token_length=3)
    forms = [form for _, form, _ in rows(sentence)]
    assert forms == ["abc", "def", "g", "ab", "c d", "efg", "hi"]


def test_a_line_is_never_cut_but_may_be_refused() -> None:
    (sentence,) = assemble(labelled("a| b| c/"), RULES, by_line=True, max_tokens=2)
    assert len(sentence) == 3
    long = assemble(labelled("a/\n\na| b| c| d/", 3), RULES, True, "x.txt", max_line_length=4)
    with pytest.raises(DataError, match=r"^x\.txt: .* at character 3 has more than 4 .*\nhint: "):
        list(long)
