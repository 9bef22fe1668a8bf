"""The spelling of a word as hashed character n-grams.

`<word>` is cut into all its pieces of one to four characters, and each piece is hashed into one of
a fixed number of buckets. So a word that training never saw still shares most of its pieces with
words that it did. Of very long words only both ends are read, which bounds the work. Many new words
are cut together, those of one length side by side.
"""

import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

LENGTHS = (1, 2, 3, 4)
END_LENGTH = 10
"""Characters that are read at each end of a long word."""
PAD_PIECE, ROOT_PIECE = 0, 1
N_PIECE_SPECIALS = 2
MAX_CACHED = 20_000
"""Words; most of those that come again are rows of a table by then (`runtime.table`)."""
ENOUGH = 16
"""New words that are worth cutting together."""
_ALL_ONES = np.uint32(0xFFFFFFFF)
_STEP = np.array([zlib.crc32(bytes([i]), 0xFFFFFFFF) for i in range(256)], np.uint32) ^ _ALL_ONES
"""CRC-32 byte by byte: what the lowest byte of the sum so far, mixed with the next one, adds."""
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
            found = np.array(self._cut(form), np.int32)
            self.keep(form, found)
        return found

    def keep(self, form: str, ids: NDArray[np.int32]) -> None:
        """Remember how a word is cut."""
        if len(self.cached) >= MAX_CACHED:
            self.cached.clear()
        self.cached[form] = ids


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
        return self._memory.ids_of(_both_ends(form)) if self.n_buckets else NO_PIECES

    def ids_of_all(self, forms: Sequence[str]) -> list[NDArray[np.int32]]:
        """Give the same for many words."""
        if not self.n_buckets:
            return [NO_PIECES] * len(forms)
        read = list(map(_both_ends, forms))
        new = [form for form in set(read).difference(self._memory.cached) if form.isascii()]
        if len(new) >= ENOUGH:
            by_length = defaultdict(list)
            for form in new:
                by_length[len(form)].append(form)
            for some in by_length.values():
                for form, ids in zip(some, self._cut_together(some), strict=True):
                    self._memory.keep(form, ids)
        return list(map(self._memory.ids_of, read))

    def _cut_together(self, forms: Sequence[str]) -> NDArray[np.int32]:
        """Cut ASCII words of one length as `_cut` does: int32 [words, k].

        The checksum of a piece is that of the piece without its last character, and one step more.
        """
        marked = "".join([f"<{form}>" for form in forms]).encode()
        letters = np.frombuffer(marked, np.uint8).reshape(len(forms), -1)  # [words, length]
        length = letters.shape[1]
        sums = np.full(letters.shape, _ALL_ONES)
        cut = []
        for n in LENGTHS:
            last = letters[:, n - 1 :]  # [words, length - n + 1]
            sums = sums[:, : last.shape[1]]
            sums = _STEP[(sums ^ last) & 0xFF] ^ (sums >> 8)
            cut.append(sums[:, 1 : length - 1] if n == 1 else sums)
        ids = (np.concatenate(cut, axis=1) ^ _ALL_ONES) % np.uint32(self.n_buckets)
        return ids.astype(np.int32) + N_PIECE_SPECIALS

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


def _both_ends(form: str) -> str:
    return form if len(form) <= 2 * END_LENGTH else form[:END_LENGTH] + form[-END_LENGTH:]
