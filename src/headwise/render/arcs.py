"""What a picture needs of a sentence: its arcs, its text, and the lines that are not words.

Input may be half annotated, or a greedy output that is no tree; nothing here minds. A HEAD that is
blank or names no word is unknown (`None`), as is a probability when there is no parse.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from headwise.treebank.sentence import BLANK, Parse, Sentence, Word

UNSURE = 0.5
"""Arcs of a smaller probability stand out: another head may well be the right one."""
_LONGEST_NUMBER = 9


@dataclass(frozen=True, slots=True)
class Arc:
    """The arc into the word at position `dependent` (1..N); `head` is 0 for ROOT."""

    dependent: int
    head: int | None
    label: str
    probability: float | None

    @property
    def is_unsure(self) -> bool:
        """Tell whether the parser gives this arc less than an even chance."""
        return self.probability is not None and self.probability < UNSURE

    @property
    def is_drawn(self) -> bool:
        """Tell whether the arc has two ends: it comes from ROOT or from another word."""
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
            Arc(position, _head(word.head, n_words), word.deprel, None)
            for position, word in enumerate(sentence.words, 1)
        )
    if len(parse.heads) != n_words:
        raise ValueError(f"{len(parse.heads)} heads for {n_words} words")
    columns = zip(parse.heads, parse.labels, parse.head_log_probs, strict=True)
    return tuple(
        Arc(position, head, label, _probability(log_prob))
        for position, (head, label, log_prob) in enumerate(columns, 1)
    )


def _head(column: str, n_words: int) -> int | None:
    if not (column.isascii() and column.isdigit() and len(column) <= _LONGEST_NUMBER):
        return None
    return head if (head := int(column)) <= n_words else None


def _probability(log_prob: float) -> float | None:
    # A softmax in float32 may end a hair above 1.
    return None if math.isnan(log_prob) else math.exp(min(log_prob, 0.0))


def percent(probability: float) -> str:
    """Write a probability for people: rounded down, and at most 99%, since no arc is certain."""
    return f"{min(99, math.floor(probability * 100 + 1e-9))}%"


def comments_of(sentence: Sentence) -> list[str]:
    """Give the comments before the first word, without `#` and the space after it."""
    before = sentence.lines[: sentence.rows[0]] if sentence.rows else sentence.lines
    found = (line[1:].rstrip("\r\n") for line in before if line.startswith("#"))
    return [line.removeprefix(" ") for line in found]


def comment_value(comment: str, key: str) -> str | None:
    """Read the value of a comment `key = value`; None if it is another one."""
    name, sign, value = comment.partition("=")
    return value.strip() if sign and name.strip() == key else None


def other_lines(sentence: Sentence) -> Iterator[tuple[int, Word]]:
    """Find multi-word ranges (`3-4`) and empty nodes (`3.1`), each with its row in the lines."""
    words = set(sentence.rows)
    for row, line in enumerate(sentence.lines):
        if row not in words and not line.startswith("#") and line.strip():
            yield row, Word._make(line.rstrip("\r\n").split("\t"))


def text_of(sentence: Sentence) -> str:
    """Give the text of a sentence: of its `# text` comment, or put together again from its words.

    Forms are joined by a space unless MISC has `SpaceAfter=No`; a range stands for its words.
    """
    for comment in comments_of(sentence):
        if value := comment_value(comment, "text"):
            return value
    ranges = {row: word for row, word in other_lines(sentence) if "-" in word.id}
    tokens = sorted((ranges | dict(zip(sentence.rows, sentence.words, strict=True))).items())
    text, covered = "", 0
    for _, word in tokens:
        first, _, last = word.id.partition("-")
        if last:
            covered = int(last)
        elif first.isascii() and first.isdigit() and int(first) <= covered:
            continue
        text += word.form + ("" if "SpaceAfter=No" in word.misc.split("|") else " ")
    return text.rstrip(" ")


def filled(value: str) -> str | None:
    """Give the value of a column, None if it is blank."""
    return None if value == BLANK else value
