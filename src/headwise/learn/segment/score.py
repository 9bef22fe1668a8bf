"""F1 of a segmentation: tokens, words and sentences whose start and end are both right.

A word inside a token is right if its characters are; a word of a token that expands is right if the
token is, and if it has the same form and position in it. This is fast enough for every epoch;
published figures come from the official scorer.
"""

from collections.abc import Hashable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from headwise.text.expand import Expansions, Words
from headwise.text.scan import EXPANDS, SENTENCE_END, TOKEN_END, WORD_END, Labels, is_white_space
from headwise.text.symbols import Codes, to_text


@dataclass(frozen=True, slots=True)
class SegmentScores:
    """F1 in per cent."""

    tokens: float
    words: float
    sentences: float


def score_segmentation(
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
        _f1(set(map(tuple, gold_spans.tolist())), set(map(tuple, spans.tolist()))),
        _f1(_words(gold_spans, gold, gold_words), _words(spans, labels, expanded)),
        _f1(_sentences(gold), _sentences(labels)),
    )


def _spans(codes: Codes, labels: Labels) -> NDArray[np.int64]:
    """Return the first and last position of each token: [n, 2]."""
    ends = np.flatnonzero(labels & TOKEN_END)
    starts = np.concatenate([np.zeros(1, np.int64), ends + 1])[: len(ends)]
    starts += is_white_space(codes[starts])
    return np.stack([starts, ends], axis=1)


def _sentences(labels: Labels) -> set[tuple[int, int]]:
    return set(pairwise([-1, *np.flatnonzero(labels & SENTENCE_END).tolist()]))


def _words(
    spans: NDArray[np.int64], labels: Labels, expanded: Mapping[int, Words]
) -> set[tuple[int, int, int, str]]:
    """Return the words as (start, end, 0, ""), or (start, end, position, form) if expanded."""
    inner = np.flatnonzero(labels & WORD_END)
    bounds = np.searchsorted(inner, spans).tolist()
    words: set[tuple[int, int, int, str]] = set()
    for (start, end), (low, high) in zip(spans.tolist(), bounds, strict=True):
        if end in expanded:
            words |= {(start, end, i, form) for i, form in enumerate(expanded[end])}
        else:
            cuts = [start, *(inner[low:high] + 1).tolist(), end + 1]
            words |= {(first, last - 1, 0, "") for first, last in pairwise(cuts)}
    return words


def _f1(gold: AbstractSet[Hashable], found: AbstractSet[Hashable]) -> float:
    return 200 * len(gold & found) / max(1, len(gold) + len(found))
