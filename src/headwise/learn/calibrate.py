"""Calibration on dev, at the end of training: probabilities that can be believed.

The scores of heads, of labels and of each predicted column are divided by a temperature, which goes
into the weights: the model stays as fast and as large as it was, and its trees and values stay the
same. What the lexicon says of lemmas has no score; its probability is the share of such lemmas that
are right on dev.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from headwise.arrays import FloatArray
from headwise.evaluate.confidence import HeadScores, calibration_error
from headwise.learn.data.treebanks import Examples
from headwise.learn.fit.dev_scores import best_heads
from headwise.learn.fit.reports import CalibrationReport
from headwise.learn.scorer import TorchScorer
from headwise.network.network import Network
from headwise.runtime.columns import ColumnWriter, analyses_of
from headwise.settings.choices import Column, PredictedColumn
from headwise.settings.parsing import DecodeConfig
from headwise.treebank.sentence import BLANK, Sentence
from headwise.vocabulary.features import has_analysis
from headwise.vocabulary.lexicon import Accuracy
from headwise.vocabulary.vocab import N_SPECIALS

_LOWEST, _HIGHEST = 0.4, 4.0
_N_TRIALS = 16
"""Temperatures that are tried for a column."""
MAX_FITTED_WORDS = 5_000
"""Words of dev that temperatures are fitted on; the error is measured on all."""
_SURE = 1 - 1e-6
"""No share of right values is taken for certain."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The probabilities of values, and whether each is right: float64 and bool [words]."""

    probs: NDArray[np.float64]
    right: NDArray[np.bool_]

    def log_loss(self) -> float:
        """Give the mean of -log of the probability of what turned out to be true."""
        probs = np.clip(self.probs, 1 - _SURE, _SURE)
        return float(-np.log(np.where(self.right, probs, 1 - probs)).mean())

    def error(self) -> float:
        """Give the calibration error in points."""
        return calibration_error(self.probs, self.right)


class Calibration:
    """Divides the scores of a network, one column after the other; `vocab` is the result's."""

    def __init__(
        self, scorer: TorchScorer, network: Network, dev: Examples, sentences: Sequence[Sentence]
    ) -> None:
        """Score dev once; `sentences` are those of `dev`, as they were read."""
        self.vocab = scorer.vocab
        self._network, self._scorer = network, scorer
        self._dev, self._sentences = dev, sentences
        self._selections = scorer.select_encoded(dev.encoded)

    def run(self, decode: DecodeConfig) -> Iterator[CalibrationReport]:
        """Calibrate heads, labels and all columns, and report on each."""
        columns = [one for one in get_args(PredictedColumn) if one in self.vocab.outputs]
        yield replace(self._calibrate_heads(), n_left=len(columns) + 1)
        yield replace(self._calibrate_labels(decode), n_left=len(columns))
        for i, column in enumerate(columns, 1):
            yield replace(self._calibrate_column(column), n_left=len(columns) - i)

    def _calibrate_heads(self) -> CalibrationReport:
        log_probs = [one.head_log_probs for one in self._selections]
        scores = HeadScores(log_probs, [one.heads for one in self._dev.gold])
        temperature = scores.temperature()
        self._network.select.divide_scores(temperature)
        error = scores.error(temperature)
        return CalibrationReport("heads", temperature, scores.error(), error)

    def _calibrate_labels(self, decode: DecodeConfig) -> CalibrationReport:
        """Calibrate labels of right arcs: the right label of a wrong arc is unknown."""
        heads = best_heads(self._selections, decode)
        parts = self._scorer.label(self._selections, heads)
        pairs = list(zip(heads, self._dev.gold, strict=True))
        right = np.concatenate([chosen[1:] == gold.heads[1:] for chosen, gold in pairs])
        labels = np.concatenate([gold.labels[1:] for _, gold in pairs]) - N_SPECIALS
        log_probs, labels = np.concatenate(parts)[right], labels[right]
        is_right = log_probs.argmax(1) == labels

        def judge(temperature: float, n_words: int | None) -> Judged:
            some = divided_by(log_probs[:n_words], temperature)
            return Judged(np.exp(some.max(axis=1)), is_right[:n_words])

        return self._report("labels", judge, self._network.label.divide_scores)

    def _calibrate_column(self, column: PredictedColumn) -> CalibrationReport:
        if column == "lemma" and self.vocab.lexicon is not None:
            accuracy = self._lexicon_accuracy()
            lexicon = self.vocab.lexicon.with_accuracy(accuracy)
            self.vocab = replace(self.vocab, lexicon=lexicon)
        at = list(self.vocab.outputs).index(column)

        def judge(temperature: float, n_words: int | None) -> Judged:
            return self._judge_column(column, at, temperature, n_words)

        def divide(temperature: float) -> None:
            self._network.tag.divide_scores(column, temperature)

        return self._report(column, judge, divide)

    def _report(
        self,
        column: Column,
        judge: Callable[[float, int | None], Judged],
        divide: Callable[[float], None],
    ) -> CalibrationReport:
        """Fit the temperature; if dev has nothing to fit it to, the scores stay as they are."""
        if not len(judge(1.0, MAX_FITTED_WORDS).probs):
            return CalibrationReport(column, 1.0, 0.0, 0.0)
        low, high = math.log(_LOWEST), math.log(_HIGHEST)
        for _ in range(_N_TRIALS // 2):  # the loss falls, and then rises
            third = (high - low) / 3
            one, other = (
                judge(math.exp(low + k * third), MAX_FITTED_WORDS).log_loss() for k in (1, 2)
            )
            low, high = (low, high - third) if one < other else (low + third, high)
        temperature = math.exp((low + high) / 2)
        divide(temperature)
        before, after = (judge(t, None).error() for t in (1.0, temperature))
        return CalibrationReport(column, temperature, before, after)

    def _judge_column(
        self, column: PredictedColumn, at: int, temperature: float, n_words: int | None
    ) -> Judged:
        """Judge the words of dev whose column is annotated."""
        writer = ColumnWriter(self.vocab)
        probs: list[float] = []
        right: list[bool] = []
        for sentence, selection in zip(self._sentences, self._selections, strict=True):
            if n_words is not None and len(probs) >= n_words:
                break
            log_probs = list(selection.tag_log_probs)
            log_probs[at] = divided_by(log_probs[at], temperature)
            divided = replace(selection, tag_log_probs=tuple(log_probs))
            (written,) = writer.write([sentence], [divided])
            values, of_values = written[column]
            for word, value, prob in zip(sentence.words, values, of_values, strict=True):
                gold = getattr(word, column)
                if gold != BLANK or (column == "feats" and has_analysis(word)):
                    probs.append(prob)
                    right.append(value == gold)
        return Judged(np.array(probs), np.array(right, np.bool_))

    def _lexicon_accuracy(self) -> Accuracy:
        """Give the share of right lemmas of the lexicon where the network agrees, and elsewhere.

        One right and one wrong lemma more are counted than there are, so that few cases do not make
        it certain.
        """
        lexicon = self.vocab.lexicon
        assert lexicon is not None
        counts = np.array([[1, 2], [1, 2]])  # [agrees or not, right and all]
        writer = ColumnWriter(replace(self.vocab, lexicon=None))
        for sentence, selection in zip(self._sentences, self._selections, strict=True):
            (written,) = writer.write([sentence], [selection])
            analyses = analyses_of(sentence, written)
            rows = zip(sentence.words, analyses, written["lemma"][0], strict=True)
            for word, analysis, lemma in rows:
                known = lexicon.lemma_of(word.form, *analysis)
                if known is not None and word.lemma != BLANK:
                    counts[int(known != lemma)] += (known == word.lemma, 1)
        agrees, others = (counts[:, 0] / counts[:, 1]).tolist()
        return agrees, others


def divided_by(log_probs: FloatArray, temperature: float) -> FloatArray:
    """Divide log-probabilities [..., k] by a temperature; each row sums to one again."""
    scaled = log_probs / temperature
    total = np.logaddexp.reduce(scaled, axis=-1, keepdims=True)
    normalised: FloatArray = (scaled - total).astype(np.float32)
    return normalised
