"""F1 of a segmentation on characters: tokens, words and sentences that have both ends right.

A word inside a token is right if its characters are, a word of a token that expands if the token
is right and the word stands at the same place in the same letters. Light enough for every epoch;
final figures are made by the official scorer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from headwise.text.expand import Expansions, Words
from headwise.text.scan import EXPANDS, SENTENCE_END, TOKEN_END, WORD_END, Labels
from headwise.text.symbols import PARAGRAPH, SPACE, Codes, to_text

Item = tuple[int, int, int, str]


@dataclass(frozen=True, slots=True)
class SegmentScores:
    """F1 in per cent."""

    tokens: float
    words: float
    sentences: float


def score_labels(
    codes: Codes, gold: Labels, gold_words: Mapping[int, Words], labels: Labels, rules: Expansions
) -> SegmentScores:
    """Compare two labellings [T] of the same symbols.

    `gold_words` are the words of the tokens that expand, by the position of their last character.
    """
    text = to_text(codes)
    gold_spans, spans = _spans(codes, gold), _spans(codes, labels)
    expanded = {}
    for start, end in spans[labels[spans[:, 1]] & EXPANDS > 0].tolist():
        if words := rules.expand(text[start : end + 1]):
            expanded[end] = words
    return SegmentScores(
        _f1(_as_set(gold_spans), _as_set(spans)),
        _f1(_words(gold_spans, gold, gold_words), _words(spans, labels, expanded)),
        _f1(_sentences(gold), _sentences(labels)),
    )


def _spans(codes: Codes, labels: Labels) -> NDArray[np.int64]:
    """Give the first and last position of each token: [n, 2]."""
    ends = np.flatnonzero(labels & TOKEN_END)
    starts = np.concatenate([np.zeros(1, np.int64), ends + 1])[: len(ends)]
    starts += np.isin(codes[starts], (SPACE, PARAGRAPH))
    return np.stack([starts, ends], axis=1)


def _as_set(spans: NDArray[np.int64]) -> set[tuple[int, ...]]:
    return {(start, end) for start, end in spans.tolist()}


def _sentences(labels: Labels) -> set[tuple[int, ...]]:
    return set(pairwise([-1, *np.flatnonzero(labels & SENTENCE_END).tolist()]))


def _words(spans: NDArray[np.int64], labels: Labels, expanded: Mapping[int, Words]) -> set[Item]:
    inner = np.flatnonzero(labels & WORD_END)
    bounds = np.searchsorted(inner, spans).tolist()
    items: set[Item] = set()
    for (start, end), (low, high) in zip(spans.tolist(), bounds, strict=True):
        if end in expanded:
            items |= {(start, end, i, word) for i, word in enumerate(expanded[end])}
        else:
            cuts = [start, *(inner[low:high] + 1).tolist(), end + 1]
            items |= {(first, last - 1, 0, "") for first, last in pairwise(cuts)}
    return items


def _f1(gold: set[Item] | set[tuple[int, ...]], found: set[Item] | set[tuple[int, ...]]) -> float:
    n_both = len(set(gold) & set(found))
    return 200 * n_both / max(1, len(gold) + len(found))
