"""Checks of one sentence: the first two levels of the validator of Universal Dependencies.

Level 1 asks whether the lines are CoNLL-U, level 2 whether they are a tree with universal tags and
relations, and whether text and tokens agree. What needs the whole treebank (are IDs of sentences
unique?) or a language (levels 3 to 5) is left out. Level 0 is for notes: nothing is wrong, but it
is worth a look. Unlike the validator, which stops early, level 2 lists all it finds, since a person
who corrects a sentence wants to see everything at once.

    >>> from headwise.treebank.checks import check_sentence
    >>> for check in check_sentence(sentence):
    ...     print(check.level, check.word, check.column, check.message)
"""

from collections.abc import Collection, Sequence

from headwise.treebank.checks.format import check_cells, check_ids, split_rows
from headwise.treebank.checks.metadata import check_metadata
from headwise.treebank.checks.rows import Check, Checks, Level, Row, quote
from headwise.treebank.checks.structure import check_structure
from headwise.treebank.checks.values import check_values
from headwise.treebank.sentence import BLANK, Sentence

__all__ = [
    "Check",
    "Level",
    "check_lines",
    "check_sentence",
]


def check_sentence(sentence: Sentence, known_labels: Collection[str] = ()) -> list[Check]:
    """Check a sentence as it stands, in the order of its lines; an empty list means no finding.

    A label that is not among `known_labels`, if there are any, is noted.
    """
    return check_lines(sentence.lines, known_labels)


def check_lines(lines: Sequence[str], known_labels: Collection[str] = ()) -> list[Check]:
    """Check the lines of a sentence, with their line ends, even if they are not CoNLL-U.

    If IDs or columns are broken, the tree cannot be checked, so level 2 is left out.
    """
    rows, found = split_rows(lines)
    for row in rows:
        found += check_cells(row)
    found_in_ids = list(check_ids(rows))
    found += found_in_ids
    n_lines = sum(1 for line in lines if line.strip() and not line.startswith("#"))
    if len(rows) == n_lines and not found_in_ids:
        broken = {(check.row, check.column) for check in found}
        found += [
            check
            for check in _check_level_2(lines, rows, known_labels)
            if check.column is None or (check.row, check.column) not in broken
        ]
    return sorted(found, key=lambda check: (-1 if check.row is None else check.row, -check.level))


def _check_level_2(
    lines: Sequence[str], rows: Sequence[Row], known_labels: Collection[str]
) -> Checks:
    yield from check_metadata(lines, rows)
    for row in rows:
        yield from check_values(row)
        yield from _note_unusual(row, known_labels)
    yield from check_structure(rows)


def _note_unusual(row: Row, known_labels: Collection[str]) -> Checks:
    label = row.cells.deprel
    if row.is_word and " " in row.cells.form:
        yield row.check(0, "form", "FORM contains a space, which few treebanks allow")
    if row.is_word and known_labels and label not in {BLANK, *known_labels}:
        yield row.check(0, "deprel", f"the label {quote(label)} is not among the known ones")
