"""The arcs that a picture shows.

Input may be half annotated, or a greedy output that is not a tree. A HEAD that is blank or names no
word is unknown (`None`), as is a probability when there is no parse.
"""

import math
from dataclasses import dataclass

from headwise.treebank.sentence import Parse, Sentence

UNSURE = 0.5
"""Arcs of a lower probability stand out, because another head may well be right."""


@dataclass(frozen=True, slots=True)
class Arc:
    """The arc into the word at position `dependent` (1..N); `head` is 0 for ROOT."""

    dependent: int
    head: int | None
    label: str
    probability: float | None

    @property
    def is_unsure(self) -> bool:
        """Whether the parser gives this arc a probability below a half."""
        return self.probability is not None and self.probability < UNSURE

    @property
    def is_drawn(self) -> bool:
        """Whether the arc has two ends: it comes from ROOT or from another word."""
        return self.head is not None and self.head != self.dependent

    @property
    def span(self) -> tuple[int, int]:
        """The two ends of an arc between words, left one first."""
        assert self.head
        return min(self.head, self.dependent), max(self.head, self.dependent)


def arcs_of(sentence: Sentence, parse: Parse | None = None) -> tuple[Arc, ...]:
    """Give the arc into each word, in order; heads and labels of `parse` win over the columns."""
    n_words = len(sentence)
    if parse is None:
        return tuple(
            Arc(position, head, word.deprel, None)
            for position, (head, word) in enumerate(
                zip(sentence.heads, sentence.words, strict=True), 1
            )
        )
    if len(parse.heads) != n_words:
        raise ValueError(f"{len(parse.heads)} heads for {n_words} words")
    columns = zip(parse.heads, parse.labels, parse.head_log_probs, strict=True)
    return tuple(
        Arc(position, head, label, _probability(log_prob))
        for position, (head, label, log_prob) in enumerate(columns, 1)
    )


def _probability(log_prob: float) -> float | None:
    # A softmax in float32 may give slightly more than 1.
    return None if math.isnan(log_prob) else math.exp(min(log_prob, 0.0))


def percent(probability: float) -> str:
    """Write a probability for people: rounded down, and at most 99%, since no arc is certain."""
    return f"{min(99, math.floor(probability * 100 + 1e-9))}%"
