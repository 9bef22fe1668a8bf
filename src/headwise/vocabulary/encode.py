"""Sentences to arrays, Sec. 3.1: words get their slots here, and lose them in `with_parse`.

Letters: N words, so N+1 slots with ROOT at 0; B sentences in a batch. Input and gold are separate,
since parsing has no gold. A batch is padded with PAD, never with a word.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import numpy as np

from headwise.arrays import IntArray
from headwise.errors import DataError
from headwise.settings.choices import TagColumn
from headwise.treebank.sentence import Sentence
from headwise.vocabulary.ngrams import NO_NGRAMS, PAD_NGRAM, ROOT_NGRAM
from headwise.vocabulary.subwords import Windows
from headwise.vocabulary.vocab import PAD, ROOT, TREEBANK, UNK, Vocab, marks_of, tag_of

Array = TypeVar("Array")
Other = TypeVar("Other")
GRAPH_INPUTS = ("words", "tags", "pieces", "vectors", "marks")
"""The names that ONNX graphs have for the arrays of `WordIds`, in order."""


@dataclass(frozen=True, slots=True)
class WordIds(Generic[Array]):
    """The ids that make up the input x_i of each word, Eq. 3, in numpy or in PyTorch.

    For one sentence `words`, `tags` and `vectors` are [N+1], with ROOT in slot 0, and `ngrams` and
    `marks` are [N+1, k]. A batch has a first axis B. Everything is padded with PAD, which is 0 for
    n-grams too.
    """

    words: Array
    tags: Array
    ngrams: Array
    vectors: Array
    marks: Array

    def map(self, change: Callable[[Array], Other]) -> "WordIds[Other]":
        """Apply a function to each of the arrays."""
        return WordIds(*map(change, self.by_name().values()))

    def by_name(self) -> dict[str, Array]:
        """Return the arrays under the names that ONNX graphs have for them."""
        arrays = (self.words, self.tags, self.ngrams, self.vectors, self.marks)
        return dict(zip(GRAPH_INPUTS, arrays, strict=True))


@dataclass(frozen=True, slots=True)
class Encoded:
    """One sentence as a network reads it.

    `windows` is what the transformer reads, if the model has one.
    """

    ids: WordIds[IntArray]
    windows: Windows | None = None

    def __len__(self) -> int:
        """Count the slots, ROOT included."""
        return len(self.ids.words)


@dataclass(frozen=True, slots=True)
class Gold:
    """The annotated tree of one sentence, int32 [N+1]; slot 0 is never read.

    `tags` are the gold tags of each column that the model predicts.
    """

    heads: IntArray
    labels: IntArray
    tags: tuple[IntArray, ...] = ()


def encode(sentence: Sentence, vocab: Vocab) -> Encoded:
    """Look up the ids of a sentence."""
    forms = [word.form for word in sentence.words]
    words = [ROOT, *map(vocab.words.id_of, forms)]
    tags = [ROOT] * len(words)
    if vocab.tag_column != "none":
        tags[1:] = map(vocab.tags.id_of, tag_of(sentence, vocab.tag_column))
    vectors = [ROOT, *map(vocab.vector_id, forms)] if vocab.vectors.strings else [ROOT] * len(words)
    ngrams = [_ROOT_NGRAMS if vocab.ngrams.n_buckets else NO_NGRAMS]
    ngrams += vocab.ngrams.ids_of_all(forms)
    ids = WordIds(
        np.array(words, np.int32),
        np.array(tags, np.int32),
        pad(ngrams, PAD_NGRAM),
        np.array(vectors, np.int32),
        _encode_marks(sentence, vocab),
    )
    return Encoded(ids, vocab.subwords.windows_of(forms) if vocab.subwords else None)


_ROOT_NGRAMS = np.array([ROOT_NGRAM], np.int32)


def _encode_marks(sentence: Sentence, vocab: Vocab) -> IntArray:
    """Look up marks: int32 [N+1, k]; a mark that training never saw is left out."""
    if not vocab.marks.strings:
        return np.zeros((len(sentence) + 1, 0), np.int32)
    treebank = [vocab.marks.id_of(f"{TREEBANK}{vocab.treebank}")] if vocab.treebank else []
    rows = [np.array([ROOT], np.int32)]
    for word in sentence.words:
        ids = map(vocab.marks.id_of, marks_of(word, vocab.mark_columns))
        rows.append(np.array([*treebank, *(i for i in ids if i != UNK)], np.int32))
    return pad(rows)


def heads_array(sentence: Sentence) -> IntArray:
    """Put the HEAD column into an array: int32 [N+1], 0 in slot 0."""
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
    """Raise an error if a column that the model reads is blank in the whole sentence."""
    for column in vocab.reads:
        if column == "feats":
            continue  # none of the words may have a feature
        tags = tag_of(sentence, cast(TagColumn, column))
        if not tags or any(tag not in ("_", "_ _") for tag in tags):
            continue
        raise DataError(
            f"this model reads the column {column.upper()}, which is blank here",
            sentence.source,
            sentence.line_of(1),
            "tag the text first, or choose a model that needs no tags (headwise info MODEL)",
        )


def pad(arrays: Sequence[IntArray], value: int = PAD) -> IntArray:
    """Stack arrays of different size but one rank: int32 [B, longest] or [B, longest, widest]."""
    shape = map(max, zip(*(array.shape for array in arrays), strict=True))
    padded = np.full((len(arrays), *shape), value, np.int32)
    for row, array in zip(padded, arrays, strict=True):
        row[tuple(map(slice, array.shape))] = array
    return padded


def stack_ids(sentences: Sequence[WordIds[IntArray]]) -> WordIds[IntArray]:
    """Put sentences side by side, padded to the longest one."""
    columns = zip(*(ids.by_name().values() for ids in sentences), strict=True)
    return WordIds(*map(pad, columns))


def last_ids(vocab: Vocab) -> Encoded:
    """Encode a sentence of one word that has the last of all ids, in the longest window."""
    last_ngram = [[ROOT_NGRAM], [len(vocab.ngrams) - 1]] if vocab.ngrams.n_buckets else [[], []]
    last_mark = [[ROOT], [len(vocab.marks) - 1]] if vocab.marks.strings else [[], []]
    words, tags, vectors = (
        [ROOT, len(index) - 1] for index in (vocab.words, vocab.tags, vocab.vectors)
    )
    columns = (words, tags, last_ngram, vectors, last_mark)
    ids = WordIds(*(np.array(column, np.int32) for column in columns))
    if vocab.subwords is None:
        return Encoded(ids)
    vocab.subwords.open()
    settings = vocab.subwords.settings
    window = np.full((1, settings.window), settings.n_ids - 1, np.int32)
    return Encoded(ids, Windows(window, np.array([0, settings.window - 1], np.int32)))
