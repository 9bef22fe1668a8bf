"""Treebanks ready to learn from, given as files or folders: named, read, checked, encoded."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np

from headwise.arrays import BoolArray
from headwise.errors import ConfigError, DataError
from headwise.evaluate.scores import is_punctuation
from headwise.learn.data.vectors import Vector, read_first_vectors, read_vectors
from headwise.settings.choices import Format, Punctuation
from headwise.settings.model import ModelConfig
from headwise.settings.training import DataConfig, TrainConfig
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import BLANK, Sentence
from headwise.trees.tree import is_tree
from headwise.vocabulary.encode import (
    Encoded,
    Gold,
    encode,
    encode_gold,
    partial_heads,
    require_tags,
)
from headwise.vocabulary.join import join_vocabs
from headwise.vocabulary.lexicon import build_lexicon
from headwise.vocabulary.subwords import Subwords
from headwise.vocabulary.vocab import (
    N_SPECIALS,
    Index,
    Vocab,
    build_vocab,
    collect_marks,
    vocab_to_json,
)

_BLOCK = 100
"""Sentences of which a tenth is held out, if there is no dev."""
_ENDINGS = (".conllu", ".conllu.xz", ".conllu.gz", ".conllx", ".conllx.xz", ".conllx.gz")


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

    def chosen(self, numbers: Sequence[int]) -> "Examples":
        """Take the sentences of these numbers."""
        return Examples(
            [self.encoded[i] for i in numbers],
            [self.gold[i] for i in numbers],
            [self.scored[i] for i in numbers],
        )

    def part(self, which: slice) -> "Examples":
        """Take some of the sentences."""
        return Examples(self.encoded[which], self.gold[which], self.scored[which])


@dataclass(frozen=True, slots=True)
class Data:
    """Train and dev with the vocabulary of train; `n_too_long` training sentences were left out.

    `sentences` are those of `train`, as they were read, and `treebanks` names the treebank of each.
    `others` are further dev treebanks.
    """

    vocab: Vocab
    train: Examples
    dev: Examples
    n_too_long: int
    vectors: Vector | None = None
    """Pre-trained vectors that are an input of their own: float32 [ids, size]."""
    word_vectors: tuple[Vector, BoolArray] | None = None
    """Pre-trained vectors for W_e: float32 [ids, size], and which ids have one, bool [ids]."""
    sentences: Sequence[Sentence] = ()
    treebanks: Sequence[str] = ()
    others: Mapping[str, Examples] = field(default_factory=dict)
    main_train: Sequence[Sentence] = ()
    main_dev: Sequence[Sentence] = ()
    """All sentences of the main treebank, also those too long to train on."""
    is_held_out: bool = False
    """Whether dev is a part of the training treebank, as the recipe names none."""
    drawn: range = range(0)
    """Sentences of `train` of which each epoch sees a few only: those of other treebanks than the
    main one (`train.main_share`), or those to replay (`learn.start.replay`)."""

    def fingerprint(self) -> str:
        """Give a checksum of the vocabulary, the ids and the trees."""
        digest = hashlib.sha256(vocab_to_json(self.vocab))
        for examples in (self.train, self.dev):
            for encoded, gold in zip(examples.encoded, examples.gold, strict=True):
                ids = [*encoded.ids.by_name().values()]
                if encoded.windows is not None:
                    ids.append(encoded.windows.ids)
                for part in (*ids, gold.heads, gold.labels, *gold.tags):
                    digest.update(part.tobytes())
        return digest.hexdigest()


def load_data(
    data: DataConfig,
    model: ModelConfig,
    train: TrainConfig,
    subwords: Subwords | None = None,
    known: Vocab | None = None,
) -> Data:
    """Read the treebanks of a recipe; `subwords` are those of its encoder.

    The vocabulary is that of the treebanks, together with what is `known` already. Vectors that are
    known come with the weights of the model that knows them.
    """
    trained, dev_parts = _read_treebanks(data)
    sentences = list(chain.from_iterable(trained.values()))
    vocab = build_vocab(
        sentences,
        model.tag_column,
        model.min_count,
        model.pieces,
        model.predicted_tags,
        bool(model.letters),
    )
    if not any(word.head != BLANK for sentence in sentences for word in sentence.words):
        raise DataError(
            "no word has a HEAD",
            next(iter(trained.values()))[0].source,
            hint="some heads must be annotated; the others may be _",
        )
    main_train = next(iter(trained.values()))
    if model.prior_size or vocab.rules is not None:
        lexicon = build_lexicon(word for sentence in main_train for word in sentence.words)
        vocab = replace(vocab, lexicon=lexicon)
    vocab = replace(vocab, subwords=subwords)
    if model.marks:
        marks = Index(collect_marks(trained, model.marks))
        vocab = replace(vocab, mark_columns=model.marks, marks=marks)
        vocab = in_treebank(vocab, next(iter(trained)))  # the main one
    if known is not None:
        vocab = join_vocabs(vocab, known, model.predicted_tags)
    vectors = word_vectors = None
    if model.vector_words and known is not None and known.vectors.strings:
        vocab = replace(vocab, vectors=known.vectors)
    elif model.vector_words:
        vocab, vectors = _with_vectors(vocab, model, sentences)
    elif model.vectors:
        word_vectors = read_vectors(Path(model.vectors), vocab.words, model.word_size)
    short = {
        name: [sentence for sentence in treebank if len(sentence) <= train.max_length]
        for name, treebank in trained.items()
    }
    kept = list(chain.from_iterable(short.values()))
    if not kept:
        raise ConfigError(
            f"no training sentence has at most {train.max_length} words",
            "--set train.max_length=...",
        )
    for treebank in dev_parts.values():
        _require_whole_trees(treebank, vocab)
    dev = {
        name: make_examples(treebank, in_treebank(vocab, name), data.punctuation)
        for name, treebank in dev_parts.items()
    }
    main, *others = dev
    n_main = len(next(iter(short.values())))
    return Data(
        vocab,
        join_examples(
            make_examples(treebank, in_treebank(vocab, name), is_in_lexicon=not i)
            for i, (name, treebank) in enumerate(short.items())
        ),
        dev[main],
        len(sentences) - len(kept),
        vectors,
        word_vectors,
        kept,
        [name for name, treebank in short.items() for _ in treebank],
        {name: dev[name] for name in others},
        main_train,
        dev_parts[main],
        is_held_out=not data.dev,
        drawn=range(n_main, len(kept)) if train.main_share else range(0),
    )


def _read_treebanks(
    data: DataConfig,
) -> tuple[dict[str, list[Sentence]], dict[str, list[Sentence]]]:
    """Read train and dev, by name; without dev, hold out a part of the main treebank."""
    trained = _read_parts(data.train, data.format, "train")
    if data.dev:
        return trained, _read_parts(data.dev, data.format, "dev")
    main = next(iter(trained))
    train, dev = hold_out(trained[main])
    return trained | {main: train}, {main: dev}


def hold_out(sentences: Sequence[Sentence]) -> tuple[list[Sentence], list[Sentence]]:
    """Cut a treebank into train and dev: of every hundred sentences the last ten are dev.

    Neighbours stay together, as they may be of one text. Of a rest it is the last tenth. A sentence
    that is not annotated completely stays in train.
    """
    train: list[Sentence] = []
    dev: list[Sentence] = []
    has_labels = any(word.deprel != BLANK for sentence in sentences for word in sentence.words)
    for start in range(0, len(sentences), _BLOCK):
        block = sentences[start : start + _BLOCK]
        first = len(block) - len(block) // 10
        for i, sentence in enumerate(block):
            (dev if i >= first and _is_complete(sentence, has_labels) else train).append(sentence)
    if not dev:
        raise ConfigError(
            "no dev treebank, and too few sentences with a whole tree to hold some out of train",
            "--dev FILE",
        )
    return train, dev


def _is_complete(sentence: Sentence, has_labels: bool) -> bool:
    return all(
        word.head != BLANK and (word.deprel != BLANK or not has_labels) for word in sentence.words
    )


def in_treebank(vocab: Vocab, name: str) -> Vocab:
    """Read sentences as of the treebank of that name, or as of the main one if it is not known."""
    return vocab.as_in(name) if name in vocab.treebanks else vocab


def _with_vectors(
    vocab: Vocab, model: ModelConfig, sentences: Sequence[Sentence]
) -> tuple[Vocab, Vector]:
    """Add the words that have a pre-trained vector; the vectors of specials are zero."""
    if not model.vectors:
        raise ConfigError("model.vector_words needs model.vectors", "--set model.vectors=FILE")
    forms = {word.form for sentence in sentences for word in sentence.words}
    also = forms | {form.lower() for form in forms}
    path = Path(model.vectors)
    words, table = read_first_vectors(path, model.vector_words, model.vector_size, also)
    specials = np.zeros((N_SPECIALS, model.vector_size), np.float32)
    return replace(vocab, vectors=Index(words)), np.concatenate([specials, table])


def _read_parts(given: str | tuple[str, ...], form: Format, part: str) -> dict[str, list[Sentence]]:
    treebanks = {}
    for name, source in sources_of(given, part).items():
        treebanks[name] = [sentence for sentence in read_sentences(source, form) if len(sentence)]
        if not treebanks[name]:
            raise DataError("no sentences", source)
        for sentence in treebanks[name]:
            _refuse_line_ends(sentence)
            # Words without a head count as if they were attached to ROOT: only cycles remain.
            if not is_tree(partial_heads(sentence).clip(min=0)):
                raise DataError(
                    "the heads of this sentence do not form a tree: there is a cycle",
                    sentence.source,
                    sentence.first_line,
                    "correct the tree or remove the sentence",
                )
    return treebanks


def _refuse_line_ends(sentence: Sentence) -> None:
    """Raise an error if a line end stands inside a column: a model that learned it is refused."""
    for position, row in enumerate(sentence.rows, 1):
        if "\r" in sentence.lines[row].rstrip("\r\n"):
            raise DataError(
                "there is a carriage return inside this line",
                sentence.source,
                sentence.line_of(position),
                "remove it, or write _ for a column without a value",
            )


def _require_whole_trees(sentences: Sequence[Sentence], vocab: Vocab) -> None:
    """Raise an error if a word of dev has no head or, if labels are learned, no label."""
    has_labels = vocab.labels.strings != (BLANK,)
    for sentence in sentences:
        sentence.gold_heads()
        for position, word in enumerate(sentence.words, 1):
            if has_labels and word.deprel == BLANK:
                raise DataError(
                    f"word {position} ('{word.form[:40]}') has no DEPREL",
                    sentence.source,
                    sentence.line_of(position),
                    "only training files may have blanks; dev must be annotated completely",
                )


def sources_of(given: str | tuple[str, ...], part: str) -> dict[str, str]:
    """Name the files of `part` (`train` or `dev`): name -> path, the main treebank first.

    A folder stands for the file in it that is named like `train.conllu.xz` or
    `xx_yy-ud-train.conllu`. A treebank is named after its file, or after its folder if the file is
    just `train` or `dev`.
    """
    paths = [given] if isinstance(given, str) else list(given)
    if not paths or not all(paths):
        raise ConfigError(f"no {part} treebank", f"--{part} FILE, or data.{part} in the recipe")
    named: dict[str, str] = {}
    for path in paths:
        found = _in_folder(Path(path), part) if Path(path).is_dir() else Path(path)
        name = found.name.split(".")[0].removesuffix(f"-{part}")
        if name == part:
            name = found.resolve().parent.name
        if name in named:
            raise ConfigError(
                f"two {part} treebanks are named {name}: {named[name]} and {found}",
                "rename one of them",
            )
        named[name] = str(found)
    return named


def _in_folder(folder: Path, part: str) -> Path:
    found = [
        path
        for path in sorted(folder.iterdir())
        if path.name.endswith(_ENDINGS) and path.name.split(".")[0].split("-")[-1] == part
    ]
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise DataError(
            f"this folder must have one {part} file, and has: {names}",
            str(folder),
            hint=f"name the file: --{part} FILE",
        )
    return found[0]


def join_examples(parts: Iterable[Examples]) -> Examples:
    """Join examples one after the other."""
    columns = zip(*((part.encoded, part.gold, part.scored) for part in parts), strict=True)
    return Examples(*(list(chain.from_iterable(column)) for column in columns))


def make_examples(
    sentences: Sequence[Sentence],
    vocab: Vocab,
    rule: Punctuation = "none",
    is_in_lexicon: bool = False,
) -> Examples:
    """Encode sentences and their gold trees; see `encode` for `is_in_lexicon`."""
    for sentence in sentences:
        require_tags(sentence, vocab)
    has_feats = any(word.feats != BLANK for sentence in sentences for word in sentence.words)
    return Examples(
        [encode(sentence, vocab, is_in_lexicon) for sentence in sentences],
        [encode_gold(sentence, vocab, has_feats) for sentence in sentences],
        [
            np.array([False, *(not is_punctuation(word, rule) for word in sentence.words)])
            for sentence in sentences
        ],
    )
