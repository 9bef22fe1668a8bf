"""The spelling of a word as hashed character n-grams.

`<word>` is cut into all its n-grams of one to four characters, and each n-gram is hashed into one
of a fixed number of buckets. So a word that training never saw still shares most of its n-grams
with words that it did. Only both ends of very long words are read, which bounds the work. Many new
words are cut together, those of one length side by side.
"""

import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from headwise.arrays import IntArray

LENGTHS = (1, 2, 3, 4)
END_LENGTH = 10
"""Characters that are read at each end of a long word."""
PAD_NGRAM, ROOT_NGRAM = 0, 1
N_NGRAM_SPECIALS = 2
MAX_CACHED = 20_000
"""Words in a cache; frequent ones are in the table of inputs by then (`runtime.table`)."""
MIN_TOGETHER = 16
"""New words that are worth cutting together."""
_ALL_ONES = np.uint32(0xFFFFFFFF)
_STEP = np.array([zlib.crc32(bytes([i]), 0xFFFFFFFF) for i in range(256)], np.uint32) ^ _ALL_ONES
"""CRC-32 byte by byte: what the lowest byte of the sum so far, mixed with the next one, adds."""
NO_NGRAMS = np.zeros(0, np.int32)
"""The ids of a word, if the model reads no n-grams."""


class WordCache:
    """Remembers the ids of words, within bounds."""

    def __init__(self, cut: Callable[[str], list[int]], max_words: int = MAX_CACHED) -> None:
        """Use `cut` for words that are not in the cache; empty it when it has `max_words`."""
        self._cut = cut
        self._max_words = max_words
        self.words: dict[str, IntArray] = {}

    def ids_of(self, form: str) -> IntArray:
        """Cut a word, or recall its ids: int32 [k]."""
        ids = self.words.get(form)
        if ids is None:
            ids = np.array(self._cut(form), np.int32)
            self.add(form, ids)
        return ids

    def add(self, form: str, ids: IntArray) -> None:
        """Remember the ids of a word."""
        if len(self.words) >= self._max_words:
            self.words.clear()
        self.words[form] = ids


class Ngrams:
    """Cuts words into n-grams and remembers them."""

    def __init__(self, n_buckets: int, max_cached: int = MAX_CACHED) -> None:
        """Hash into `n_buckets`; with 0, no word has any n-grams."""
        self.n_buckets = n_buckets
        self._cache = WordCache(self._cut, max_cached)

    def __len__(self) -> int:
        """Count the ids, specials included."""
        return self.n_buckets + N_NGRAM_SPECIALS

    def ids_of(self, form: str) -> IntArray:
        """Give the ids of the n-grams of a word: int32 [k], k at least 1 if there are buckets."""
        return self._cache.ids_of(_both_ends(form)) if self.n_buckets else NO_NGRAMS

    def ids_of_all(self, forms: Sequence[str]) -> list[IntArray]:
        """Give the same for many words."""
        if not self.n_buckets:
            return [NO_NGRAMS] * len(forms)
        read = list(map(_both_ends, forms))
        new = [form for form in set(read).difference(self._cache.words) if form.isascii()]
        if len(new) >= MIN_TOGETHER:
            by_length = defaultdict(list)
            for form in new:
                by_length[len(form)].append(form)
            for some in by_length.values():
                for form, ids in zip(some, self._cut_together(some), strict=True):
                    self._cache.add(form, ids)
        return list(map(self._cache.ids_of, read))

    def _cut_together(self, forms: Sequence[str]) -> IntArray:
        """Cut ASCII words of one length as `_cut` does: int32 [words, k].

        The checksum of an n-gram is that of the n-gram without its last character, and one step.
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
        return ids.astype(np.int32) + N_NGRAM_SPECIALS

    def _cut(self, form: str) -> list[int]:
        marked = f"<{form}>"
        hashed, n_buckets = zlib.crc32, self.n_buckets
        if marked.isascii():  # a byte for each character: encode once, not once for each n-gram
            data = marked.encode()
            cut = [hashed(data[i : i + n]) for n in LENGTHS for i in range(len(data) - n + 1)]
        else:
            cut = [
                hashed(marked[i : i + n].encode("utf-8", "replace"))
                for n in LENGTHS
                for i in range(len(marked) - n + 1)
            ]
        single = cut[1 : len(marked) - 1]  # `<` and `>` by themselves are in every word
        rest = cut[len(marked) :]
        return [checksum % n_buckets + N_NGRAM_SPECIALS for checksum in (*single, *rest)]


def _both_ends(form: str) -> str:
    return form if len(form) <= 2 * END_LENGTH else form[:END_LENGTH] + form[-END_LENGTH:]
