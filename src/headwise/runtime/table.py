"""x_i (Eq. 3) of every distinct word, computed once and remembered, within bounds.

The input vector of a word depends only on the word and its tags. Most words of a text have come up
before, and then their vector is a row of a table. A table is only ever added to; when it is full, a
new one takes its place, and threads that work with the old one keep it.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from headwise.arrays import FloatArray
from headwise.model.graph import Graph
from headwise.treebank.sentence import Sentence, Word
from headwise.vocabulary.encode import encode
from headwise.vocabulary.vocab import Vocab

PADDING, ROOT_ROW, N_RESERVED = 0, 1, 2
"""Row 0 is zero, for padding; row 1 is ROOT."""
MAX_BYTES = 32 * 2**20
"""Bytes of the vectors of a table; memory is taken as rows are filled."""
MAX_KEY_CHARACTERS = 4 * 2**20
"""Characters of the words of a table; words may be very long."""
AT_ONCE = 64
"""New words that are computed together; of similar length, and few enough for a cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows of words, and the vectors [rows, s] in them."""

    rows: dict[Hashable, int]
    vectors: FloatArray


class InputTable:
    """Looks up the words of sentences; threads may share it."""

    def __init__(
        self,
        graph: Graph,
        vocab: Vocab,
        max_bytes: int = MAX_BYTES,
        max_key_characters: int = MAX_KEY_CHARACTERS,
        at_once: int = AT_ONCE,
    ) -> None:
        """Take the graph from ids [n] to vectors [n, s], which is run for new words only."""
        self._graph = graph
        self._vocab = vocab
        self._max_bytes, self._max_key_characters = max_bytes, max_key_characters
        self._at_once = at_once
        self._lock = Lock()
        columns = [part for column in vocab.reads for part in column.split("+")]
        self._key_of = attrgetter("form", *dict.fromkeys(columns))  # all that x depends on
        self._table = Table({}, np.zeros((0, 0), np.float32))
        self._n_key_characters = 0

    def look_up(self, sentences: Sequence[Sentence]) -> tuple[Table, list[NDArray[np.intp]]]:
        """Return a table and, for each sentence, the rows of its slots [N+1] in it."""
        keys = [list(map(self._key_of, sentence.words)) for sentence in sentences]
        table = self._table
        rows = [list(map(table.rows.get, sentence_keys)) for sentence_keys in keys]
        if not len(table.vectors) or any(None in sentence_rows for sentence_rows in rows):
            words = [word for sentence in sentences for word in sentence.words]
            table = self._with_words(dict(zip(chain.from_iterable(keys), words, strict=True)))
            rows = [list(map(table.rows.get, sentence_keys)) for sentence_keys in keys]
        return table, [np.array([ROOT_ROW, *sentence_rows], np.intp) for sentence_rows in rows]

    def _with_words(self, words: dict[Hashable, Word]) -> Table:
        """Return a table that has all words: this one, a new one, or one for these words only."""
        with self._lock:
            table = self._table
            new = {key: word for key, word in words.items() if key not in table.rows}
            n_characters = self._n_key_characters + _n_characters(new)
            has_rows = N_RESERVED + len(table.rows) + len(new) <= len(table.vectors)
            if has_rows and n_characters <= self._max_key_characters:
                self._fill(table, new)
            else:
                table = self._fill(None, words)
                n_characters = _n_characters(words)
                is_large = table.vectors.nbytes > self._max_bytes
                if is_large or n_characters > self._max_key_characters:
                    return table
            self._table, self._n_key_characters = table, n_characters
            return table

    def _fill(self, table: Table | None, words: dict[Hashable, Word]) -> Table:
        """Compute words and add them to a table, or to a new one that has room for them."""
        if table is None:
            root = self._x_of([])[0]  # [s]
            n_rows = max(self._max_bytes // root.nbytes, len(words) + N_RESERVED)
            table = Table({}, np.empty((n_rows, len(root)), np.float32))
            table.vectors[PADDING], table.vectors[ROOT_ROW] = 0, root
        keys = sorted(words, key=lambda key: len(words[key].form))
        for start in range(0, len(keys), self._at_once):
            some = keys[start : start + self._at_once]
            first = N_RESERVED + len(table.rows)
            vectors = self._x_of([words[key] for key in some])  # [1 + some, s], ROOT first
            table.vectors[first : first + len(some)] = vectors[1:]
            # The vector before its row: another thread may read as soon as the row is there.
            table.rows.update({key: row for row, key in enumerate(some, first)})
        return table

    def _x_of(self, words: Sequence[Word]) -> FloatArray:
        """Compute x of ROOT and of words: float32 [1 + words, s]."""
        ids = encode(Sentence(tuple(words), (), ()), self._vocab).ids
        return self._graph.run(ids.by_name(), len(words) + 1)[0]


def _n_characters(words: dict[Hashable, Word]) -> int:
    """Count the characters of words with all their columns: no key has more."""
    return sum(sum(map(len, word)) for word in words.values())
