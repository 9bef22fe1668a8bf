"""How far two annotations of the same sentences agree, and where they do not.

Neither file is gold: exchanging them exchanges only the columns of the tables. A value that is
blank in one of the files is not compared.

Cohen's kappa compares the share of words on which both agree, p, with the share e that chance would
give two annotators who keep their habits but do not look: (p - e) / (1 - e). It is 1 for full
agreement, 0 for what chance gives. Habits are the shares of each category in each file. For labels
and tags the category is the value. For heads it is where the head stands, seen from the word: the
next word to the right, the second to the left, ROOT. So p is UAS, label accuracy and tag accuracy.

Example: of four words, A calls three `obj` and one `obl`, B two and two, and they agree on three.
Then p = 3/4, e = 3/4 · 2/4 + 1/4 · 2/4 = 1/2, and kappa is 1/2.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from headwise.errors import DataError
from headwise.evaluate.metrics import share_in_percent
from headwise.evaluate.pairs import pair_sentences
from headwise.evaluate.scores import is_punctuation
from headwise.settings.choices import Punctuation
from headwise.treebank.sentence import BLANK, Sentence, Word

COMPARED_COLUMNS = ("head", "deprel", "upos")
"""The columns in which words are compared, unless others are requested."""
ALL_COLUMNS = ("head", "deprel", "upos", "xpos", "feats", "lemma")
_Pairs: TypeAlias = Counter[tuple[str, str]]
"""How often each pair of values, of the first file and of the second, occurs."""


class Confusion(NamedTuple):
    """A value of the first file, another of the second, and how many words have them."""

    first: str
    second: str
    n_words: int


@dataclass(frozen=True, slots=True)
class WordDifference:
    """A word on which two files differ, and the columns in which they do.

    `position` is 1..N in its sentence.
    """

    position: int
    first: Word
    second: Word
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SentenceDifference:
    """A sentence with words that differ; `number` counts the sentences with words from 1."""

    number: int
    first: Sentence
    second: Sentence
    words: tuple[WordDifference, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two files agree: shares in percent, kappas up to 1, None if nothing was compared.

    `n_words` are the words compared by head. `uas`, `las` and `label_accuracy` are shares of words
    with the same head, head and label, and label. A kappa is None, too, if all words of both files
    have the same value. Confusions are sorted, the most frequent first.
    """

    n_sentences: int
    n_words: int
    uas: float | None
    las: float | None
    label_accuracy: float | None
    upos: float | None
    head_kappa: float | None
    label_kappa: float | None
    upos_kappa: float | None
    label_confusions: tuple[Confusion, ...]
    upos_confusions: tuple[Confusion, ...]
    n_different_words: int
    n_different_sentences: int


def measure_agreement(
    first: Iterable[Sentence],
    second: Iterable[Sentence],
    rule: Punctuation = "none",
    universal_labels: bool = False,
) -> Agreement:
    """Compare two files of the same sentences: heads, labels and universal tags.

    Args:
        first: sentences; they decide which words are punctuation.
        second: the same sentences in the same order.
        rule: which words to leave out.
        universal_labels: compare labels up to the first `:` only.
    """
    places, labels, tags = _Pairs(), _Pairs(), _Pairs()
    n_sentences = n_words = n_arcs = n_different_words = n_different_sentences = 0
    for one, other in pair_sentences(first, second):
        n_sentences += 1
        n_different = 0
        for mine, yours in _compared_words(one, other, rule, universal_labels):
            has_heads = BLANK not in (mine.head, yours.head)
            has_labels = BLANK not in (mine.deprel, yours.deprel)
            if has_heads:
                places[_place(mine), _place(yours)] += 1
            if has_labels:
                labels[mine.deprel, yours.deprel] += 1
            if BLANK not in (mine.upos, yours.upos):
                tags[mine.upos, yours.upos] += 1
            if has_heads and has_labels:
                n_words += 1
                n_arcs += mine.head == yours.head and mine.deprel == yours.deprel
            n_different += bool(_different_columns(mine, yours, COMPARED_COLUMNS))
        n_different_words += n_different
        n_different_sentences += n_different > 0
    if n_sentences == 0:
        raise DataError("no sentences to compare", "the first file", hint="is the file empty?")
    return Agreement(
        n_sentences=n_sentences,
        n_words=places.total(),
        uas=_agreement(places),
        las=share_in_percent(n_arcs, n_words),
        label_accuracy=_agreement(labels),
        upos=_agreement(tags),
        head_kappa=cohens_kappa(places),
        label_kappa=cohens_kappa(labels),
        upos_kappa=cohens_kappa(tags),
        label_confusions=_confusions(labels),
        upos_confusions=_confusions(tags),
        n_different_words=n_different_words,
        n_different_sentences=n_different_sentences,
    )


def find_differences(
    first: Iterable[Sentence],
    second: Iterable[Sentence],
    columns: Sequence[str] = COMPARED_COLUMNS,
    rule: Punctuation = "none",
    universal_labels: bool = False,
) -> Iterator[SentenceDifference]:
    """Find the words that differ in one of `columns` (names of `Word`), sentence by sentence."""
    for number, (one, other) in enumerate(pair_sentences(first, second), 1):
        differences = tuple(
            WordDifference(int(mine.id), mine, yours, different)
            for mine, yours in _compared_words(one, other, rule, universal_labels)
            if (different := _different_columns(mine, yours, columns))
        )
        if differences:
            yield SentenceDifference(number, one, other, differences)


def cohens_kappa(pairs: Counter[tuple[str, str]]) -> float | None:
    """Compute Cohen's kappa of pairs of values; None if there is one value only, or no pair."""
    n_words = pairs.total()
    ours, theirs = Counter[str](), Counter[str]()
    for (mine, yours), n in pairs.items():
        ours[mine] += n
        theirs[yours] += n
    # Both shares times the squared number of words, so that they are exact.
    by_chance = sum(n * theirs[value] for value, n in ours.items())
    observed = n_words * sum(n for (mine, yours), n in pairs.items() if mine == yours)
    whole = n_words * n_words
    return (observed - by_chance) / (whole - by_chance) if whole > by_chance else None


def _compared_words(
    first: Sentence, second: Sentence, rule: Punctuation, universal_labels: bool
) -> Iterator[tuple[Word, Word]]:
    """Pair the words that are compared; with `universal_labels` they have no subtypes."""
    for mine, yours in zip(first.words, second.words, strict=True):
        if is_punctuation(mine, rule):
            continue
        if universal_labels:
            yield _without_subtype(mine), _without_subtype(yours)
        else:
            yield mine, yours


def _without_subtype(word: Word) -> Word:
    return word._replace(deprel=word.deprel.partition(":")[0])


def _place(word: Word) -> str:
    """Say where the head stands, seen from the word: `+1` is the next word."""
    return "root" if word.head == "0" else f"{int(word.head) - int(word.id):+d}"


def _different_columns(first: Word, second: Word, columns: Sequence[str]) -> tuple[str, ...]:
    """Name the columns that have different values, none of them blank."""
    values = {column: (getattr(first, column), getattr(second, column)) for column in columns}
    return tuple(
        column
        for column, (mine, yours) in values.items()
        if mine != yours and BLANK not in (mine, yours)
    )


def _agreement(pairs: _Pairs) -> float | None:
    n_same = sum(n for (mine, yours), n in pairs.items() if mine == yours)
    return share_in_percent(n_same, pairs.total())


def _confusions(pairs: _Pairs) -> tuple[Confusion, ...]:
    found = (Confusion(*values, n) for values, n in pairs.items() if values[0] != values[1])
    return tuple(sorted(found, key=lambda confusion: (-confusion.n_words, confusion[:2])))
