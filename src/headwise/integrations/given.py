"""Constraints that a spaCy document brings along in `doc._.constraints`, sentence by sentence.

They are those of `headwise.Constraints`, or the same as a dict, which can be stored with the
document. Numbers are those of tokens in the whole document, from 1 (`token.i + 1`); head 0 is ROOT.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from spacy.tokens import Doc

from headwise.errors import ConfigError
from headwise.integrations.documents import SentenceSpan
from headwise.trees.constraints import Constraints

_HINT = "tokens are numbered from 1: token.i + 1"


def given_constraints(doc: Doc, spans: Sequence[SentenceSpan]) -> list[Constraints | None]:
    """Return the constraints of each sentence, in numbers of its words."""
    given = _read(doc._.constraints)
    if given is None:
        return [None] * len(spans)
    numbers = {*given.heads, *given.labels, *(word for word, _ in given.forbidden)}
    numbers.update(*given.subtrees, [] if given.root is None else [given.root])
    for number in sorted(numbers - {i + 1 for span in spans for i in span.words}):
        what = "is white space" if number <= len(doc) else "does not exist"
        raise ConfigError(f"doc._.constraints: token {number} {what}", _HINT)
    return [_within(span, given) for span in spans]


def _within(span: SentenceSpan, given: Constraints) -> Constraints | None:
    """Take the part of the constraints that is about the words of one sentence."""
    positions = {i + 1: position for position, i in enumerate(span.words, 1)} | {0: 0}

    def place(number: int, beside: int) -> int:
        if number not in positions:
            what = f"doc._.constraints: tokens {beside} and {number} are not in one sentence"
            raise ConfigError(what, "say where sentences start: token.is_sent_start")
        return positions[number]

    part = Constraints(
        heads={positions[i]: place(h, i) for i, h in given.heads.items() if i in positions},
        forbidden=[(positions[i], place(h, i)) for i, h in given.forbidden if i in positions],
        root=positions.get(given.root or -1),
        subtrees=[
            [place(i, words[0]) for i in words] for words in given.subtrees if words[0] in positions
        ],
        labels={positions[i]: label for i, label in given.labels.items() if i in positions},
    )
    return part if part.size or part.root else None


def _read(value: Any) -> Constraints | None:
    if value is None or isinstance(value, Constraints):
        return value
    try:
        return msgspec.convert(value, Constraints, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"doc._.constraints: {error}", "see docs/spacy.md") from error
