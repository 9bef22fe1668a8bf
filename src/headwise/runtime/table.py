"""x_i (Eq. 3) of every distinct word, computed once and remembered, within bounds.

A word's input vector depends on the word and its tags alone. Most words of a text were met before,
and then their vector is a row of a table. A table is only ever added to; when it is full, a new
one takes its place, and whoever works with the old one keeps it.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from headwise.arrays import FloatArray
from headwise.treebank.sentence import Sentence, Word
from headwise.vocabulary.encode import Encoded, encode
from headwise.vocabulary.vocab import Vocab

Rows = NDArray[np.intp]
PADDING, ROOT_ROW, N_RESERVED = 0, 1, 2
"""Row 0 is zero, for what is no word; row 1 is ROOT."""
MAX_BYTES = 32 * 2**20
"""Of a table; memory is taken as rows are filled."""
AT_ONCE = 64
"""New words that are computed together; of similar length, and few enough for a cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows of words, and the vectors [rows, s] in them."""

    rows: dict[Hashable, int]
    vectors: FloatArray

    def rows_of(self, keys: Sequence[Hashable]) -> list[int | None]:
        """Find the rows of words; None for one that has none yet."""
        return list(map(self.rows.get, keys))

    def room(self) -> int:
        """Count the rows that are free."""
        return len(self.vectors) - N_RESERVED - len(self.rows)


class InputTable:
    """Looks up sentences; safe to use from several threads."""

    def __init__(self, compute: Callable[[Encoded], FloatArray], vocab: Vocab) -> None:
        """Take `compute`, from ids [n] to vectors [n, s], which is asked for new words only."""
        self._compute = compute
        self._vocab = vocab
        self._lock = Lock()
        columns = [part for column in vocab.reads for part in column.split("+")]
        self._columns = ("form", *dict.fromkeys(columns))
        self._read = attrgetter(*self._columns)
        root = compute(encode(Sentence((), (), ()), vocab))  # [1, s]
        self._root = root[0]
        self._table = self._empty(MAX_BYTES // (4 * len(self._root)))

    def look_up(self, sentences: Sequence[Sentence]) -> tuple[Table, list[Rows]]:
        """Give a table and, for each sentence, the rows of its slots [N+1] in it."""
        keys = [self._keys(sentence) for sentence in sentences]
        table = self._table
        found = [table.rows_of(own) for own in keys]
        if any(None in rows for rows in found):
            table = self._with_words(keys, sentences)
            found = [table.rows_of(own) for own in keys]
        return table, [np.array([ROOT_ROW, *rows], np.intp) for rows in found]

    def _keys(self, sentence: Sentence) -> Sequence[Hashable]:
        """Name what of each word x depends on: its form, and the columns that the model reads."""
        if len(self._columns) == 1:
            return [word.form for word in sentence.words]
        return list(map(self._read, sentence.words))

    def _with_words(
        self, keys: Sequence[Sequence[Hashable]], sentences: Sequence[Sentence]
    ) -> Table:
        """Give a table that has all words: this one, a new one, or one for these words alone."""
        words: dict[Hashable, Word] = {}
        for own, sentence in zip(keys, sentences, strict=True):
            words.update(zip(own, sentence.words, strict=True))
        with self._lock:
            new = {key: word for key, word in words.items() if key not in self._table.rows}
            if len(new) > self._table.room():
                fresh = self._empty(max(len(self._table.vectors), len(words) + N_RESERVED))
                if len(fresh.vectors) > len(self._table.vectors):
                    self._fill(fresh, words)
                    return fresh
                self._table, new = fresh, words
            self._fill(self._table, new)
            return self._table

    def _empty(self, n_rows: int) -> Table:
        vectors = np.empty((n_rows, len(self._root)), np.float32)
        vectors[PADDING], vectors[ROOT_ROW] = 0, self._root
        return Table({}, vectors)

    def _fill(self, table: Table, words: dict[Hashable, Word]) -> None:
        keys = sorted(words, key=lambda key: len(words[key].form))
        for start in range(0, len(keys), AT_ONCE):
            these = keys[start : start + AT_ONCE]
            some = Sentence(tuple(words[key] for key in these), (), ())
            first = N_RESERVED + len(table.rows)
            table.vectors[first : first + len(some)] = self._compute(encode(some, self._vocab))[1:]
            # The vector before its row: another thread may read as soon as the row is there.
            table.rows.update({key: row for row, key in enumerate(these, first)})
