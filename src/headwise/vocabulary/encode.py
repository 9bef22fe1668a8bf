"""Sentences to arrays, Sec. 3.1: here, and in `Sentence.with_parse`, words get and lose slot 0.

Letters: N words, so N+1 slots with ROOT at 0; B sentences in a batch. Input and gold are apart,
since parsing has no gold. A batch is padded with PAD, never with a word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from headwise.errors import DataError
from headwise.settings.choices import TagColumn
from headwise.treebank.sentence import Sentence
from headwise.vocabulary.marks import TREEBANK, marks_of
from headwise.vocabulary.ngrams import NO_PIECES, PAD_PIECE, ROOT_PIECE
from headwise.vocabulary.subwords import Windows
from headwise.vocabulary.vocab import PAD, ROOT, UNK, Vocab, tag_of

IntArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Encoded:
    """The ids of one sentence, int32, slot 0 is ROOT.

    `words`, `tags` and `vectors` are [N+1]; `pieces` [N+1, k] are padded with PAD_PIECE, `marks`
    [N+1, k] with PAD, which is 0 as well. `members` is what the models of an ensemble read,
    `windows` what a transformer reads, where the model has one.
    """

    words: IntArray
    tags: IntArray
    pieces: IntArray
    vectors: IntArray
    marks: IntArray
    members: tuple["Encoded", ...] = ()
    windows: Windows | None = None

    def __len__(self) -> int:
        """Count the slots, ROOT included."""
        return len(self.words)


@dataclass(frozen=True, slots=True)
class Gold:
    """The annotated tree of one sentence, int32 [N+1]; slot 0 is never read.

    `tags` are the gold tags of each column that the model predicts.
    """

    heads: IntArray
    labels: IntArray
    tags: tuple[IntArray, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences side by side: as in `Encoded` with a first axis B; `lengths` [B] count ROOT."""

    words: IntArray
    tags: IntArray
    pieces: IntArray
    vectors: IntArray
    marks: IntArray
    lengths: IntArray


def encode(sentence: Sentence, vocab: Vocab) -> Encoded:
    """Look up the ids of a sentence."""
    forms = [word.form for word in sentence.words]
    words = [ROOT, *map(vocab.words.id_of, forms)]
    tags = [ROOT] * len(words)
    if vocab.tag_column != "none":
        tags[1:] = map(vocab.tags.id_of, tag_of(sentence, vocab.tag_column))
    vectors = [ROOT, *map(vocab.vector_id, forms)] if vocab.vectors.strings else [ROOT] * len(words)
    pieces = [_ROOT_PIECES if vocab.pieces.n_buckets else NO_PIECES]
    pieces += vocab.pieces.ids_of_all(forms)
    return Encoded(
        np.array(words, np.int32),
        np.array(tags, np.int32),
        pad(pieces, PAD_PIECE),
        np.array(vectors, np.int32),
        _encode_marks(sentence, vocab),
        tuple(encode(sentence, member) for member in vocab.members),
        vocab.subwords.windows_of(forms) if vocab.subwords else None,
    )


_ROOT_PIECES = np.array([ROOT_PIECE], np.int32)


def _encode_marks(sentence: Sentence, vocab: Vocab) -> IntArray:
    """Look up marks: int32 [N+1, k]; a mark that training never saw is left out."""
    if not vocab.marks.strings:
        return np.zeros((len(sentence) + 1, 0), np.int32)
    own = [vocab.marks.id_of(f"{TREEBANK}{vocab.treebank}")] if vocab.treebank else []
    rows = [np.array([ROOT], np.int32)]
    for word in sentence.words:
        ids = map(vocab.marks.id_of, marks_of(word, vocab.mark_columns))
        rows.append(np.array([*own, *(number for number in ids if number != UNK)], np.int32))
    return pad(rows)


def heads_array(sentence: Sentence) -> IntArray:
    """Put the HEAD column into an array: int32 [N+1], slot 0 is ROOT's own and 0."""
    return np.array([0, *sentence.gold_heads()], np.int32)


def encode_gold(sentence: Sentence, vocab: Vocab) -> Gold:
    """Look up the heads and label ids of an annotated sentence."""
    labels = [ROOT, *(vocab.labels.id_of(word.deprel) for word in sentence.words)]
    tags = tuple(
        np.array([ROOT, *(index.id_of(getattr(word, column)) for word in sentence.words)], np.int32)
        for column, index in vocab.predicted.items()
    )
    return Gold(heads_array(sentence), np.array(labels, np.int32), tags)


def require_tags(sentence: Sentence, vocab: Vocab) -> None:
    """Refuse a sentence without any tag in the column that the model was trained with."""
    for column in vocab.reads:
        if column == "feats":
            continue  # a sentence of words without any feature is nothing strange
        tags = tag_of(sentence, cast(TagColumn, column))
        if not tags or any(tag not in ("_", "_ _") for tag in tags):
            continue
        raise DataError(
            f"this model reads the column {column.upper()}, and it is blank here",
            sentence.source,
            sentence.line_of(1),
            "tag the text first, or choose a model that needs no tags (headwise info MODEL)",
        )


def pad(rows: Sequence[IntArray], value: int = PAD) -> IntArray:
    """Put rows of different length into one array: int32 [B, longest]."""
    padded = np.full((len(rows), max(map(len, rows))), value, np.int32)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return padded


def make_batch(sentences: Sequence[Encoded]) -> Batch:
    """Put sentences side by side."""
    lengths = np.array([len(sentence) for sentence in sentences], np.int32)
    return Batch(
        pad([s.words for s in sentences]),
        pad([s.tags for s in sentences]),
        pad_pieces([s.pieces for s in sentences]),
        pad([s.vectors for s in sentences]),
        pad_pieces([s.marks for s in sentences]),
        lengths,
    )


def pad_pieces(blocks: Sequence[IntArray]) -> IntArray:
    """Put blocks [N+1, k] of different size into one array: int32 [B, longest, widest]."""
    n_slots, width = (max(block.shape[axis] for block in blocks) for axis in (0, 1))
    padded = np.full((len(blocks), n_slots, width), PAD_PIECE, np.int32)
    for i, block in enumerate(blocks):
        padded[i, : block.shape[0], : block.shape[1]] = block
    return padded


def windowed_batches(
    lengths: Sequence[int], batch_size: int, window: int, rng: np.random.Generator
) -> Iterator[list[int]]:
    """Shuffle, sort each window of batches by length, cut it: batches of sentence numbers.

    This is the order of the authors' code: sentences of one batch are of similar length, and yet
    every epoch mixes them anew.
    """
    order = rng.permutation(len(lengths))
    for start in range(0, len(order), batch_size * window):
        chunk = order[start : start + batch_size * window]
        by_length = sorted(chunk.tolist(), key=lambda i: lengths[i])
        for first in range(0, len(by_length), batch_size):
            yield by_length[first : first + batch_size]
