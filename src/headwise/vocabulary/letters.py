"""The spelling of a word, letter by letter.

A letter is a code point. Letters that training saw too rarely share one id. Only both ends of a
long word are read, which bounds the work for any script.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from headwise.arrays import IntArray
from headwise.errors import ModelError

PAD_LETTER, UNKNOWN_LETTER, START_OF_WORD, END_OF_WORD = range(4)
N_LETTER_SPECIALS = 4
MAX_LETTERS = 24
"""Letters that are read of a word: half of them at each end of a longer one."""
MIN_LETTER_COUNT = 2
ROOT_LETTERS = np.array([START_OF_WORD, END_OF_WORD], np.int32)


class Letters:
    """The letters that a model knows; without any, it reads no letters."""

    def __init__(self, letters: Sequence[str] = ()) -> None:
        """Number the letters in the order given."""
        self.letters = tuple(letters)
        distinct = set(self.letters)
        if len(distinct) != len(self.letters) or any(len(letter) != 1 for letter in distinct):
            raise ModelError("a letter occurs twice in the alphabet, or is not one character")
        codes = np.array(list(map(ord, self.letters)), np.uint32)
        order = codes.argsort()
        self._codes, self._sorted_ids = codes[order], order.astype(np.int32) + N_LETTER_SPECIALS

    def __len__(self) -> int:
        """Count the ids, specials included."""
        return len(self.letters) + N_LETTER_SPECIALS

    def ids_of(self, form: str) -> IntArray:
        """Give the ids of a word: int32 [k], with a start and an end; empty without an alphabet."""
        ids: IntArray = self.ids_of_all([form])[0]
        return ids

    def ids_of_all(self, forms: Sequence[str]) -> IntArray:
        """Give the ids of words: int32 [n, k], padded with 0, all letters in one lookup."""
        if not self.letters:
            return np.zeros((len(forms), 0), np.int32)
        half = MAX_LETTERS // 2
        read = [form if len(form) <= MAX_LETTERS else form[:half] + form[-half:] for form in forms]
        codes = np.frombuffer("".join(read).encode("utf-32-le", "surrogatepass"), "<u4")
        at = self._codes.searchsorted(codes).clip(max=len(self.letters) - 1)
        spelled = np.where(self._codes[at] == codes, self._sorted_ids[at], UNKNOWN_LETTER)
        lengths = np.array(list(map(len, read)), np.intp)
        ids = np.zeros((len(read), lengths.max(initial=0) + 2), np.int32)
        ids[:, 0] = START_OF_WORD
        ids[:, 1:][np.arange(ids.shape[1] - 1) < lengths[:, None]] = spelled
        ids[np.arange(len(read)), lengths + 1] = END_OF_WORD
        return ids


NO_ALPHABET = Letters()


def collect_letters(forms: Iterable[str], min_count: int = MIN_LETTER_COUNT) -> list[str]:
    """List the letters of words, the most frequent first and ties in order of code points."""
    counts = Counter(chain.from_iterable(forms))
    frequent = [letter for letter, count in counts.items() if count >= min_count]
    return sorted(frequent, key=lambda letter: (-counts[letter], letter))
