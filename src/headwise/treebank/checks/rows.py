"""What a check says, and the lines of a sentence that have columns.

`Check` is the answer of `headwise.treebank.checks`; a `Row` is what the single checks read.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from headwise.treebank.sentence import Word

Level = Literal[0, 1, 2]
ColumnName = Literal[
    "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"
]
COLUMN_NAMES: tuple[ColumnName, ...] = (
    "id",
    "form",
    "lemma",
    "upos",
    "xpos",
    "feats",
    "head",
    "deprel",
    "deps",
    "misc",
)
_LONGEST_QUOTE = 40


class Check(NamedTuple):
    """One finding.

    `level` is 1 or 2 as in the validator of Universal Dependencies; 0 is a note, not an error.
    `word` is the position of the word (1..N), None if it concerns the sentence, a multi-word token
    or an empty node. `column` is None if no single column is meant. `row` is the line of the
    sentence, from 0; None if the finding belongs to no line. `message` says what is wrong.
    """

    level: Level
    word: int | None
    column: ColumnName | None
    message: str
    row: int | None = None


class Row(NamedTuple):
    """A line with ten columns: its place among the lines of the sentence, and its cells."""

    at: int
    cells: Word

    @property
    def is_range(self) -> bool:
        """Whether the line is a multi-word token (`3-4`)."""
        return "-" in self.cells.id

    @property
    def is_empty_node(self) -> bool:
        """Whether the line is an empty node (`3.1`)."""
        return "." in self.cells.id

    @property
    def is_word(self) -> bool:
        """Whether the line is a word."""
        return not (self.is_range or self.is_empty_node)

    def check(self, level: Level, column: ColumnName | None, message: str) -> Check:
        """Say something about a cell of this line."""
        number = self.cells.id
        is_number = number.isascii() and number.isdigit() and len(number) < 10
        return Check(level, int(number) if is_number else None, column, message, self.at)


Checks = Iterator[Check]


def quote(value: str) -> str:
    """Quote a value for a message, cut if it is long."""
    return f"'{value if len(value) <= _LONGEST_QUOTE else value[:_LONGEST_QUOTE] + '...'}'"
