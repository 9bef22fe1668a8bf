"""Several models as one scorer: the mean of their distributions.

Each member reads a sentence by its own vocabulary. The probabilities of heads are averaged as they
are; labels and tags are matched by their strings, and one that a member does not know has no
probability there. The tree is made from the mean. So an ensemble has a distribution over heads like
any model (Eq. 5), and can teach one.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import accumulate, pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from headwise.arrays import FloatArray, IntArray
from headwise.runtime.scorer import Scorer, Selection
from headwise.settings.choices import Mark, PredictedTag
from headwise.treebank.sentence import Sentence
from headwise.vocabulary.vocab import EMPTY_INDEX, N_SPECIALS, Index, Vocab

TINY = 1e-30
"""The probability that replaces 0 before a logarithm; float32 can still represent it."""
Positions = NDArray[np.int64]


class EnsembleScorer:
    """`Scorer` that averages others; `vocab` has the labels and tags of all of them."""

    def __init__(self, members: Sequence[Scorer]) -> None:
        """Take at least one scorer."""
        self.members = members
        self.vocab = join_vocabs([member.vocab for member in members])
        self._label_positions = [
            positions(member.vocab.labels, self.vocab.labels) for member in members
        ]
        self._tag_positions = {
            column: {
                i: positions(member.vocab.predicted[column], index)
                for i, member in enumerate(members)
                if column in member.vocab.predicted
            }
            for column, index in self.vocab.predicted.items()
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
        tags = tuple(self._mean_tags(selections, column) for column in self.vocab.predicted)
        return Selection(
            (total - np.log(len(selections))).astype(np.float32),
            selections,
            tuple(column.argmax(1).astype(np.int32) for column in tags),
            tags,
        )

    def _mean_tags(self, selections: tuple[Selection, ...], column: PredictedTag) -> FloatArray:
        """Average over the members that predict a column: log-probabilities [N+1, tags]."""
        where = self._tag_positions[column]
        probs = (
            np.exp(selections[i].tag_log_probs[list(self.members[i].vocab.predicted).index(column)])
            for i in where
        )
        return mean_log(probs, list(where.values()), len(self.vocab.predicted[column].strings))


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


def join_vocabs(vocabs: Sequence[Vocab]) -> Vocab:
    """Make the vocabulary of an ensemble: all labels, tags and columns; ids are the members'."""
    columns = dict.fromkeys(column for vocab in vocabs for column in vocab.predicted)
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
    )


def _join_indexes(indexes: Iterable[Index]) -> Index:
    return Index(dict.fromkeys(string for index in indexes for string in index.strings))
