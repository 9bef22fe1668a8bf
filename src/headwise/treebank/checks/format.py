"""Level 1: is it CoNLL-U? Lines, columns, white space, and the order of IDs."""

import re
import unicodedata
from collections.abc import Sequence

from headwise.errors import plural
from headwise.treebank.checks.rows import COLUMN_NAMES, Check, Checks, Row, quote
from headwise.treebank.sentence import Word

_WORD_ID = re.compile(r"[1-9][0-9]{0,8}")
_RANGE_ID = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_EMPTY_ID = re.compile(r"(0|[1-9][0-9]{0,8})\.([1-9][0-9]{0,8})")
_SPACE = re.compile(r"\s")
_SPACES = re.compile(r"\s\s")
_WITH_SPACES = {"form", "lemma", "misc"}
_REPLACEMENT = "\ufffd"


def split_rows(lines: Sequence[str]) -> tuple[list[Row], list[Check]]:
    """Read the lines with columns, and check every line by itself.

    Lines that do not have ten columns are reported and left out.
    """
    rows: list[Row] = []
    found: list[Check] = []
    seen_columns = False
    for at, line in enumerate(lines):
        body = line.rstrip("\r\n")
        found += _check_characters(line, at)
        if body.startswith("#"):
            if seen_columns:
                found.append(Check(1, None, None, "a comment must come before the first word", at))
        elif not body.strip():
            found += _check_blank(line, at, at == len(lines) - 1)
        elif not body[0].isdigit():
            what = f"a line must start with a number or #, not with {quote(body)}"
            found.append(Check(1, None, None, what, at))
        else:
            seen_columns = True
            cells = body.split("\t")
            if len(cells) != len(COLUMN_NAMES):
                what = f"the line has {plural(len(cells), 'column')}, but 10 are needed"
                found.append(Check(1, None, None, f"{what}, separated by one tab", at))
            else:
                rows.append(Row(at, Word._make(cells)))
    if not seen_columns:
        found.append(Check(1, None, None, "the sentence has no words"))
    if not lines or lines[-1].strip():
        found.append(Check(1, None, None, "a blank line must follow the sentence"))
    return rows, found


def _check_characters(line: str, at: int) -> Checks:
    if _REPLACEMENT in line:
        what = "the line has a replacement character (U+FFFD): it was once not read as UTF-8"
        yield Check(1, None, None, what, at)
    if not unicodedata.is_normalized("NFC", line):
        what = "a letter and its accent are two characters; write them as one (Unicode NFC)"
        yield Check(1, None, None, what, at)
    if "\r" in line:
        yield Check(1, None, None, "the line ends with CR LF; UD files end lines with LF", at)


def _check_blank(line: str, at: int, is_last: bool) -> Checks:
    if line.strip("\r\n"):
        yield Check(1, None, None, "the line looks blank, but has spaces or tabs", at)
    if not is_last or line.count("\n") > 1:
        yield Check(1, None, None, "only one blank line may stand between two sentences", at)


def check_cells(row: Row) -> Checks:
    """Check that no cell is empty, and the white space in cells."""
    for column, value in zip(COLUMN_NAMES, row.cells, strict=True):
        name = column.upper()
        if row.is_range and column in {"form", "lemma"} and _SPACE.search(value):
            yield row.check(1, column, f"{name} of a multi-word token must not contain a space")
        elif column not in _WITH_SPACES and _SPACE.search(value):
            yield row.check(1, column, f"{name} must not contain a space: {quote(value)}")
        elif not value:
            yield row.check(1, column, f"{name} is empty; write _ if it has no value")
        elif value != value.strip() or _SPACES.search(value):
            what = "must not start or end with a space, or have two in a row"
            yield row.check(1, column, f"{name} {what}: {quote(value)}")


def check_ids(rows: Sequence[Row]) -> Checks:
    """Check that words are numbered 1, 2, ..., and that ranges and empty nodes are in place."""
    n_words = n_empty = covered = 0
    all_words = sum(1 for row in rows if _WORD_ID.fullmatch(row.cells.id))
    range_ahead = ""
    for row in rows:
        number = row.cells.id
        if _WORD_ID.fullmatch(number):
            n_words, n_empty, range_ahead = n_words + 1, 0, ""
            if int(number) != n_words:
                yield row.check(1, "id", f"ID is {number} where {n_words} is next")
        elif span := _RANGE_ID.fullmatch(number):
            first, last = int(span[1]), int(span[2])
            n_empty, range_ahead = 0, number
            yield from _check_range(row, first, last, n_words, all_words, covered)
            covered = max(covered, last)
        elif node := _EMPTY_ID.fullmatch(number):
            n_empty += 1
            if (int(node[1]), int(node[2])) != (n_words, n_empty):
                what = f"ID of the empty node is {number} where {n_words}.{n_empty} is next"
                yield row.check(1, "id", what)
            if range_ahead:
                what = f"empty node {number} must come before the multi-word token {range_ahead}"
                yield row.check(1, "id", what)
        else:
            what = f"ID is {quote(number)}, but must be a number (3), a range (3-4) or "
            yield row.check(1, "id", f"{what}an empty node (3.1)")


def _check_range(
    row: Row, first: int, last: int, n_words: int, all_words: int, covered: int
) -> Checks:
    if first != n_words + 1:
        yield row.check(1, "id", f"the range {row.cells.id} must come right before word {first}")
    if last < first:
        yield row.check(1, "id", f"the range {row.cells.id} ends before it starts")
    if max(first, last) > all_words:
        what = f"the range is {row.cells.id}, but the sentence has {plural(all_words, 'word')}"
        yield row.check(1, "id", what)
    elif first <= covered:
        yield row.check(1, "id", f"the range {row.cells.id} overlaps the one before it")
