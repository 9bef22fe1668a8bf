"""The best tree around what a person fixed, and what the parser says of everything else.

The network reads forms only, as a rule, so its scores of a sentence are remembered: after an edit
to the tree only the decoding is done again.
"""

import math
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import msgspec
import numpy as np

from headwise.annotate.alternatives import Ranked, rank, rank_columns, rank_heads
from headwise.annotate.contradictions import explain
from headwise.annotate.marks import Marks, constraints_of, read_marks
from headwise.arrays import FloatArray
from headwise.errors import ConfigError
from headwise.runtime.columns import ColumnWriter
from headwise.runtime.kept import decode_around
from headwise.runtime.parser import Parser
from headwise.runtime.scorer import Selection
from headwise.runtime.tree_space import MAX_SUMMED_WORDS
from headwise.settings.choices import Column
from headwise.settings.parsing import DecodeConfig
from headwise.treebank.sentence import BLANK, RankedTree, Sentence, Word
from headwise.trees.constraints import Constraints
from headwise.trees.decode import decode_k_best
from headwise.trees.distribution import TreeDistribution, distribution_of_trees
from headwise.trees.tree import Heads, is_projective

CACHED_SENTENCES = 64
_KEPT_COST = 60.0
"""What an arc loses that would replace a given one: more than the scores of arcs differ by."""
_ANALYSIS: tuple[Column, ...] = ("upos", "xpos")
_DECIMALS = 6


class WordAnswer(msgspec.Struct, frozen=True):
    """What a word could be, best first."""

    heads: list[tuple[int, float]]
    labels: Ranked
    probability: float
    """Of the arc that it has, over all trees around what is fixed."""
    upos: Ranked
    xpos: Ranked
    feats: Ranked
    lemma: Ranked


class DecodedSentence(msgspec.Struct, frozen=True):
    """A sentence with everything filled in that was not fixed, and the other readings of it."""

    conllu: str
    words: list[WordAnswer]
    trees: list[RankedTree]
    probability: float | None
    """Of the whole tree; None for a sentence too long to sum over its trees."""
    changed: list[int]
    """Words that had a head or a label and have another one now."""


@dataclass(frozen=True, slots=True)
class _Decoded:
    heads: Heads
    labels: tuple[str, ...]
    label_log_probs: FloatArray
    distribution: TreeDistribution | None


class Redecoder:
    """Decodes sentences around their marks with one parser; safe to call from several threads."""

    def __init__(self, parser: Parser) -> None:
        """Start with nothing remembered; the decoder `greedy` gives no trees, so `mst` does."""
        self.parser = parser
        how = parser.settings.decode
        decoder = "mst" if how.decoder == "greedy" else how.decoder
        self._how = DecodeConfig(
            decoder=decoder, single_root=how.single_root, weights="log-probability"
        )
        self._columns = ColumnWriter(parser.vocab, _ANALYSIS)
        self._selections: OrderedDict[tuple[str, ...], Selection] = OrderedDict()
        self._lock = threading.Lock()

    def decode(
        self, sentence: Sentence, k: int = 3, word: int | None = None, keep: bool = False
    ) -> DecodedSentence:
        """Find the best tree with everything that is fixed, its probabilities and the next best.

        Args:
            sentence: with marks.
            k: how many trees.
            word: the word that was changed last; it matters only if there is a contradiction.
            keep: let arcs and labels that the sentence has stay, unless what is fixed forbids them.

        Raises:
            ContradictionError: if no tree has everything that is fixed.
        """
        if not len(sentence):
            return DecodedSentence(sentence.conllu, [], [], None, [])
        marks = read_marks(sentence)
        selection = self._select(sentence)
        decoded = self._decode(sentence, marks, selection, word, keep)
        filled = self._fill(sentence, decoded, selection)
        trees = self._best_trees(sentence, marks, selection, decoded, k)
        return DecodedSentence(
            filled.conllu,
            self._describe(filled, marks, selection, decoded),
            trees,
            _tree_probability(decoded),
            _changed(sentence, filled),
        )

    def certainty(self, sentence: Sentence) -> float:
        """Return the lowest probability of an arc that is not fixed; 1 if all are."""
        marks = read_marks(sentence)
        selection = self._select(sentence, remember=False)
        decoded = self._decode(sentence, marks, selection, None, False)
        probabilities = _arc_probabilities(selection, decoded)
        free = [
            p for p, fixed in zip(probabilities, marks.fixed, strict=True) if "Head" not in fixed
        ]
        return min(free, default=1.0)

    def _select(self, sentence: Sentence, remember: bool = True) -> Selection:
        self.parser.check(sentence)
        read = self.parser.vocab.reads
        columns = {"form", *(part for column in read for part in column.split("+"))}
        key = tuple(getattr(word, column) for column in sorted(columns) for word in sentence.words)
        with self._lock:
            known = self._selections.get(key)
            if known is not None:
                self._selections.move_to_end(key)
                return known
        (selection,) = self.parser.scorer.select([sentence])
        if remember and len(sentence) <= MAX_SUMMED_WORDS:
            with self._lock:
                self._selections[key] = selection
                if len(self._selections) > CACHED_SENTENCES:
                    self._selections.popitem(last=False)
        return selection

    def _decode(
        self,
        sentence: Sentence,
        marks: Marks,
        selection: Selection,
        word: int | None,
        keep: bool,
    ) -> _Decoded:
        scores = selection.head_log_probs
        preferred = _prefer_given(scores, sentence) if keep else scores
        try:
            constraints = constraints_of(sentence, marks)
            (tree,) = decode_around([preferred], [constraints], self._how)
        except ConfigError as error:
            attempt = partial(self._attempt, scores)
            raise explain(sentence, marks, scores, word, attempt, error) from error
        (label_log_probs,) = self.parser.scorer.label([selection], [tree.heads])
        strings = self.parser.vocab.labels.strings
        labels = [strings[i] for i in label_log_probs.argmax(1).tolist()]
        for position, (given, head) in enumerate(
            zip(sentence.words, tree.heads[1:], strict=True), 1
        ):
            if keep and given.deprel != BLANK and given.head == str(head):
                labels[position - 1] = given.deprel
            labels[position - 1] = constraints.labels.get(position, labels[position - 1])
        distribution = None
        if len(sentence) <= MAX_SUMMED_WORDS:
            projective = self._how.decoder == "eisner" and is_projective(tree.heads)
            distribution = distribution_of_trees(
                scores,
                projective=projective,
                single_root=self._how.single_root,
                constraints=constraints,
            )
        return _Decoded(tree.heads, tuple(labels), label_log_probs, distribution)

    def _attempt(self, scores: FloatArray, constraints: Constraints) -> None:
        decode_around([scores], [constraints], self._how)

    def _fill(self, sentence: Sentence, decoded: _Decoded, selection: Selection) -> Sentence:
        """Put the tree into the sentence, and what is predicted into columns that are blank."""
        (written,) = self._columns.write([sentence], [selection])
        words = []
        for i, (word, label) in enumerate(zip(sentence.words, decoded.labels, strict=True)):
            values = {column: of_column[i] for column, (of_column, _) in written.items()}
            blank = {
                column: value
                for column, value in values.items()
                if getattr(word, column) == BLANK and _is_open(word, column)
            }
            words.append(word._replace(head=str(decoded.heads[i + 1]), deprel=label, **blank))
        return sentence.with_words(words)

    def _best_trees(
        self,
        sentence: Sentence,
        marks: Marks,
        selection: Selection,
        decoded: _Decoded,
        k: int,
    ) -> list[RankedTree]:
        distribution = decoded.distribution
        if distribution is None or not k:
            return []
        constraints = constraints_of(sentence, marks)
        projective = self._how.decoder == "eisner" and is_projective(decoded.heads)
        best = decode_k_best(
            selection.head_log_probs,
            k,
            "eisner" if projective else "mst",
            self._how.single_root,
            constraints,
        )
        strings = self.parser.vocab.labels.strings
        log_probs = self.parser.scorer.label([selection] * len(best), best)
        trees = []
        for heads, of_labels in zip(best, log_probs, strict=True):
            chosen = enumerate(of_labels.argmax(1).tolist(), 1)
            labels = tuple(constraints.labels.get(i, strings[label]) for i, label in chosen)
            probability = min(1.0, math.exp(distribution.log_prob(heads)))
            trees.append(
                RankedTree(tuple(heads[1:].tolist()), labels, round(probability, _DECIMALS))
            )
        return trees

    def _describe(
        self, sentence: Sentence, marks: Marks, selection: Selection, decoded: _Decoded
    ) -> list[WordAnswer]:
        by_word = np.exp(np.minimum(selection.head_log_probs, 0.0))
        np.fill_diagonal(by_word, 0.0)
        ranked = by_word.copy() if decoded.distribution is None else decoded.distribution.marginals
        fixed = ["Head" in columns for columns in marks.fixed]
        ranked = np.where(np.array([False, *fixed])[:, None], by_word, ranked)
        columns = rank_columns(sentence.words, selection, self.parser.vocab)
        strings = self.parser.vocab.labels.strings
        return [
            WordAnswer(heads, labels, round(probability, _DECIMALS), **of_word)
            for heads, labels, probability, of_word in zip(
                rank_heads(ranked),
                rank(decoded.label_log_probs, strings),
                _arc_probabilities(selection, decoded),
                columns,
                strict=True,
            )
        ]


def _prefer_given(scores: FloatArray, sentence: Sentence) -> FloatArray:
    """Lower the scores of arcs that would replace a given one, `[N+1, N+1]`."""
    preferred = scores.copy()
    for position, head in enumerate(sentence.heads, 1):
        if head is not None:
            given = preferred[position, head]
            preferred[position] -= _KEPT_COST
            preferred[position, head] = given
    return preferred


def _is_open(word: Word, column: str) -> bool:
    """Say whether a blank means "not known": with UPOS, a blank in FEATS means "none"."""
    return column != "feats" or word.upos == BLANK


def _arc_probabilities(selection: Selection, decoded: _Decoded) -> list[float]:
    """Return the probability of each arc: its marginal, or for very long sentences Eq. 5."""
    words = np.arange(1, len(decoded.heads))
    if decoded.distribution is None:
        chosen = np.exp(selection.head_log_probs[words, decoded.heads[1:]])
    else:
        chosen = decoded.distribution.marginals[words, decoded.heads[1:]]
    probabilities: list[float] = np.clip(chosen, 0.0, 1.0).tolist()
    return probabilities


def _tree_probability(decoded: _Decoded) -> float | None:
    if decoded.distribution is None:
        return None
    return min(1.0, math.exp(decoded.distribution.log_prob(decoded.heads)))


def _changed(before: Sentence, after: Sentence) -> list[int]:
    def is_other(old: Sequence[str], new: Sequence[str]) -> bool:
        return any(a not in (BLANK, b) for a, b in zip(old, new, strict=True))

    return [
        position
        for position, (old, new) in enumerate(zip(before.words, after.words, strict=True), 1)
        if is_other((old.head, old.deprel), (new.head, new.deprel))
    ]
