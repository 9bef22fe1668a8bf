"""The text of a treebank: tokens, characters, labels, and the changes of an epoch."""

from pathlib import Path

import numpy as np
import pytest

from headwise import Sentence, read_sentences
from headwise.learn.segment.data import (
    Changes,
    GoldSentence,
    Token,
    changed_starts,
    encode_sentence,
    frequent_characters,
    gold_labels,
    gold_sentence,
    gold_sentences,
    gold_text,
    has_paragraphs,
    has_spaces_inside,
    is_spaced_out,
    paragraph_starts,
    with_marks_attached,
)
from headwise.text.symbols import to_text

FIXTURES = Path(__file__).parents[2] / "fixtures"
DO = Token("do", ("de", "o"), True)
DONT = Token("don't", ("do", "n't"), False)
STOP = Token(".", (".",), True)


def gold(name: str) -> list[GoldSentence]:
    return gold_sentences(list(read_sentences(FIXTURES / name)))


def test_surface_is_the_text_of_the_treebank(ewt_sentences: list[Sentence]) -> None:
    for sentence in ewt_sentences:
        (text,) = [line[9:-1] for line in sentence.lines if line.startswith("# text = ")]
        assert to_text(encode_sentence(gold_sentence(sentence)).codes) == text


@pytest.mark.parametrize("name", ["coptic-20.conllu", "ewt-empty-nodes-6.conllu"])
def test_all_words_are_there(name: str) -> None:
    sentences = list(read_sentences(FIXTURES / name))
    for sentence in sentences:
        words = [word for token in gold_sentence(sentence).tokens for word in token.words]
        assert words == [word.form for word in sentence.words]
    assert any(len(token.words) > 1 for one in gold(name) for token in one.tokens)


def test_paragraphs_are_read_off_comments() -> None:
    starts = [one.starts_paragraph for one in gold("ewt-dev-100.conllu")]
    assert starts[0]
    assert 1 < sum(starts) < 100
    assert has_paragraphs(gold("ewt-dev-100.conllu"))
    assert not has_paragraphs([GoldSentence((STOP,), False)] * 10)


def test_characters_carry_what_ends_at_them() -> None:
    encoded = encode_sentence(GoldSentence((DO, DONT, STOP), True))
    assert to_text(encoded.codes) == "do don't."
    assert encoded.boundary.tolist() == [0, 2, 0, 0, 1, 0, 0, 2, 2]
    assert encoded.expands.tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0]
    assert encoded.has_space


def test_sentences_are_joined_by_space_break_or_nothing() -> None:
    sentences = [
        GoldSentence((DO, STOP), True),
        GoldSentence((STOP, DONT), False),
        GoldSentence((DO, STOP), True),
    ]
    encoded = [encode_sentence(sentence) for sentence in sentences]
    text = gold_text(encoded, paragraph_starts(encoded, True))
    assert to_text(text.codes) == "do . . don't\u2029do .\u2029"
    assert np.flatnonzero(text.sentence).tolist() == [3, 11, 16]
    bare = gold_text(encoded, np.array([True, True, True]), np.array([True] * 3))
    assert to_text(bare.codes) == "do \u2029. don't\u2029do \u2029".replace(" \u2029", "\u2029")
    mark = gold_text([encode_sentence(GoldSentence((STOP,), True))], *np.ones((2, 1), np.bool_))
    assert to_text(mark.codes) == ".\u2029"
    without = gold_text(encoded, paragraph_starts(encoded, False))
    assert to_text(without.codes) == "do . . don'tdo .\u2029"
    labels, words = gold_labels(text, sentences)
    assert labels[:4].tolist() == [0, 2 | 8, 0, 2 | 4]
    assert words == {1: ("de", "o"), 14: ("de", "o")}


def test_changes_are_drawn() -> None:
    encoded = [encode_sentence(GoldSentence((DO, STOP), i % 2 == 0)) for i in range(1000)]
    random = np.random.default_rng(1)
    same = changed_starts(encoded, True, Changes(0.0, 0.0, 0.0), random)
    assert same.tolist() == [i % 2 == 0 for i in range(1000)]
    joined = changed_starts(encoded, True, Changes(0.5, 0.0, 0.0), random)
    assert 200 < joined.sum() < 300
    alone = changed_starts(encoded, True, Changes(0.0, 0.5, 0.0), random)
    assert alone.sum() > 600
    drawn = changed_starts(encoded, False, Changes(0.0, 0.0, 0.0), random)
    assert 130 < drawn.sum() < 270
    assert drawn[0]


def test_marks_can_be_attached() -> None:
    forms = ["(", "a", ")", "b", ",", "?!", "c", "..."]
    spaced = GoldSentence(tuple(Token(form, (form,), True) for form in forms), True)
    assert is_spaced_out([spaced])
    attached = with_marks_attached(spaced)
    assert to_text(encode_sentence(attached).codes) == "(a) b,?! c..."
    assert attached.tokens[-1].has_space
    assert not is_spaced_out([attached])


def test_alphabet_and_spaces_inside() -> None:
    encoded = [encode_sentence(GoldSentence((DO, DO, STOP), True))]
    assert frequent_characters(encoded, 2) == [" ", "d", "o"]
    assert not has_spaces_inside([GoldSentence((DO,), True)])
    assert has_spaces_inside([GoldSentence((Token("a b", ("a b",), True),), True)])
