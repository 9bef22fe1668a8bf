"""Sentences to arrays, Sec. 3.1: words get their slots here, and lose them in `with_parse`.

Letters: N words, so N+1 slots with ROOT at 0; B sentences in a batch. Input and gold are separate,
since parsing has no gold. A batch is padded with PAD, never with a word.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import numpy as np

from headwise.arrays import FloatArray, IntArray, NumberArray
from headwise.errors import DataError
from headwise.settings.choices import TagColumn
from headwise.treebank.sentence import BLANK, Sentence, Word
from headwise.vocabulary.features import has_analysis
from headwise.vocabulary.lemma_rules import rule_of
from headwise.vocabulary.letters import ROOT_LETTERS
from headwise.vocabulary.ngrams import NO_NGRAMS, PAD_NGRAM, ROOT_NGRAM
from headwise.vocabulary.subwords import Windows
from headwise.vocabulary.vocab import (
    N_SPECIALS,
    PAD,
    ROOT,
    TREEBANK,
    UNK,
    Index,
    Vocab,
    marks_of,
    tag_of,
)

Array = TypeVar("Array")
Other = TypeVar("Other")
NO_HEAD = -1
"""Head of a word without a head."""
GRAPH_INPUTS = ("words", "tags", "pieces", "vectors", "marks", "letters", "prior")
"""The names that ONNX graphs have for the arrays of `WordIds`, in order."""


@dataclass(frozen=True, slots=True)
class WordIds(Generic[Array]):
    """The ids that make up the input x_i of each word, Eq. 3, in numpy or in PyTorch.

    For one sentence `words`, `tags` and `vectors` are [N+1], with ROOT in slot 0, and `ngrams`,
    `marks` and `letters` are [N+1, k]. `prior` [N+1, k] is not ids, but numbers (float32): what the
    lexicon knows of a word. A batch has a first axis B. Everything is padded with PAD, which is 0
    for n-grams and letters too.
    """

    words: Array
    tags: Array
    ngrams: Array
    vectors: Array
    marks: Array
    letters: Array
    prior: Array

    def map(self, change: Callable[[Array], Other]) -> "WordIds[Other]":
        """Apply a function to each of the arrays."""
        return WordIds(*map(change, self.by_name().values()))

    def by_name(self) -> dict[str, Array]:
        """Return the arrays under the names that ONNX graphs have for them."""
        arrays = (self.words, self.tags, self.ngrams, self.vectors, self.marks)
        return dict(zip(GRAPH_INPUTS, (*arrays, self.letters, self.prior), strict=True))


@dataclass(frozen=True, slots=True)
class Encoded:
    """One sentence as a network reads it.

    `windows` is what the transformer reads, if the model has one.
    """

    ids: WordIds[NumberArray]
    windows: Windows | None = None

    def __len__(self) -> int:
        """Count the slots, ROOT included."""
        return len(self.ids.words)


@dataclass(frozen=True, slots=True)
class Gold:
    """What is annotated in one sentence, int32 [N+1]; slot 0 is never read.

    `tags` are the gold of each column that the model predicts, in the order of `Vocab.outputs`:
    ids of tags and of lemma rules [N+1], and for FEATS one for each feature [N+1, features].
    What is blank in the treebank is `NO_HEAD` or PAD here: nothing is learned from it.
    """

    heads: IntArray
    labels: IntArray
    tags: tuple[IntArray, ...] = ()


def encode(sentence: Sentence, vocab: Vocab, is_in_lexicon: bool = False) -> Encoded:
    """Look up the ids of a sentence.

    If its words are among those that the lexicon was made of, each is left out of its own prior.
    """
    forms = [word.form for word in sentence.words]
    words = [ROOT, *map(vocab.words.id_of, forms)]
    tags = [ROOT] * len(words)
    if vocab.tag_column != "none":
        tags[1:] = map(vocab.tags.id_of, tag_of(sentence, vocab.tag_column))
    vectors = [ROOT, *map(vocab.vector_id, forms)] if vocab.vectors.strings else [ROOT] * len(words)
    ngrams = [_ROOT_NGRAMS if vocab.ngrams.n_buckets else NO_NGRAMS]
    ngrams += vocab.ngrams.ids_of_all(forms)
    ids: WordIds[NumberArray] = WordIds(
        np.array(words, np.int32),
        np.array(tags, np.int32),
        pad(ngrams, PAD_NGRAM),
        np.array(vectors, np.int32),
        _encode_marks(sentence, vocab),
        _encode_letters(forms, vocab),
        _encode_prior(sentence, vocab, is_in_lexicon),
    )
    return Encoded(ids, vocab.subwords.windows_of(forms) if vocab.subwords else None)


_ROOT_FORM = ""
"""ROOT has no letters."""
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


def _encode_letters(forms: Sequence[str], vocab: Vocab) -> IntArray:
    """Look up letters: int32 [N+1, k]."""
    if not vocab.alphabet.letters:
        return np.zeros((len(forms) + 1, 0), np.int32)
    return vocab.alphabet.ids_of_all([_ROOT_FORM, *forms])


def _encode_prior(sentence: Sentence, vocab: Vocab, is_in_lexicon: bool) -> FloatArray:
    """Look up what training has seen for each word: float32 [N+1, k]; ROOT has zeros."""
    lexicon = vocab.lexicon
    if lexicon is None:
        return np.zeros((len(sentence) + 1, 0), np.float32)
    prior = np.zeros((len(sentence) + 1, lexicon.prior_size), np.float32)
    for row, word in enumerate(sentence.words, 1):
        prior[row] = lexicon.prior_of(word.form, (word.upos, word.feats) if is_in_lexicon else None)
    return prior


def heads_array(sentence: Sentence) -> IntArray:
    """Put the HEAD column into an array: int32 [N+1], 0 in slot 0; a blank is an error."""
    return np.array([0, *sentence.gold_heads()], np.int32)


def partial_heads(sentence: Sentence) -> IntArray:
    """Put the HEAD column into an array: int32 [N+1], 0 in slot 0, `NO_HEAD` for blanks."""
    heads = (NO_HEAD if head is None else head for head in sentence.heads)
    return np.array([0, *heads], np.int32)


def encode_gold(sentence: Sentence, vocab: Vocab, has_feats: bool = True) -> Gold:
    """Look up the heads and the ids of what is annotated in a sentence, wholly or in part.

    In a treebank that has no FEATS at all, a blank does not mean that a word has no features.
    """
    words = sentence.words
    columns = [(vocab.labels, [word.deprel for word in words])]
    for column, index in vocab.predicted.items():
        columns.append((index, [getattr(word, column) for word in words]))
    labels, *tags = [
        np.array([ROOT, *(_id_or_pad(index, value) for value in values)], np.int32)
        for index, values in columns
    ]
    if (features := vocab.features) is not None:
        no_values = (PAD - N_SPECIALS,) * len(features)
        rows = [
            features.positions_of(word.feats) if has_feats and has_analysis(word) else no_values
            for word in words
        ]
        values = np.array([[ROOT - N_SPECIALS] * len(features), *rows], np.int32)
        tags.append(values + N_SPECIALS)
    if (rules := vocab.rules) is not None:
        tags.append(np.array([ROOT, *(_rule_id(rules, word) for word in words)], np.int32))
    return Gold(partial_heads(sentence), labels, tuple(tags))


def _id_or_pad(index: Index, value: str) -> int:
    """Give the id of a value; PAD for a blank, unless blanks are all that training saw."""
    number = index.id_of(value)
    return PAD if value == BLANK and number == UNK else number


def _rule_id(rules: Index, word: Word) -> int:
    rule = rule_of(word)
    if rule is None:
        return PAD if word.lemma == BLANK else UNK
    return rules.id_of(rule)


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
            "tag the text first, or choose a model that needs no tags (headwise info MODEL); "
            'to train one: model.tag_column = "none"',
        )


def pad(arrays: Sequence[NumberArray], value: int = PAD) -> NumberArray:
    """Stack arrays of different size but one rank: [B, longest] or [B, longest, widest]."""
    shape = map(max, zip(*(array.shape for array in arrays), strict=True))
    padded = np.full((len(arrays), *shape), value, arrays[0].dtype)
    for row, array in zip(padded, arrays, strict=True):
        row[tuple(map(slice, array.shape))] = array
    return padded


def stack_ids(sentences: Sequence[WordIds[NumberArray]]) -> WordIds[NumberArray]:
    """Put sentences side by side, padded to the longest one."""
    columns = zip(*(ids.by_name().values() for ids in sentences), strict=True)
    return WordIds(*(pad(column) for column in columns))


def last_ids(vocab: Vocab) -> Encoded:
    """Encode a sentence of one word that has the last of all ids, in the longest window."""
    last_ngram = [[ROOT_NGRAM], [len(vocab.ngrams) - 1]] if vocab.ngrams.n_buckets else [[], []]
    last_mark = [[ROOT], [len(vocab.marks) - 1]] if vocab.marks.strings else [[], []]
    words, tags, vectors = (
        [ROOT, len(index) - 1] for index in (vocab.words, vocab.tags, vocab.vectors)
    )
    last_letter = len(vocab.alphabet) - 1
    letters = [ROOT_LETTERS.tolist(), [last_letter] * 2] if vocab.alphabet.letters else [[], []]
    prior = np.ones((2, vocab.lexicon.prior_size if vocab.lexicon else 0), np.float32)
    columns = [words, tags, last_ngram, vectors, last_mark, letters]
    ids = WordIds(*[np.array(column, np.int32) for column in columns] + [prior])
    if vocab.subwords is None:
        return Encoded(ids)
    vocab.subwords.open()
    settings = vocab.subwords.settings
    window = np.full((1, settings.window), settings.n_ids - 1, np.int32)
    return Encoded(ids, Windows(window, np.array([0, settings.window - 1], np.int32)))
