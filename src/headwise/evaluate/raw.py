"""Scores of output made from raw text, whose words and sentences differ from the gold ones.

The metrics are those of the CoNLL shared tasks of 2017 and 2018 (Zeman et al.). Precision is
relative to the predicted file, recall to the gold file, and F1 is their harmonic mean. Aligned
accuracy is relative to the words that are in both files, so it ignores errors of the tokeniser.

Tokens and Sentences are right if they cover the same characters, Words if they are aligned. A head
is right if the two head words are aligned, or if both words depend on ROOT. `metrics` has the rest.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

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
    """The result of `score_raw`; `METRICS` has the names of the metrics."""

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
    for gold_side, predicted_side in pair_passages(gold, predicted):
        ours = annotate(gold_side.words, gold_side.heads, universal_labels)
        theirs = annotate(predicted_side.words, predicted_side.heads, universal_labels)
        aligned = align_words(gold_side, predicted_side)
        counts.update(_count_totals(gold_side, ours, _GOLD))
        counts.update(_count_totals(predicted_side, theirs, _PREDICTED))
        counts.update(_count_same_spans(gold_side, predicted_side))
        counts.update(_count_right(ours, theirs, aligned))
    if not counts["tokens", _GOLD]:
        raise DataError("no sentences to score", "the gold file", hint="is the file empty?")
    metrics = {name: _metric(counts, name) for name in METRICS}
    return RawScores(universal_labels=universal_labels, **metrics)


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
