"""Cutting two files where both end a sentence, and the messages where their characters part."""

import sys
import unicodedata
from itertools import repeat

import pytest
from made_texts import read, spell
from made_trees import tree

from headwise.errors import DataError
from headwise.evaluate.passages import ROOT_INDEX, Side, pair_passages, without_spaces
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


def test_a_passage_ends_with_the_same_token_in_both_files() -> None:
    ((gold, predicted), (last, _)) = passages("a bc | d | e", "a b c | d | e")
    assert len(gold.sentences) == len(predicted.sentences) == 2
    assert last.words[0].form == "e"


def test_the_last_passage_may_end_with_another_token() -> None:
    ((gold, predicted),) = passages("a bc", "a b c")
    assert (len(gold.words), len(predicted.words)) == (2, 3)


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


def test_two_empty_files_have_no_passage() -> None:
    assert list(pair_passages([], [])) == []


@pytest.mark.parametrize("is_swapped", [False, True])
def test_a_different_character_names_both_lines(is_swapped: bool) -> None:
    texts = ["the cat | sat on it", "thecat sa d on it"]
    places = [("gold.conllu:4", "tonit' (U+0074)"), ("out.conllu:3", "donit' (U+0064)")]
    if is_swapped:
        texts.reverse()
        places = [("gold.conllu:3", "donit' (U+0064)"), ("out.conllu:4", "tonit' (U+0074)")]
    (here, ours), (there, theirs) = places
    expected = (
        f"{here}: the characters differ after 'thecatsa': '{ours} here and '{theirs} in {there}"
    )
    assert message(spell("gold.conllu", texts[0]), spell("out.conllu", texts[1])) == expected


def test_a_different_first_character_is_told() -> None:
    found = message(spell("g", "a b"), spell("p", "x b"))
    expected = (
        "g:1: the characters differ at the start of a sentence: "
        "'ab' (U+0061) here and 'xb' (U+0078) in p:1"
    )
    assert found == expected


def test_long_texts_are_shown_in_part() -> None:
    found = message(spell("g", "a" * 90 + "b" * 90), spell("p", "a" * 90 + "c" * 90))
    assert f"after '{'a' * 20}': '{'b' * 20}' (U+0062)" in found


@pytest.mark.parametrize("predicted", ["a b", "a b | c", "a | b c"])
def test_predicted_text_that_ends_early_is_told(predicted: str) -> None:
    found = message(spell("g", "a b | c d"), spell("p", predicted))
    rest = "cd" if predicted == "a b" else "d"
    assert f"the text goes on with '{rest}' here, and the other file ends at p:" in found
    assert found.startswith("g:")


@pytest.mark.parametrize("gold", ["a b", "a b | c", "a | b c", "ab"])
def test_gold_text_that_ends_early_is_told(gold: str) -> None:
    found = message(spell("g", gold), spell("p", "a b | c d"))
    assert "here, and the other file ends at g:" in found
    assert found.startswith("p:")


def test_an_empty_side_is_told() -> None:
    assert message(spell("g", "a"), []).endswith("the other file ends at its start")
    assert message([], spell("p", "a")).startswith("p:1: the text goes on with 'a'")


def test_a_form_of_white_space_is_refused() -> None:
    blank = read("g", "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\t\u00a0\t_\t_\t_\t_\t1\tdep\t_\t_\n\n")
    assert message(blank, blank) == "g:2: FORM is nothing but white space"


def test_ranges_that_overlap_are_refused() -> None:
    word = "\t_\t_\t_\t_\t0\troot\t_\t_\n"
    range_ = "\tab\t_\t_\t_\t_\t_\t_\t_\t_\n"
    overlap = read("g", f"1-2{range_}1\ta{word}2-3{range_}2\tb{word}3\tc{word}\n")
    assert message(overlap, overlap) == "g:3: the range 2-3 overlaps the one before it"


def test_a_word_without_head_is_refused() -> None:
    blank = read("g", "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    assert message(blank, blank) == "g:1: word 1 ('a') has no HEAD"
