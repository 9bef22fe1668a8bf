"""Scores of output made from raw text, whose words and sentences differ from the gold ones.

The metrics are those of the CoNLL shared tasks of 2017 and 2018 (Zeman et al.). Precision is
relative to the predicted file, recall to the gold file, and F1 is their harmonic mean. Aligned
accuracy is relative to the words that are in both files, so it ignores errors of the tokeniser.

Tokens and Sentences are right if they cover the same characters, Words if they are aligned. A head
is right if the two head words are aligned, or if both words depend on ROOT. `metrics` has the rest.
"""

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from headwise.arrays import IntArray
from headwise.errors import DataError
from headwise.evaluate.align import align_words
from headwise.evaluate.metrics import (
    CONTENT_METRICS,
    WORD_METRICS,
    Annotation,
    annotate,
    count_right,
    judge,
    share_in_percent,
)
from headwise.evaluate.passages import Side, pair_passages
from headwise.treebank.sentence import Sentence

METRICS = {"tokens": "Tokens", "sentences": "Sentences", "words": "Words"} | WORD_METRICS
"""Fields of `RawScores`, and their names in tables."""

_Key: TypeAlias = tuple[str, str]
"""What is counted: the name of a metric, and one of the four below."""
_GOLD, _PREDICTED, _RIGHT, _ALIGNED = "gold", "predicted", "right", "aligned"
_KEPT = tuple((name, which) for name in METRICS for which in (_GOLD, _PREDICTED, _RIGHT))
N_GOLD_SENTENCES = 0
F1_COLUMNS = {name: (1 + 3 * i, 2 + 3 * i, 3 + 3 * i) for i, name in enumerate(METRICS)}
"""Columns of `RawScores.per_passage`: gold sentences, and for each metric the gold, predicted and
right words (or tokens, or sentences)."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: counts, and shares in percent, None if there is nothing to count.

    Only metrics of aligned words have an `aligned_accuracy`.
    """

    n_gold: int
    n_predicted: int
    n_right: int
    precision: float | None
    recall: float | None
    f1: float | None
    aligned_accuracy: float | None


@dataclass(frozen=True, slots=True)
class RawScores:
    """The result of `score_raw`; `METRICS` has the names of the metrics.

    `per_passage` is int32 [n_passages, 40], the counts of each passage, for `significance`.
    """

    universal_labels: bool
    tokens: Metric
    sentences: Metric
    words: Metric
    upos: Metric
    xpos: Metric
    ufeats: Metric
    alltags: Metric
    lemmas: Metric
    uas: Metric
    las: Metric
    clas: Metric
    mlas: Metric
    blex: Metric
    per_passage: IntArray = field(compare=False, repr=False)


def score_raw(
    gold: Iterable[Sentence], predicted: Iterable[Sentence], universal_labels: bool = False
) -> RawScores:
    """Compare predicted trees with gold ones over the same characters.

    Args:
        gold: sentences with HEAD and DEPREL.
        predicted: sentences of the same text, possibly with other words and sentences.
        universal_labels: compare labels up to the first `:` only, as the shared tasks do.
    """
    counts: Counter[_Key] = Counter()
    cells = array("i")
    for gold_side, predicted_side in pair_passages(gold, predicted):
        of_passage = _count_passage(gold_side, predicted_side, universal_labels)
        counts.update(of_passage)
        cells.append(len(gold_side.sentences))
        cells.extend(of_passage[key] for key in _KEPT)
    if not counts["tokens", _GOLD]:
        raise DataError("no sentences to score", "the gold file", hint="is the file empty?")
    metrics = {name: _metric(counts, name) for name in METRICS}
    per_passage = np.array(cells, np.int32).reshape(-1, 1 + len(_KEPT))
    return RawScores(universal_labels=universal_labels, **metrics, per_passage=per_passage)


def _count_passage(gold: Side, predicted: Side, universal_labels: bool) -> Counter[_Key]:
    """Count what is in a passage, and what is right in it."""
    ours = annotate(gold.words, gold.heads, universal_labels)
    theirs = annotate(predicted.words, predicted.heads, universal_labels)
    counts = _count_totals(gold, ours, _GOLD)
    counts.update(_count_totals(predicted, theirs, _PREDICTED))
    counts.update(_count_same_spans(gold, predicted))
    counts.update(_count_right(ours, theirs, align_words(gold, predicted)))
    return counts


def _count_totals(side: Side, words: list[Annotation], which: str) -> Counter[_Key]:
    """Count the tokens, sentences, words and content words of one side."""
    totals = dict.fromkeys(METRICS, len(words))
    totals |= dict.fromkeys(CONTENT_METRICS, sum(word.is_content for word in words))
    totals |= {"tokens": len(side.tokens), "sentences": len(side.sentences)}
    return Counter({(name, which): total for name, total in totals.items()})


def _count_same_spans(gold: Side, predicted: Side) -> Counter[_Key]:
    """Count the tokens and sentences that cover the same characters."""
    ours, theirs = ({token[:2] for token in side.tokens} for side in (gold, predicted))
    n_sentences = len({*gold.sentences} & {*predicted.sentences})
    return Counter({("tokens", _RIGHT): len(ours & theirs), ("sentences", _RIGHT): n_sentences})


def _count_right(
    gold: list[Annotation], predicted: list[Annotation], aligned: dict[int, int]
) -> Counter[_Key]:
    """Count aligned words, and those of them that each metric counts as right."""
    n_content = sum(gold[index].is_content for index in aligned.values())
    counts: Counter[_Key] = Counter({("words", _RIGHT): len(aligned)})
    for name, n_right in count_right(judge(gold, predicted, aligned)).items():
        counts[name, _RIGHT] = n_right
        counts[name, _ALIGNED] = n_content if name in CONTENT_METRICS else len(aligned)
    return counts


def _metric(counts: Counter[_Key], name: str) -> Metric:
    n_gold, n_predicted, n_right, n_aligned = (
        counts[name, which] for which in (_GOLD, _PREDICTED, _RIGHT, _ALIGNED)
    )
    return Metric(
        n_gold=n_gold,
        n_predicted=n_predicted,
        n_right=n_right,
        precision=share_in_percent(n_right, n_predicted),
        recall=share_in_percent(n_right, n_gold),
        f1=share_in_percent(2 * n_right, n_gold + n_predicted),
        aligned_accuracy=share_in_percent(n_right, n_aligned),
    )
