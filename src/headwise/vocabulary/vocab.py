"""Strings and their ids: words, tags, labels and marks of a training treebank.

Case and digits are kept. Words seen fewer than `min_count` times are UNK, and so is any string
that training never saw: a word, a tag or a label. The special ids come before the strings and have
no spelling, so that a word that is spelled `<unk>` is a word like any other.

Marks are further properties of a word, each a string with a vector of its own. A tag is one mark,
and so is each feature in FEATS, so that a combination of features that training never saw is still
a sum of known ones. The treebank that a sentence comes from is a mark of all its words; by default
that is the main treebank of the model.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Annotated, get_args

import msgspec

from headwise.errors import ConfigError, ModelError
from headwise.settings.choices import Mark, PredictedColumn, PredictedTag, TagColumn
from headwise.treebank.sentence import BLANK, VALUE_HINT, Sentence, Word, is_value
from headwise.vocabulary.features import Features, collect_features, has_analysis
from headwise.vocabulary.lemma_rules import is_rule, rule_of
from headwise.vocabulary.letters import NO_ALPHABET, Letters, collect_letters
from headwise.vocabulary.lexicon import Lexicon
from headwise.vocabulary.ngrams import Ngrams
from headwise.vocabulary.subwords import Subwords

PAD, UNK, ROOT = 0, 1, 2
N_SPECIALS = 3
"""Every index starts with PAD, UNK and ROOT."""
TREEBANK = "treebank="
MIN_RULE_COUNT = 2
"""Lemma rules seen less often are left to the lexicon."""
MAX_FEATURE_VALUES = 2**20
"""Features times the values of the one that has most, or times the tags that they go with; the
largest treebanks have under 2**14."""
MAX_FEATS = 20_000
"""Characters of the longest FEATS that a model may write; those of treebanks have some hundreds."""


class Index:
    """A list of distinct strings, whose ids come after the specials."""

    def __init__(self, strings: Iterable[str]) -> None:
        """Number the strings in the order given."""
        self.strings = tuple(strings)
        self._ids = {string: i for i, string in enumerate(self.strings, N_SPECIALS)}
        if len(self._ids) != len(self.strings):
            raise ModelError("a string occurs twice in the vocabulary")

    def __len__(self) -> int:
        """Count the ids, specials included."""
        return len(self.strings) + N_SPECIALS

    def id_of(self, string: str) -> int:
        """Give the id of a string; UNK if it has none."""
        return self._ids.get(string, UNK)


EMPTY_INDEX = Index(())


@dataclass(frozen=True, slots=True)
class Vocab:
    """The words, tags and labels that a model knows.

    `tags` are read from `tag_column`; `predicted` has the tags of each column that the model fills
    in, `features` the values of FEATS and `rules` those of lemmas. `alphabet` has the letters that
    it reads, and `lexicon` what training has seen for each form (in a file of its own). `vectors`
    are words that have a pre-trained vector, `ngrams` cuts words into character n-grams, and
    `subwords` into what a pre-trained transformer reads (it has its own files).
    `marks` are read from `mark_columns`; sentences are read as if they came from `treebank`.
    """

    words: Index
    tags: Index
    labels: Index
    tag_column: TagColumn
    ngrams: Ngrams = field(default_factory=lambda: Ngrams(0))
    vectors: Index = EMPTY_INDEX
    predicted: Mapping[PredictedTag, Index] = field(default_factory=dict)
    mark_columns: tuple[Mark, ...] = ()
    marks: Index = EMPTY_INDEX
    treebank: str = ""
    subwords: Subwords | None = None
    alphabet: Letters = NO_ALPHABET
    features: Features | None = None
    rules: Index | None = None
    lexicon: Lexicon | None = None

    @property
    def outputs(self) -> dict[PredictedColumn, tuple[int, ...]]:
        """Name the columns that the model fills in, with the shape of the scores of a word."""
        shapes: dict[PredictedColumn, tuple[int, ...]] = {
            column: (len(index.strings),) for column, index in self.predicted.items()
        }
        if self.features is not None:
            shapes["feats"] = (len(self.features), self.features.width)
        if self.rules is not None:
            shapes["lemma"] = (len(self.rules.strings),)
        return shapes

    @property
    def reads(self) -> tuple[str, ...]:
        """Name the columns of annotation that are read, as `tag_column` and `marks` do."""
        tags = () if self.tag_column == "none" else (self.tag_column,)
        return (*tags, *(column for column in self.mark_columns if column != "treebank"))

    @property
    def treebanks(self) -> tuple[str, ...]:
        """Name the treebanks that the model can tell apart, the main one first."""
        if "treebank" not in self.mark_columns:
            return ()
        marks = [mark for mark in self.marks.strings if mark.startswith(TREEBANK)]
        return tuple(mark.removeprefix(TREEBANK) for mark in marks)

    def as_in(self, treebank: str) -> "Vocab":
        """Copy the vocabulary, to read sentences as if they came from that treebank."""
        if treebank not in self.treebanks:
            known = ", ".join(self.treebanks) or "none: it was not trained to tell treebanks apart"
            raise ConfigError(f"no treebank {treebank} in this model", f"it knows {known}")
        return replace(self, treebank=treebank)

    def vector_id(self, form: str) -> int:
        """Give the id of a word's vector: as it is spelled, or else in lower case."""
        exact = self.vectors.id_of(form)
        return exact if exact != UNK else self.vectors.id_of(form.lower())


class _Lists(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`vocab.json`."""

    tag_column: TagColumn
    words: list[str]
    tags: list[str]
    labels: list[str]
    pieces: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0
    vectors: list[str] = []
    predicted: dict[PredictedTag, list[str]] = {}
    mark_columns: list[Mark] = []
    marks: list[str] = []
    letters: list[str] = []
    features: dict[str, list[str]] | None = None
    features_of: dict[str, list[str]] = {}
    """The features that go with each UPOS."""
    rules: list[str] | None = None


def build_vocab(
    sentences: Sequence[Sentence],
    tag_column: TagColumn,
    min_count: int,
    n_buckets: int = 0,
    predicted: Sequence[PredictedColumn] = (),
    reads_letters: bool = False,
) -> Vocab:
    """Collect the strings of a treebank, the most frequent first and ties in alphabetical order.

    Blanks of labels and predicted columns do not count, and columns that are blank in the whole
    treebank are not predicted, nor is FEATS if it has no `Name=Value`. If no word has a label, the
    blank is the only label.
    """
    words = [word for sentence in sentences for word in sentence.words]
    tags = (tag for sentence in sentences for tag in tag_of(sentence, tag_column))
    given = [c for c in predicted if any(getattr(word, c) != BLANK for word in words)]
    analysed = filter(has_analysis, words if "feats" in given else ())
    features = collect_features((word.upos, word.feats) for word in analysed)
    taught = map(rule_of, words if "lemma" in given else ())
    rules = _by_count((rule for rule in taught if rule is not None), MIN_RULE_COUNT)
    vocab = Vocab(
        Index(_by_count((word.form for word in words), min_count)),
        Index(_by_count(tags)),
        Index(_by_count(_given(words, "deprel")) or [BLANK]),
        tag_column,
        Ngrams(n_buckets),
        predicted={
            column: Index(_by_count(_given(words, column)))
            for column in get_args(PredictedTag)
            if column in given
        },
        alphabet=Letters(collect_letters(word.form for word in words) if reads_letters else ()),
        features=features if len(features) else None,
        rules=Index(rules) if rules else None,
    )
    if (what := _why_unwritable(vocab)) is not None:
        raise ConfigError(f"no model can write this: {what}", "correct the treebank")
    return vocab


def tag_of(sentence: Sentence, tag_column: TagColumn) -> list[str]:
    """Read the tags of the words from the column that the model uses; nothing for `none`.

    With `upos+xpos` a tag is the pair of both.
    """
    if tag_column == "none":
        return []
    if tag_column == "upos+xpos":
        return [f"{word.upos} {word.xpos}" for word in sentence.words]
    return [getattr(word, tag_column) for word in sentence.words]


def _given(words: Iterable[Word], column: str) -> Iterator[str]:
    return (value for word in words if (value := getattr(word, column)) != BLANK)


def _by_count(strings: Iterable[str], min_count: int = 1) -> list[str]:
    """List the distinct strings, the most frequent first."""
    counts = Counter(strings)
    frequent = [string for string, count in counts.items() if count >= min_count]
    return sorted(frequent, key=lambda string: (-counts[string], string))


def marks_of(word: Word, columns: Sequence[Mark]) -> list[str]:
    """List the marks of a word that its own columns give: `upos=NOUN`, `feats=Case=Nom`."""
    marks = []
    for column in columns:
        if column == "feats" and word.feats != BLANK:
            marks += [f"feats={feature}" for feature in word.feats.split("|")]
        elif column == "xpos":
            marks += [f"xpos={part}" for part in word.xpos.split("+")]
        elif column == "upos":
            marks.append(f"upos={word.upos}")
    return marks


def collect_marks(
    treebanks: Mapping[str, Sequence[Sentence]], columns: Sequence[Mark]
) -> list[str]:
    """List the marks of treebanks: their names, then the others by frequency."""
    names = [f"{TREEBANK}{name}" for name in treebanks] if "treebank" in columns else []
    sentences = chain.from_iterable(treebanks.values())
    words = (word for sentence in sentences for word in sentence.words)
    return names + _by_count(mark for word in words for mark in marks_of(word, columns))


def vocab_to_json(vocab: Vocab) -> bytes:
    """Write a vocabulary as JSON, readable and the same bytes each time."""
    lists = _Lists(
        vocab.tag_column,
        list(vocab.words.strings),
        list(vocab.tags.strings),
        list(vocab.labels.strings),
        vocab.ngrams.n_buckets,
        list(vocab.vectors.strings),
        {column: list(index.strings) for column, index in vocab.predicted.items()},
        list(vocab.mark_columns),
        list(vocab.marks.strings),
        list(vocab.alphabet.letters),
    )
    if vocab.features is not None:
        values, allowed = vocab.features.values, vocab.features.allowed
        lists = msgspec.structs.replace(
            lists,
            features={name: list(strings) for name, strings in values.items()},
            features_of={upos: sorted(names) for upos, names in allowed.items()},
        )
    if vocab.rules is not None:
        lists = msgspec.structs.replace(lists, rules=list(vocab.rules.strings))
    return msgspec.json.format(msgspec.json.encode(lists), indent=1) + b"\n"


def vocab_from_json(data: bytes, where: str) -> Vocab:
    """Read a vocabulary, strictly."""
    hint = "the model folder is damaged; fetch it again"
    try:
        lists = msgspec.json.decode(data, type=_Lists)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ModelError(f"{where}: {error}", hint) from error
    for rule in lists.rules or ():
        if not is_rule(rule):
            raise ModelError(f"{where}: {rule[:40]!r} is not a rule for lemmas", hint)
    try:
        vocab = Vocab(
            Index(lists.words),
            Index(lists.tags),
            Index(lists.labels),
            lists.tag_column,
            Ngrams(lists.pieces),
            Index(lists.vectors),
            {column: Index(strings) for column, strings in lists.predicted.items()},
            tuple(lists.mark_columns),
            Index(lists.marks),
            alphabet=Letters(lists.letters) if lists.letters else NO_ALPHABET,
            features=None
            if lists.features is None
            else _checked_features(lists.features, lists.features_of),
            rules=None if lists.rules is None else Index(lists.rules),
        )
    except ModelError as error:
        raise ModelError(f"{where}: {error.what}", hint) from error
    if (what := _why_unwritable(vocab)) is not None:
        raise ModelError(f"{where}: {what}", hint)
    if "treebank" in lists.mark_columns and vocab.treebanks:
        return vocab.as_in(vocab.treebanks[0])
    return vocab


def _checked_features(
    features: dict[str, list[str]], features_of: dict[str, list[str]]
) -> Features:
    """Take features that can be distinguished once they are written, and not too many."""
    made = Features(
        {name: tuple(values) for name, values in features.items()},
        {upos: frozenset(names) for upos, names in features_of.items()},
    )
    for name, values in features.items():
        if not {"=", "|"}.isdisjoint(name) or not values or len(set(values)) != len(values):
            raise ModelError(f"{name[:40]!r} cannot be the name of these features")
        if any("|" in value for value in values):
            raise ModelError(f"a value of {name[:40]!r} cannot be written in FEATS")
    if len(made) * max(made.width, len(made.allowed)) > MAX_FEATURE_VALUES:
        raise ModelError(f"more than {MAX_FEATURE_VALUES:,} values of features, or tags")
    return made


def _why_unwritable(vocab: Vocab) -> str | None:
    """Say which string does not fit into a column of CoNLL-U, if one does not."""
    values = {} if vocab.features is None else vocab.features.values
    predicted = (index.strings for index in vocab.predicted.values())
    for string in chain(vocab.labels.strings, *predicted, values, *values.values()):
        if not is_value(string):
            return f"{string[:40]!r} cannot be written as a label or tag: {VALUE_HINT}"
    longest = sum(len(name) + 2 + max(map(len, of_name)) for name, of_name in values.items())
    return f"FEATS may have more than {MAX_FEATS:,} characters" if longest > MAX_FEATS else None
