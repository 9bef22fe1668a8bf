"""The text of a treebank: tokens, labels, the changes of an epoch, and batches."""

from pathlib import Path

import numpy as np
import pytest

from headwise import Sentence, read_sentences
from headwise.learn.segment.data import (
    IGNORED,
    GoldSentence,
    GoldToken,
    draw_paragraph_starts,
    encode_sentence,
    frequent_characters,
    gold_sentences,
    gold_text,
    has_paragraphs,
    has_space_everywhere,
    has_spaces_inside,
    hide_characters,
    make_targets,
    paragraph_starts,
    segment_batches,
    with_marks_attached,
)
from headwise.settings.training import SegmentConfig
from headwise.text.scan import FIRST_CHARACTER, SENTENCE_END, make_alphabet
from headwise.text.symbols import to_text

FIXTURES = Path(__file__).parents[2] / "fixtures"
DO = GoldToken("do", ("de", "o"), True)
DONT = GoldToken("don't", ("do", "n't"), False)
STOP = GoldToken(".", (".",), True)


def test_surface_is_the_text_of_the_treebank(ewt_sentences: list[Sentence]) -> None:
    for sentence, gold in zip(ewt_sentences, gold_sentences(ewt_sentences), strict=True):
        assert to_text(encode_sentence(gold).codes) == sentence.text


@pytest.mark.parametrize("name", ["coptic-20.conllu", "ewt-empty-nodes-6.conllu"])
def test_no_word_is_lost(name: str) -> None:
    sentences = list(read_sentences(FIXTURES / name))
    tokens = [token for gold in gold_sentences(sentences) for token in gold.tokens]
    words = [word.form for sentence in sentences for word in sentence.words]
    assert [form for token in tokens for form in token.words] == words
    assert any(len(token.words) > 1 for token in tokens)


def test_comments_start_paragraphs(ewt_sentences: list[Sentence]) -> None:
    gold = gold_sentences(ewt_sentences)
    assert gold[0].starts_paragraph
    assert 1 < sum(sentence.starts_paragraph for sentence in gold) < 100
    assert has_paragraphs(gold)
    assert not has_paragraphs([GoldSentence((STOP,), False)] * 10)


def test_characters_are_labelled_with_what_ends_there() -> None:
    encoded = encode_sentence(GoldSentence((DO, DONT, STOP), True))
    assert to_text(encoded.codes) == "do don't."
    assert encoded.labels.tolist() == [0, 2 | 8, 0, 0, 1, 0, 0, 2, 2]
    assert encoded.has_space


def test_sentences_are_joined_by_space_break_or_nothing() -> None:
    sentences = [
        GoldSentence((DO, STOP), True),
        GoldSentence((STOP, DONT), False),
        GoldSentence((DO, STOP), True),
    ]
    encoded = [encode_sentence(sentence) for sentence in sentences]
    codes, labels = gold_text(encoded, paragraph_starts(encoded, True))
    assert to_text(codes) == "do . . don't\u2029do .\u2029"
    assert np.flatnonzero(labels & SENTENCE_END).tolist() == [3, 11, 16]
    bare, _ = gold_text(encoded, np.array([True] * 3), np.array([True] * 3))
    assert to_text(bare) == "do\u2029. don't\u2029do\u2029"
    mark, _ = gold_text([encode_sentence(GoldSentence((STOP,), True))], *np.ones((2, 1), np.bool_))
    assert to_text(mark) == ".\u2029"
    without, _ = gold_text(encoded, paragraph_starts(encoded, False))
    assert to_text(without) == "do . . don'tdo .\u2029"
    assert labels[:4].tolist() == [0, 2 | 8, 0, 2 | 4]
    targets = make_targets(codes, labels).tolist()
    assert targets[:4] == [[0, -1, -1], [2, 0, 1], [-1, -1, -1], [2, 1, 0]]
    assert targets[11] == [2, IGNORED, 0]  # the blank line decides that the sentence ends


@pytest.mark.parametrize(
    ("marked", "join", "alone", "least", "most"),
    [
        (True, 0, 0, 500, 500),
        (True, 0.5, 0, 200, 300),
        (True, 0, 0.5, 600, 1000),
        (False, 0, 0, 130, 270),
    ],
)
def test_paragraphs_are_drawn(
    marked: bool, join: float, alone: float, least: int, most: int
) -> None:
    encoded = [encode_sentence(GoldSentence((DO, STOP), i % 2 == 0)) for i in range(1000)]
    config = SegmentConfig(join=join, alone=alone)
    starts = draw_paragraph_starts(encoded, marked, config, np.random.default_rng(1))
    assert least <= starts.sum() <= most
    assert starts[0]


def test_marks_can_be_attached() -> None:
    forms = ["(", "a", ")", "b", ",", "?!", "c", "..."]
    spaced = GoldSentence(tuple(GoldToken(form, (form,), True) for form in forms), True)
    assert has_space_everywhere([spaced])
    attached = with_marks_attached(spaced)
    assert to_text(encode_sentence(attached).codes) == "(a) b,?! c..."
    assert attached.tokens[-1].has_space
    assert not has_space_everywhere([attached])


def test_alphabet_and_spaces_inside() -> None:
    encoded = [encode_sentence(GoldSentence((DO, DO, STOP), True))]
    assert frequent_characters(encoded, 2) == [" ", "d", "o"]
    assert not has_spaces_inside([GoldSentence((DO,), True)])
    assert has_spaces_inside([GoldSentence((GoldToken("a b", ("a b",), True),), True)])


def test_batches_hold_every_character_once() -> None:
    random = np.random.default_rng(1)
    ids = np.arange(1, 101, dtype=np.int32)
    targets = np.stack([ids] * 3, axis=1).astype(np.int64)
    batches = list(segment_batches(ids, targets, 3, 2, 8, random))
    kept = np.concatenate([batch_targets.reshape(-1, 3) for _, batch_targets in batches])
    assert sorted(kept[kept[:, 0] != IGNORED, 0].tolist()) == ids.tolist()
    for batch_ids, batch_targets in batches:
        is_padding = batch_targets[..., 0] == IGNORED
        assert np.array_equal(batch_ids[:, 3:-3], np.where(is_padding, 0, batch_targets[..., 0]))


def test_hidden_characters_show_their_class() -> None:
    alphabet = make_alphabet("ab")
    ids = np.array([0, 3, FIRST_CHARACTER, FIRST_CHARACTER + 1] * 500, np.int32)
    hidden = hide_characters(ids, alphabet, 0.5, np.random.default_rng(1))
    is_changed = hidden != ids
    assert 400 < is_changed.sum() < 600
    assert (hidden[is_changed] == alphabet.classes[FIRST_CHARACTER]).all()
    assert not is_changed[ids < FIRST_CHARACTER].any()
