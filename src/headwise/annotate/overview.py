"""One row for each sentence of a file, and how sure the parser is of each, found in the background.

Rows follow the edits. `version` counts all changes of rows, so that a page asks only for what is
new. The thread that finds certainties waits while a person waits for an answer.
"""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count as count_up

import msgspec

from headwise.annotate.contradictions import ContradictionError
from headwise.annotate.file.document import Splice
from headwise.annotate.marks import status_of
from headwise.errors import HeadwiseError
from headwise.treebank.conllu import read_block
from headwise.treebank.sentence import Sentence

TEXT_LENGTH = 120
MAX_ROWS = 10_000
"""In one answer: about two megabytes."""
_TEXT = re.compile(r"^#\s*text\s*=[ \t]*([^\r\n]*)", re.MULTILINE)
_WORD = re.compile(r"^[0-9]+\t([^\t\n]*)", re.MULTILINE)
_MOST_FORMS = 60
Judge = Callable[[Sentence], tuple[float, int]]
"""Gives the certainty of a sentence and the number of its failed checks."""


@dataclass(slots=True, eq=False)
class _Row:
    """What is shown of a sentence; `version` is when it changed last."""

    text: str
    n_words: int
    status: str
    version: int
    certainty: float | None = None
    n_checks: int = 0
    is_judged: bool = False


class RowAnswer(msgspec.Struct, frozen=True):
    """A row as the page gets it."""

    text: str
    n_words: int
    status: str
    certainty: float | None
    n_checks: int


class OverviewAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """Rows from `start` on, or only those that changed, each with its index."""

    seq: int
    version: int
    n_sentences: int
    pending: int
    start: int | None = None
    sentences: list[RowAnswer] | None = None
    changed: list[tuple[int, RowAnswer]] | None = None


class Overview:
    """The rows of a file, kept up to date by `splice`; a thread fills in certainties."""

    def __init__(self, blocks: list[str], lock: threading.RLock, judge: Judge) -> None:
        """Make the rows; the lock is that of the document they describe."""
        self._lock = lock
        self._judge = judge
        self._blocks = blocks
        self._rows = [_make_row(block, 0) for block in blocks]
        self._version = self._shifted = 0
        self._generation = 0
        self._cursor = 0
        self._n_waiting = 0
        self._changed = threading.Condition(lock)
        self._is_closed = False
        self._thread = threading.Thread(target=self._judge_all, name="headwise-certainty")
        self._thread.start()

    def splice(self, change: Splice) -> None:
        """Follow a change of the blocks, with the lock held."""
        self._version += 1
        made = [_make_row(block, self._version) for block in change.insert]
        self._rows[change.at : change.at + change.remove] = made
        if len(made) != change.remove:
            self._shifted = self._version
        self._cursor = min(self._cursor, change.at)
        self._changed.notify_all()

    def forget(self) -> None:
        """Find all certainties again: there is another parser."""
        with self._lock:
            self._version += 1
            self._generation += 1
            for row in self._rows:
                row.certainty, row.is_judged, row.version = None, False, self._version
            self._cursor = 0
            self._changed.notify_all()

    def answer(self, seq: int, start: int, count: int, since: int | None) -> OverviewAnswer:
        """List rows, or those that changed since a version if no row has moved since then."""
        with self._lock:
            pending = sum(not row.is_judged for row in self._rows)
            rows = self._rows[start : start + count]
            common = (seq, self._version, len(self._rows), pending, start)
            if since is None or since < self._shifted or since > self._version:
                return OverviewAnswer(*common, sentences=[_as_answer(row) for row in rows])
            changed = [
                (start + i, _as_answer(row)) for i, row in enumerate(rows) if row.version > since
            ]
            return OverviewAnswer(*common, changed=changed)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let the background wait while a person does."""
        with self._lock:
            self._n_waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_waiting -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """End the thread."""
        with self._lock:
            self._is_closed = True
            self._changed.notify_all()
        self._thread.join()

    def _judge_all(self) -> None:
        while (work := self._next()) is not None:
            row, block, generation = work
            certainty, n_checks = self._judge_block(block)
            with self._lock:
                if generation == self._generation:
                    self._version += 1
                    row.certainty, row.n_checks = certainty, n_checks
                    row.is_judged, row.version = True, self._version

    def _next(self) -> tuple[_Row, str, int] | None:
        """Wait for a row that is not judged yet; None at the end."""
        with self._lock:
            while True:
                if self._is_closed:
                    return None
                if not self._n_waiting:
                    for at in count_up(self._cursor):
                        if at >= len(self._rows):
                            break
                        self._cursor = at
                        if not self._rows[at].is_judged:
                            return self._rows[at], self._blocks[at], self._generation
                    self._cursor = len(self._rows)
                self._changed.wait()

    def _judge_block(self, block: str) -> tuple[float | None, int]:
        """Judge a sentence; one that is malformed or contradicts itself needs a person."""
        try:
            sentence = read_block(block)
            return self._judge(sentence) if len(sentence) else (None, 0)
        except (ContradictionError, HeadwiseError):
            return 0.0, 1


def _make_row(block: str, version: int) -> _Row:
    text = _TEXT.search(block)
    forms = _WORD.findall(block)
    shown = text[1] if text and text[1] else " ".join(forms[:_MOST_FORMS])
    return _Row(shown[:TEXT_LENGTH], len(forms), status_of(block), version)


def _as_answer(row: _Row) -> RowAnswer:
    certainty = None if row.certainty is None else round(row.certainty, 4)
    return RowAnswer(row.text, row.n_words, row.status, certainty, row.n_checks)
