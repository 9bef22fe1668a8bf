"""Treebanks ready to learn from: read, checked, numbered."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from headwise.config import DataConfig, Format, ModelConfig, Punctuation, TrainConfig
from headwise.errors import ConfigError, DataError
from headwise.evaluate.punctuation import is_punctuation
from headwise.learn.vectors import Vector, read_first_vectors
from headwise.trees.tree import is_tree
from headwise.words.conllu import read_sentences
from headwise.words.encode import (
    BoolArray,
    Encoded,
    Gold,
    encode,
    encode_gold,
    heads_array,
    require_tags,
)
from headwise.words.sentence import Sentence
from headwise.words.vocab import N_SPECIALS, Index, Vocab, build_vocab, vocab_to_json


@dataclass(frozen=True, slots=True)
class Examples:
    """Sentences as arrays; `scored[i]` bool [N+1] marks the words that count in scores."""

    encoded: list[Encoded]
    gold: list[Gold]
    scored: list[BoolArray]

    @property
    def n_words(self) -> int:
        """Count words, ROOT left out."""
        return sum(len(sentence) - 1 for sentence in self.encoded)

    def part(self, which: slice) -> "Examples":
        """Take some of the sentences."""
        return Examples(self.encoded[which], self.gold[which], self.scored[which])


@dataclass(frozen=True, slots=True)
class Data:
    """Train and dev with the vocabulary of train; `n_too_long` training sentences were left out."""

    vocab: Vocab
    train: Examples
    dev: Examples
    n_too_long: int
    vectors: Vector | None = None
    """Pre-trained vectors that are an input of their own: float32 [ids, size]."""

    def fingerprint(self) -> str:
        """Tell this data from any other: a checksum of the vocabulary, the ids and the trees."""
        digest = hashlib.sha256(vocab_to_json(self.vocab))
        for examples in (self.train, self.dev):
            for encoded, gold in zip(examples.encoded, examples.gold, strict=True):
                ids = (encoded.words, encoded.tags, encoded.pieces, encoded.vectors)
                for part in (*ids, gold.heads, gold.labels, *gold.tags):
                    digest.update(part.tobytes())
        return digest.hexdigest()


def load_data(data: DataConfig, model: ModelConfig, train: TrainConfig) -> Data:
    """Read the treebanks of a recipe."""
    train_sentences = _read_trees(data.train, data.format, "train")
    dev_sentences = _read_trees(data.dev, data.format, "dev")
    vocab = build_vocab(
        train_sentences, model.tag_column, model.min_count, model.pieces, model.predicted_tags
    )
    table = None
    if model.vector_words:
        vocab, table = _with_vectors(vocab, model, train_sentences)
    short = [s for s in train_sentences if len(s) <= train.max_length]
    if not short:
        raise ConfigError(
            f"no training sentence has at most {train.max_length} words",
            "--set train.max_length=...",
        )
    return Data(
        vocab,
        _examples(short, vocab, data.punctuation),
        _examples(dev_sentences, vocab, data.punctuation),
        len(train_sentences) - len(short),
        table,
    )


def _with_vectors(
    vocab: Vocab, model: ModelConfig, sentences: Sequence[Sentence]
) -> tuple[Vocab, Vector]:
    """Add the words that have a pre-trained vector; the specials have zeros."""
    if not model.vectors:
        raise ConfigError("model.vector_words needs model.vectors", "--set model.vectors=FILE")
    forms = {word.form for sentence in sentences for word in sentence.words}
    also = forms | {form.lower() for form in forms}
    path = Path(model.vectors)
    words, table = read_first_vectors(path, model.vector_words, model.vector_size, also)
    specials = np.zeros((N_SPECIALS, model.vector_size), np.float32)
    return replace(vocab, vectors=Index(words)), np.concatenate([specials, table])


def _read_trees(source: str, form: Format, role: str) -> list[Sentence]:
    if not source:
        raise ConfigError(f"no {role} treebank", f"--{role} FILE, or data.{role} in the recipe")
    sentences = [sentence for sentence in read_sentences(source, form) if len(sentence)]
    if not sentences:
        raise DataError("no sentences", source)
    for sentence in sentences:
        if not is_tree(heads_array(sentence)):
            raise DataError(
                "the heads of this sentence form no tree (a cycle, or a word that is its own head)",
                sentence.source,
                sentence.first_line,
                "mend the tree or take the sentence out",
            )
    return sentences


def _examples(sentences: Sequence[Sentence], vocab: Vocab, rule: Punctuation) -> Examples:
    for sentence in sentences:
        require_tags(sentence, vocab)
    return Examples(
        [encode(sentence, vocab) for sentence in sentences],
        [encode_gold(sentence, vocab) for sentence in sentences],
        [np.array([False, *(not p for p in is_punctuation(s, rule))]) for s in sentences],
    )
