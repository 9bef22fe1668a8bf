"""Slot 0 is ROOT, words follow, PAD fills up."""

from dataclasses import replace

import numpy as np
import pytest

from headwise.arrays import IntArray
from headwise.errors import DataError
from headwise.settings.choices import TagColumn
from headwise.treebank.sentence import Sentence, Word, sentence_from_words
from headwise.vocabulary.encode import WordIds, encode, encode_gold, pad, require_tags, stack_ids
from headwise.vocabulary.ngrams import PAD_NGRAM, ROOT_NGRAM, Ngrams
from headwise.vocabulary.vocab import PAD, ROOT, UNK, Index, Vocab

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
    with pytest.raises(DataError, match="reads the column UPOS, which is blank here"):
        require_tags(NEW, MARKED)


def test_gold_has_the_tags_of_every_predicted_column() -> None:
    gold = encode_gold(NEW, FULL)
    assert [tags.tolist() for tags in gold.tags] == [[ROOT, 3, UNK, UNK], [ROOT, UNK, UNK, UNK]]
    assert encode_gold(NEW, VOCAB).tags == ()


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


def test_gold_needs_heads() -> None:
    with pytest.raises(DataError, match=r"<memory>:1: word 1 .* has no HEAD"):
        encode_gold(BLANK, VOCAB)


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
