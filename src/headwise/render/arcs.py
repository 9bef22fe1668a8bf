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
    def percent(self) -> str | None:
        """The probability as it is shown."""
        return None if self.probability is None else percent(self.probability)

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
    positions = range(1, len(sentence) + 1)
    if parse is None:
        heads_and_words = zip(positions, sentence.heads, sentence.words, strict=True)
        return tuple(Arc(i, head, word.deprel, None) for i, head, word in heads_and_words)
    if len(parse.heads) != len(sentence):
        raise ValueError(f"{len(parse.heads)} heads for {len(sentence)} words")
    probabilities = map(_probability, parse.head_log_probs)
    columns = zip(positions, parse.heads, parse.labels, probabilities, strict=True)
    return tuple(Arc(*values) for values in columns)


def _probability(log_prob: float) -> float | None:
    # A softmax in float32 may give slightly more than 1.
    return None if math.isnan(log_prob) else math.exp(min(log_prob, 0.0))


def percent(probability: float) -> str:
    """Write a probability for people: rounded down, and at most 99%, since no arc is certain."""
    return f"{min(99, math.floor(probability * 100 + 1e-9))}%"
