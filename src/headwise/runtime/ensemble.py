"""Several models as one scorer: the mean of their distributions.

Each member reads a sentence by its own vocabulary. The probabilities of heads are averaged as they
are; labels, tags, values of features and rules of lemmas are matched by their strings, and one that
a member does not know has no probability there. Of a feature that it does not know, a member says
that no word has it. The tree is made from the mean. So an ensemble has a distribution over heads
like any model (Eq. 5), and can teach one.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from headwise.arrays import FloatArray, IntArray
from headwise.runtime.scorer import Scorer, Selection
from headwise.settings.choices import Mark, PredictedColumn, PredictedTag
from headwise.treebank.sentence import Sentence
from headwise.vocabulary.features import ABSENT, Features, join_features
from headwise.vocabulary.vocab import EMPTY_INDEX, N_SPECIALS, Index, Vocab

TINY = 1e-30
"""The probability that replaces 0 before a logarithm; float32 can still represent it."""
Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the scores of a member's column belong in the ensemble's, both in one row a word.

    `column` counts the columns that the member predicts. Its positions `reads` belong at `writes`;
    what is at `certain` has probability 1.
    """

    column: int
    reads: Positions
    writes: Positions
    certain: Positions


class EnsembleScorer:
    """`Scorer` that averages others; `vocab` has the labels and tags of all of them."""

    def __init__(self, members: Sequence[Scorer]) -> None:
        """Take at least one scorer."""
        self.members = members
        self.vocab = ensemble_vocab([member.vocab for member in members])
        self._label_positions = [
            positions(member.vocab.labels, self.vocab.labels) for member in members
        ]
        self._places = {
            column: {
                i: _place(column, member.vocab, self.vocab)
                for i, member in enumerate(members)
                if column in member.vocab.outputs
            }
            for column in self.vocab.outputs
        }

    def in_treebank(self, name: str) -> "EnsembleScorer":
        """Let every member that knows the treebank read sentences as its."""
        return EnsembleScorer([member.in_treebank(name) for member in self.members])

    def select(self, sentences: Sequence[Sentence]) -> list[Selection]:
        """Give each word of each sentence its distribution over heads."""
        selected = [member.select(sentences) for member in self.members]
        return [self._join(selections) for selections in zip(*selected, strict=True)]

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        """Give each arc its distribution over labels: float32 [N, R] for heads int32 [N+1]."""
        if not selections:
            return []
        labelled = [
            np.concatenate(member.label([s.features[i] for s in selections], heads))
            for i, member in enumerate(self.members)
        ]
        n_labels = len(self.vocab.labels.strings)
        log_probs = mean_log(map(np.exp, labelled), self._label_positions, n_labels)
        ends = accumulate((len(chosen) - 1 for chosen in heads), initial=0)
        return [log_probs[start:end] for start, end in pairwise(ends)]

    def _join(self, selections: tuple[Selection, ...]) -> Selection:
        total = reduce(np.logaddexp, (selection.head_log_probs for selection in selections))
        tags = tuple(self._mean_tags(selections, column) for column in self.vocab.outputs)
        return Selection(
            (total - np.log(len(selections))).astype(np.float32),
            selections,
            tuple(column.argmax(-1).astype(np.int32) for column in tags),
            tags,
        )

    def _mean_tags(self, selections: tuple[Selection, ...], column: PredictedColumn) -> FloatArray:
        """Average over the members that predict a column: log-probabilities [N+1, ...]."""
        shape = self.vocab.outputs[column]
        total = np.zeros((len(selections[0].head_log_probs), math.prod(shape)), np.float32)
        places = self._places[column]
        for i, place in places.items():
            log_probs = selections[i].tag_log_probs[place.column].reshape(len(total), -1)
            total[:, place.writes] += np.exp(log_probs[:, place.reads])
            total[:, place.certain] += 1
        log_probs = np.log(np.maximum(total / len(places), TINY))
        return log_probs.reshape(-1, *shape)


def mean_log(probs: Iterable[FloatArray], where: Sequence[Positions], size: int) -> FloatArray:
    """Average distributions [N, k] whose columns belong at `where`: float32 [N, size]."""
    parts = []
    for member_probs, columns in zip(probs, where, strict=True):
        wide = np.zeros((len(member_probs), size), np.float32)
        wide[:, columns] = member_probs
        parts.append(wide)
    return np.log(np.maximum(np.mean(parts, axis=0, dtype=np.float32), TINY)).astype(np.float32)


def positions(index: Index, whole: Index) -> Positions:
    """Find the strings of an index in one that has them all: [strings]."""
    return np.array([whole.id_of(string) - N_SPECIALS for string in index.strings], np.int64)


def _place(column: PredictedColumn, vocab: Vocab, whole: Vocab) -> _Place:
    """Match the scores of a member's column with those of the ensemble."""
    number = list(vocab.outputs).index(column)
    if column == "feats":
        assert vocab.features is not None
        assert whole.features is not None
        return _place_features(number, vocab.features, whole.features)
    own, all_strings = _strings(column, vocab), _strings(column, whole)
    nothing = np.zeros(0, np.int64)
    return _Place(number, np.arange(len(own.strings)), positions(own, all_strings), nothing)


def _strings(column: PredictedColumn, vocab: Vocab) -> Index:
    """Give the strings of a column that has one score for each."""
    index = vocab.rules if column == "lemma" else vocab.predicted.get(cast(PredictedTag, column))
    assert index is not None
    return index


def _place_features(number: int, own: Features, whole: Features) -> _Place:
    """Match values by name, with [features, values] in one row."""
    names = list(whole.values)
    reads, writes = [], []
    for f, (name, values) in enumerate(own.values.items()):
        at = names.index(name)
        in_whole = [ABSENT, *(1 + whole.values[name].index(value) for value in values)]
        reads += [f * own.width + i for i in range(len(in_whole))]
        writes += [at * whole.width + i for i in in_whole]
    unknown = [i * whole.width + ABSENT for i, name in enumerate(names) if name not in own.values]
    return _Place(number, *(np.array(part, np.int64) for part in (reads, writes, unknown)))


def ensemble_vocab(vocabs: Sequence[Vocab]) -> Vocab:
    """Make the vocabulary of an ensemble: all labels, tags and columns; ids are the members'.

    The lexicon is that of the first member that has one.
    """
    columns = dict.fromkeys(column for vocab in vocabs for column in vocab.predicted)
    features = [vocab.features for vocab in vocabs if vocab.features is not None]
    rules = [vocab.rules for vocab in vocabs if vocab.rules is not None]
    reads = dict.fromkeys(part for vocab in vocabs for r in vocab.reads for part in r.split("+"))
    return Vocab(
        EMPTY_INDEX,
        EMPTY_INDEX,
        _join_indexes(vocab.labels for vocab in vocabs),
        "none",
        predicted={
            column: _join_indexes(v.predicted[column] for v in vocabs if column in v.predicted)
            for column in columns
        },
        mark_columns=tuple(cast(Mark, column) for column in reads),
        features=reduce(join_features, features) if features else None,
        rules=_join_indexes(rules) if rules else None,
        lexicon=next((v.lexicon for v in vocabs if v.lexicon is not None), None),
    )


def _join_indexes(indexes: Iterable[Index]) -> Index:
    return Index(dict.fromkeys(string for index in indexes for string in index.strings))
