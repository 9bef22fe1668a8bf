"""Several models as one scorer: the mean of what they say of the same sentence.

Each member reads the sentence by its own vocabulary. The probabilities of heads are averaged as
they are; labels and tags are brought together by their strings, and one that a member does not know
has no probability with it. The tree is made of the mean. So an ensemble has a distribution over
heads like any model (Eq. 5), and can teach one.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import cast

import numpy as np
from numpy.typing import NDArray

from headwise.runtime.scorer import FloatArray, Scorer, Selection
from headwise.settings.choices import Mark, PredictedTag
from headwise.vocabulary.encode import Encoded, IntArray
from headwise.vocabulary.vocab import N_SPECIALS, NOTHING, Index, Vocab

TINY = 1e-30
"""What stands for no probability under a logarithm; float32 still has it."""
Places = NDArray[np.int64]


class EnsembleScorer:
    """`Scorer` that asks several others; `vocab` is what they know together."""

    def __init__(self, members: Sequence[tuple[Scorer, Vocab]]) -> None:
        """Take at least one scorer, each with its vocabulary."""
        self._scorers = [scorer for scorer, _ in members]
        self._vocabs = [vocab for _, vocab in members]
        self.vocab = join_vocabs(self._vocabs)
        self._label_places = [places(v.labels, self.vocab.labels) for v in self._vocabs]
        self._tag_places = [
            {column: places(index, self.vocab.predicted[column]) for column, index in own.items()}
            for own in (vocab.predicted for vocab in self._vocabs)
        ]

    def select(self, sentences: Sequence[Encoded]) -> list[Selection]:
        """Give each word of each sentence its distribution over heads."""
        told = [
            scorer.select([sentence.members[i] for sentence in sentences])
            for i, scorer in enumerate(self._scorers)
        ]
        return [self._join(selections) for selections in zip(*told, strict=True)]

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        """Give each arc its distribution over labels: float32 [N, R] for heads int32 [N+1]."""
        n_labels = len(self.vocab.labels.strings)
        told = [
            scorer.label([selection.features[i] for selection in selections], heads)
            for i, scorer in enumerate(self._scorers)
        ]
        return [
            mean_log(map(np.exp, of_members), self._label_places, n_labels)
            for of_members in zip(*told, strict=True)
        ]

    def _join(self, selections: tuple[Selection, ...]) -> Selection:
        total = reduce(np.logaddexp, (selection.head_log_probs for selection in selections))
        tags = tuple(self._mean_tags(selections, column) for column in self.vocab.predicted)
        return Selection(
            (total - np.log(len(selections))).astype(np.float32),
            selections,
            tuple(column.argmax(1).astype(np.int32) for column in tags),
            tags,
        )

    def _mean_tags(self, selections: tuple[Selection, ...], column: PredictedTag) -> FloatArray:
        """Average over the members that predict a column: log-probabilities [N+1, tags]."""
        told, where = [], []
        for vocab, own, selection in zip(self._vocabs, self._tag_places, selections, strict=True):
            if column in own:
                n = list(vocab.predicted).index(column)
                told.append(_tag_probs(selection, n, len(own[column])))
                where.append(own[column])
        return mean_log(told, where, len(self.vocab.predicted[column].strings))


def _tag_probs(selection: Selection, n: int, n_tags: int) -> FloatArray:
    """Give the probabilities of the n-th column; a model that tells only its choice is sure."""
    if selection.tag_log_probs:
        return np.exp(selection.tag_log_probs[n])
    return np.eye(n_tags, dtype=np.float32)[selection.tags[n]]


def mean_log(probs: Iterable[FloatArray], where: Sequence[Places], size: int) -> FloatArray:
    """Average distributions [N, k], whose columns go to the places `where`: float32 [N, size]."""
    parts = []
    for own, at in zip(probs, where, strict=True):
        wide = np.zeros((len(own), size), np.float32)
        wide[:, at] = own
        parts.append(wide)
    return np.log(np.maximum(np.mean(parts, axis=0, dtype=np.float32), TINY)).astype(np.float32)


def places(own: Index, whole: Index) -> Places:
    """Find the strings of an index in one that has them all: positions [strings]."""
    return np.array([whole.id_of(string) - N_SPECIALS for string in own.strings], np.int64)


def join_vocabs(vocabs: Sequence[Vocab]) -> Vocab:
    """Make the vocabulary of an ensemble: all labels and tags; it reads by its members alone."""
    columns = dict.fromkeys(column for vocab in vocabs for column in vocab.predicted)
    reads = dict.fromkeys(part for vocab in vocabs for r in vocab.reads for part in r.split("+"))
    return Vocab(
        NOTHING,
        NOTHING,
        _join_indexes(vocab.labels for vocab in vocabs),
        "none",
        predicted={
            column: _join_indexes(v.predicted[column] for v in vocabs if column in v.predicted)
            for column in columns
        },
        mark_columns=tuple(cast(Mark, column) for column in reads),
        members=tuple(vocabs),
    )


def _join_indexes(indexes: Iterable[Index]) -> Index:
    return Index(dict.fromkeys(string for index in indexes for string in index.strings))
