"""Cutting two files where both end a sentence, and the messages where their characters part."""

import sys
import unicodedata
from itertools import repeat

import pytest
from made_texts import read, spell
from made_trees import tree

from headwise.errors import DataError
from headwise.evaluate.metrics import ROOT_INDEX
from headwise.evaluate.passages import Side, pair_passages, without_spaces
from headwise.treebank.sentence import Sentence


def passages(gold: str, predicted: str) -> list[tuple[Side, Side]]:
    return list(pair_passages(spell("gold.conllu", gold), spell("out.conllu", predicted)))


def spans(side: Side) -> list[tuple[int, int]]:
    return [(token.start, token.end) for token in side.tokens]


def message(gold: list[Sentence], predicted: list[Sentence]) -> str:
    with pytest.raises(DataError) as caught:
        list(pair_passages(gold, predicted))
    assert caught.value.hint is not None
    return caught.value.what


def test_a_passage_ends_where_both_files_end_a_sentence() -> None:
    found = passages("today . | Yes", "to day . | Yes")
    assert [[len(side.sentences) for side in sides] for sides in found] == [[1, 1], [1, 1]]
    (gold, predicted), _ = found
    assert spans(gold) == [(0, 5), (5, 6)]
    assert spans(predicted) == [(0, 2), (2, 5), (5, 6)]


def test_a_passage_goes_on_until_the_sentences_meet() -> None:
    ((gold, predicted),) = passages("to day . | Yes", "today | . Yes")
    assert gold.sentences == ((0, 6), (6, 9))
    assert predicted.sentences == ((0, 5), (5, 9))
    assert [word.form for word in predicted.words] == ["today", ".", "Yes"]


def test_a_passage_ends_with_the_same_token_in_both_files_except_the_last() -> None:
    (gold, predicted), (last, _), (end, _) = passages("a bc | d | e | fg", "a b c | d | e | f g")
    assert len(gold.sentences) == len(predicted.sentences) == 2
    assert [side.words[0].form for side in (last, end)] == ["e", "fg"]


def test_heads_are_counted_in_the_passage() -> None:
    ((gold, predicted),) = passages("a/2 b | c/2 d/0 e/1", "a b c d/1 e")
    assert gold.heads == (1, ROOT_INDEX, 3, ROOT_INDEX, 2)
    assert predicted.heads == (ROOT_INDEX, ROOT_INDEX, ROOT_INDEX, 0, ROOT_INDEX)


def test_a_range_is_a_token_of_several_words() -> None:
    ((gold, predicted),) = passages("al=a+el mar", "al mar")
    assert [token.words for token in gold.tokens] == [range(2), range(2, 3)]
    assert [token.is_multi_word for token in gold.tokens] == [True, False]
    assert [token.line for token in gold.tokens] == [1, 4]
    assert spans(gold) == spans(predicted) == [(0, 2), (2, 5)]


def test_white_space_in_a_form_does_not_count() -> None:
    gold = read("gold", "1\t10 000\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    ((_, predicted),) = pair_passages(gold, spell("out", "10 000"))
    assert spans(predicted) == [(0, 2), (2, 5)]


def test_white_space_is_the_unicode_category() -> None:
    characters = map(chr, range(sys.maxunicode + 1))
    separators = "".join(c for c in characters if unicodedata.category(c) == "Zs")
    assert len(separators) > 10
    assert without_spaces(f"a{separators}b") == "ab"
    assert without_spaces("a\u200b\u2028b") == "a\u200b\u2028b"


def test_passages_are_read_lazily() -> None:
    endless = repeat(tree((0, "root")))
    assert next(pair_passages(endless, endless))


def test_blocks_without_words_are_passed_over() -> None:
    blank = read("blank", "\n\n# only a comment\n\n")
    gold = spell("gold", "a | b")
    assert len(list(pair_passages(blank + gold, gold + blank))) == 2
    assert list(pair_passages(blank, [])) == []


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        (
            "the cat | sat on it",
            "thecat sa d on it",
            "g:4: the characters differ after 'thecatsa': "
            "'tonit' (U+0074) here and 'donit' (U+0064) in p:3",
        ),
        (
            "thecat sa d on it",
            "the cat | sat on it",
            "g:3: the characters differ after 'thecatsa': "
            "'donit' (U+0064) here and 'tonit' (U+0074) in p:4",
        ),
        (
            "a b",
            "x b",
            "g:1: the characters differ at the start of a sentence: "
            "'ab' (U+0061) here and 'xb' (U+0078) in p:1",
        ),
        (
            "a" * 30 + "b" * 30,
            "a" * 30 + "c" * 30,
            f"g:1: the characters differ after '{'a' * 20}': "
            f"'{'b' * 20}' (U+0062) here and '{'c' * 20}' (U+0063) in p:1",
        ),
    ],
)
def test_a_different_character_names_both_lines(gold: str, predicted: str, expected: str) -> None:
    assert message(spell("g", gold), spell("p", predicted)) == expected


@pytest.mark.parametrize(
    ("gold", "predicted", "rest", "end"),
    [
        ("a b | c d", "a b", "g:4: the text continues with 'cd'", "p:3"),
        ("a b | c d", "a b | c", "g:5: the text continues with 'd'", "p:5"),
        ("a b | c d", "a | b c", "g:5: the text continues with 'd'", "p:5"),
        ("a b", "a b | c d", "p:4: the text continues with 'cd'", "g:3"),
        ("a b | c", "a b | c d", "p:5: the text continues with 'd'", "g:5"),
        ("a | b c", "a b | c d", "p:5: the text continues with 'd'", "g:5"),
        ("ab", "a b | c d", "p:4: the text continues with 'cd'", "g:2"),
        ("a", "", "g:1: the text continues with 'a'", "its start"),
        ("", "a", "p:1: the text continues with 'a'", "its start"),
    ],
)
def test_text_that_ends_early_names_both_lines(
    gold: str, predicted: str, rest: str, end: str
) -> None:
    expected = f"{rest} here, and the other file ends at {end}"
    assert message(spell("g", gold), spell("p", predicted)) == expected


WORD = "{}\t{}\t_\t_\t_\t_\t0\troot\t_\t_\n"
RANGE = "{}\tab\t_\t_\t_\t_\t_\t_\t_\t_\n"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (WORD.format(1, "\u00a0"), "g:1: FORM is nothing but white space"),
        (RANGE.format(1), "g:1: word 1 ('ab') has no HEAD"),
    ],
)
def test_sentences_that_cannot_be_compared(rows: str, expected: str) -> None:
    sentences = read("g", f"{rows}\n")
    assert message(sentences, sentences) == expected
