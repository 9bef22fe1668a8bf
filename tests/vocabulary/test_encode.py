"""Slot 0 is ROOT, words follow, PAD fills up."""

from dataclasses import replace

import numpy as np
import pytest

from headwise.arrays import IntArray
from headwise.errors import DataError
from headwise.settings.choices import TagColumn
from headwise.treebank.sentence import Sentence, Word, sentence_from_words
from headwise.vocabulary.encode import (
    NO_HEAD,
    WordIds,
    encode,
    encode_gold,
    last_ids,
    pad,
    require_tags,
    stack_ids,
)
from headwise.vocabulary.features import Features
from headwise.vocabulary.letters import END_OF_WORD, START_OF_WORD, Letters
from headwise.vocabulary.lexicon import build_lexicon
from headwise.vocabulary.ngrams import PAD_NGRAM, ROOT_NGRAM, Ngrams
from headwise.vocabulary.vocab import N_SPECIALS, PAD, ROOT, UNK, Index, Vocab, build_vocab

VOCAB = Vocab(Index(["kids", "love"]), Index(["NNS", "VBP"]), Index(["root", "nsubj"]), "xpos")
COLUMNS = ["form", "xpos", "head", "deprel"]
KIDS = sentence_from_words([("kids", "NNS", "2", "nsubj"), ("love", "VBP", "0", "root")], COLUMNS)
NEW = sentence_from_words(
    [("kids", "NNS", "3", "nsubj"), ("do", "VB", "3", "aux"), ("Love", "_", "0", "root")], COLUMNS
)
BLANK = sentence_from_words([("kids",), ("love",)], ["form"])
NGRAMS = Ngrams(50)
FULL = replace(
    VOCAB,
    ngrams=NGRAMS,
    vectors=Index(["love", "kids"]),
    predicted={"xpos": VOCAB.tags, "upos": Index(["X"])},
)


def ids_of(sentence: Sentence, vocab: Vocab) -> WordIds[IntArray]:
    return encode(sentence, vocab).ids


def test_slot_0_is_root_and_words_follow() -> None:
    encoded = ids_of(KIDS, VOCAB)
    assert encoded.words.tolist() == [ROOT, 3, 4]
    assert encoded.tags.tolist() == [ROOT, 3, 4]
    assert encoded.words.dtype == encoded.tags.dtype == np.int32
    assert len(encode(KIDS, VOCAB)) == len(KIDS) + 1


def test_what_a_model_does_not_read_is_left_out() -> None:
    encoded = ids_of(KIDS, replace(VOCAB, tag_column="none"))
    assert encoded.tags.tolist() == encoded.vectors.tolist() == [ROOT] * 3
    assert encoded.ngrams.shape == (3, 0)
    assert stack_ids([encoded, ids_of(NEW, VOCAB)]).ngrams.shape == (2, 4, 0)


def test_ngrams_and_vectors_follow_the_words() -> None:
    encoded = ids_of(NEW, FULL)
    assert encoded.vectors.tolist() == [ROOT, 4, UNK, 3]
    for row, ids in zip(encoded.ngrams, [[ROOT_NGRAM], *map(spelled, NEW.words)], strict=True):
        assert row.tolist() == ids + [PAD_NGRAM] * (len(row) - len(ids))
    assert encoded.ngrams.dtype == encoded.vectors.dtype == np.int32


def spelled(word: Word) -> list[int]:
    return NGRAMS.ids_of(word.form).tolist()


MARKED = replace(
    VOCAB,
    mark_columns=("treebank", "upos", "feats"),
    marks=Index(["treebank=a", "treebank=b", "upos=NOUN", "feats=Number=Plur", "feats=Case=Nom"]),
    treebank="b",
)
COWS = sentence_from_words(
    [("cows", "NNS", "NOUN", "Case=Nom|Gender=Fem|Number=Plur"), ("moo", "VB", "VERB", "_")],
    ["form", "xpos", "upos", "feats"],
)


def test_marks_are_the_treebank_tags_and_features_that_are_known() -> None:
    encoded = ids_of(COWS, MARKED)
    assert encoded.marks.tolist() == [[ROOT, 0, 0, 0], [4, 5, 7, 6], [4, 0, 0, 0]]
    assert ids_of(COWS, MARKED.as_in("a")).marks[1:, 0].tolist() == [3, 3]
    assert ids_of(COWS, VOCAB).marks.shape == (3, 0)
    batch = stack_ids([encoded, ids_of(NEW, MARKED)])
    assert batch.marks.shape == (2, 4, 4)
    assert batch.marks[0, :3].tolist() == encoded.marks.tolist()


def test_marks_of_tags_need_tags_and_features_may_be_blank() -> None:
    require_tags(COWS, MARKED)
    require_tags(NEW, replace(MARKED, mark_columns=("feats",)))
    with pytest.raises(
        DataError, match=r"reads the column UPOS, which is blank here\n.*tag_column = .none"
    ):
        require_tags(NEW, MARKED)


def test_gold_has_the_tags_of_every_predicted_column() -> None:
    gold = encode_gold(NEW, FULL)
    assert [tags.tolist() for tags in gold.tags] == [[ROOT, 3, UNK, PAD], [ROOT, PAD, PAD, PAD]]
    assert encode_gold(NEW, VOCAB).tags == ()


ALL_COLUMNS = replace(
    VOCAB,
    tag_column="none",
    predicted={"upos": Index(["NOUN", "VERB"])},
    features=Features({"Case": ("Nom", "Acc"), "Number": ("Plur",)}),
    rules=Index(["lower||-", "keep||"]),
)
ANALYSED = sentence_from_words(
    [
        ("kids", "NOUN", "Case=Acc|Number=Plur", "kid"),
        ("love", "VERB", "_", "love"),
        ("is", "VERB", "Case=Dat", "be"),
        ("odd", "_", "_", "_"),
    ],
    ["form", "upos", "feats", "lemma"],
)


def test_gold_has_a_position_for_each_feature_and_a_rule_for_each_lemma() -> None:
    upos, feats, rules = encode_gold(ANALYSED, ALL_COLUMNS).tags
    assert upos.tolist() == [ROOT, 3, 4, 4, PAD]
    assert feats.tolist() == [[ROOT, ROOT], [5, 4], [3, 3], [3, 3], [PAD, PAD]]
    assert rules.tolist() == [ROOT, 3, UNK, UNK, PAD]  # `lower||` is not among the rules
    assert {column.dtype for column in (upos, feats, rules)} == {np.dtype(np.int32)}


def test_a_treebank_without_features_says_nothing_of_them() -> None:
    feats = encode_gold(ANALYSED, ALL_COLUMNS, has_feats=False).tags[1]
    assert feats.tolist() == [[ROOT, ROOT], *([PAD, PAD] for _ in ANALYSED.words)]


def test_letters_and_what_the_lexicon_knows_follow_the_words() -> None:
    lexicon = build_lexicon(ANALYSED.words)
    vocab = replace(VOCAB, alphabet=Letters("kids"), lexicon=lexicon)
    ids = ids_of(ANALYSED, vocab)
    assert ids.letters[0].tolist() == [START_OF_WORD, END_OF_WORD, PAD, PAD, PAD, PAD]
    assert ids.letters[1].tolist() == vocab.alphabet.ids_of("kids").tolist()
    assert ids.prior.dtype == np.float32
    assert not ids.prior[0].any()
    np.testing.assert_array_equal(ids.prior[2], lexicon.prior_of("love"))
    own = encode(ANALYSED, vocab, is_in_lexicon=True).ids
    np.testing.assert_array_equal(own.prior[2], lexicon.prior_of("love", ("VERB", "_")))
    assert not own.prior[1:, : lexicon.prior_size // 2 - 1].any()  # each form is there once
    assert (ids_of(KIDS, VOCAB).letters.shape, ids_of(KIDS, VOCAB).prior.shape) == ((3, 0), (3, 0))
    batch = stack_ids([ids, ids_of(KIDS, vocab)])
    assert batch.prior.shape == (2, 5, lexicon.prior_size)
    assert not batch.prior[1, 3:].any()


def test_the_last_ids_are_those_of_every_table() -> None:
    vocab = replace(VOCAB, alphabet=Letters("kids"), lexicon=build_lexicon(ANALYSED.words))
    ids = last_ids(vocab).ids
    assert ids.letters.max() == len(vocab.alphabet) - 1
    assert ids.prior.shape == (2, vocab.lexicon.prior_size if vocab.lexicon else 0)
    assert ids.words.max() == len(vocab.words) - 1


def test_a_pair_of_tags_is_one_tag() -> None:
    vocab = replace(VOCAB, tags=Index(["_ NNS", "_ VBP"]), tag_column="upos+xpos")
    assert ids_of(KIDS, vocab).tags.tolist() == [ROOT, 3, 4]
    require_tags(KIDS, vocab)


def test_a_sentence_without_words_is_root_alone() -> None:
    nothing = sentence_from_words([], COLUMNS)
    assert ids_of(nothing, VOCAB).words.tolist() == [ROOT]
    assert encode_gold(nothing, VOCAB).heads.tolist() == [0]
    require_tags(nothing, VOCAB)


def test_gold_heads_count_from_root_at_slot_0_and_new_labels_are_unknown() -> None:
    gold = encode_gold(NEW, VOCAB)
    assert gold.heads.tolist() == [0, 3, 3, 0]
    assert gold.labels.tolist() == [ROOT, 4, UNK, 3]
    assert gold.heads.dtype == gold.labels.dtype == np.int32


def test_blanks_teach_nothing() -> None:
    blank, whole = ("a", "_", "_", "_", "_", "_", "_"), ("b", "B", "X", "Y", "_", "0", "root")
    columns = ["form", "lemma", "upos", "xpos", "feats", "head", "deprel"]
    half = ("c", "_", "_", "_", "N=1", "2", "_")
    sentence = sentence_from_words([blank, whole, half], columns)
    predicted = ("upos", "xpos", "feats", "lemma")
    vocab = build_vocab([sentence] * 2, "none", 1, predicted=predicted)
    assert vocab.labels.strings == ("root",)
    assert [index.strings for index in vocab.predicted.values()] == [("X",), ("Y",)]
    assert vocab.rules is not None
    assert vocab.rules.strings == ("title||",)
    gold = encode_gold(sentence, vocab)
    assert gold.heads.tolist() == [0, NO_HEAD, 0, 2]
    assert gold.labels.tolist() == [ROOT, PAD, N_SPECIALS, PAD]
    upos, xpos, feats, lemmas = (column.tolist() for column in gold.tags)
    assert upos == xpos == lemmas == [ROOT, PAD, N_SPECIALS, PAD]
    # A word with a tag and `_` in FEATS has no features; without a tag nothing is known.
    assert feats == [[ROOT], [PAD], [N_SPECIALS], [N_SPECIALS + 1]]


def test_a_treebank_without_labels_has_a_blank_one() -> None:
    vocab = build_vocab([sentence_from_words([("a", "0")], ["form", "head"])], "none", 1)
    assert vocab.labels.strings == ("_",)
    labels = encode_gold(sentence_from_words([("a", "0")], ["form", "head"]), vocab).labels
    assert labels.tolist() == [ROOT, N_SPECIALS]


@pytest.mark.parametrize("tag_column", ["xpos", "upos", "upos+xpos"])
def test_a_model_that_reads_tags_refuses_a_blank_column(tag_column: TagColumn) -> None:
    with pytest.raises(DataError) as refusal:
        require_tags(BLANK, replace(VOCAB, tag_column=tag_column))
    message = f"<memory>:1: this model reads the column {tag_column.upper()}"
    assert str(refusal.value).startswith(message)
    assert refusal.value.hint


def test_one_tag_is_enough_and_a_model_without_tags_needs_none() -> None:
    require_tags(NEW, VOCAB)
    require_tags(BLANK, replace(VOCAB, tag_column="none"))


def test_a_batch_is_padded_with_pad_in_both_directions() -> None:
    longer = sentence_from_words([("lovelier", "_", "0", "root")], COLUMNS)
    sentences = [ids_of(NEW, FULL), ids_of(longer, FULL)]
    batch = stack_ids(sentences)
    assert batch.words.tolist() == [[ROOT, 3, UNK, UNK], [ROOT, UNK, PAD, PAD]]
    assert batch.words.dtype == batch.ngrams.dtype == np.int32
    assert batch.ngrams.shape == (2, 4, len(NGRAMS.ids_of("lovelier")))
    for i, one in enumerate(sentences):
        n, k = one.ngrams.shape
        assert np.array_equal(batch.ngrams[i, :n, :k], one.ngrams)
        assert np.array_equal(batch.vectors[i, :n], one.vectors)
        assert (batch.ngrams[i, n:] == PAD_NGRAM).all()
        assert (batch.ngrams[i, :, k:] == PAD_NGRAM).all()
    assert batch.vectors[1, 2:].tolist() == [PAD, PAD]


def test_padding_copies_and_takes_another_value() -> None:
    rows = [np.array([1, 2], np.int32), np.array([5], np.int32)]
    padded = pad(rows, -1)
    padded[0, 0] = 9
    assert padded.tolist() == [[9, 2], [5, -1]]
    assert rows[0].tolist() == [1, 2]
