"""The spelling of a word as hashed character n-grams.

`<word>` is cut into all its pieces of one to four characters, and each piece is hashed into one of
a fixed number of buckets. So a word that training never saw still shares most of its pieces with
words that it did. Of very long words only both ends are read, which bounds the work.
"""

import zlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

LENGTHS = (1, 2, 3, 4)
END_LENGTH = 10
"""Characters that are read at each end of a long word."""
PAD_PIECE, ROOT_PIECE = 0, 1
N_PIECE_SPECIALS = 2
MAX_CACHED = 100_000
NO_PIECES = np.zeros(0, np.int32)
"""Of a model that reads no pieces."""


class Memory:
    """Remembers how words were cut, within bounds."""

    def __init__(self, cut: Callable[[str], list[int]]) -> None:
        """Take what cuts a word that is not remembered."""
        self._cut = cut
        self.cached: dict[str, NDArray[np.int32]] = {}

    def ids_of(self, form: str) -> NDArray[np.int32]:
        """Cut a word, or recall it: int32 [k]."""
        found = self.cached.get(form)
        if found is None:
            if len(self.cached) >= MAX_CACHED:
                self.cached.clear()
            found = self.cached[form] = np.array(self._cut(form), np.int32)
        return found


class Pieces:
    """Cuts words; what was cut once is remembered."""

    def __init__(self, n_buckets: int) -> None:
        """Hash into `n_buckets`; with 0, no word has any pieces."""
        self.n_buckets = n_buckets
        self._memory = Memory(self._cut)

    def __len__(self) -> int:
        """Count the ids, specials included."""
        return self.n_buckets + N_PIECE_SPECIALS

    def ids_of(self, form: str) -> NDArray[np.int32]:
        """Give the ids of the pieces of a word: int32 [k], k at least 1 unless there are none."""
        if not self.n_buckets:
            return NO_PIECES
        if len(form) > 2 * END_LENGTH:
            form = form[:END_LENGTH] + form[-END_LENGTH:]
        return self._memory.ids_of(form)

    def _cut(self, form: str) -> list[int]:
        marked = f"<{form}>"
        hashed, n_buckets = zlib.crc32, self.n_buckets
        if marked.isascii():  # a byte for each character: one string to cut, not one for each piece
            data = marked.encode()
            cut = [hashed(data[i : i + n]) for n in LENGTHS for i in range(len(data) - n + 1)]
        else:
            cut = [
                hashed(marked[i : i + n].encode("utf-8", "replace"))
                for n in LENGTHS
                for i in range(len(marked) - n + 1)
            ]
        single = cut[1 : len(marked) - 1]  # the marks alone say nothing
        rest = cut[len(marked) :]
        return [piece % n_buckets + N_PIECE_SPECIALS for piece in (*single, *rest)]
