"""Identify the language of a text, from its letters alone.

A linear classifier over character n-grams, after fastText: every n-gram of one to four letters and
every longer word is hashed to a row of a table, the mean of the rows represents the text, and one
matrix turns it into a score for each language. The table is int8. `bench.identify` trains it on
treebanks.

Worked example: "Où?" becomes the letters " où ", which hold four 1-grams, three 2-grams, two
3-grams and one 4-gram: the text is the mean of ten rows.
"""

import unicodedata
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headwise.arrays import FloatArray, IntArray

MOST_LETTERS = 1_000
"""Letters of a text that are read."""
_MAX_CHARACTERS = 4_000
"""Characters in which these are looked for."""
LONGEST = 4
IDENTIFIER_FILE = Path(__file__).with_name("languages.npz")
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


@dataclass(frozen=True, slots=True)
class Identifier:
    """Languages, a table [n_rows, size], a matrix [size, n_languages] and a bias [n_languages]."""

    languages: tuple[str, ...]
    table: NDArray[np.int8]
    matrix: FloatArray
    bias: FloatArray

    def log_probs(self, text: str) -> FloatArray:
        """Score every language [n_languages]; without letters, all are as likely."""
        rows = ngram_rows(letters_of(text), len(self.table))
        if not len(rows):
            return np.full(len(self.languages), -np.log(len(self.languages)), np.float32)
        mean = self.table[rows].sum(0, dtype=np.int32) / np.float32(len(rows))
        scores: FloatArray = (mean @ self.matrix + self.bias).astype(np.float32)
        scores -= scores.max()
        scores -= np.log(np.exp(scores).sum())
        return scores


class _Letters(dict[int, int]):
    """Letters and their marks stay, everything else becomes a space; filled as text comes."""

    def __missing__(self, code: int) -> int:
        kept = code if unicodedata.category(chr(code))[0] in "LM" else 32
        if len(self) < 2**14:  # text may hold any character, and memory is bounded
            self[code] = kept
        return kept


@cache
def _letters() -> _Letters:
    return _Letters()


def letters_of(text: str) -> str:
    """Keep the words of a text in lower case, with one space around each; "" if there are none."""
    start = unicodedata.normalize("NFC", text[:_MAX_CHARACTERS]).lower()
    words = " ".join(start.translate(_letters()).split())
    return f" {words[:MOST_LETTERS]} " if words else ""


def ngram_rows(letters: str, n_rows: int) -> IntArray:
    """Hash every n-gram, and every word that is longer, to the number of a row: int32 [n]."""
    codes = np.frombuffer(letters.encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    hashes = np.zeros(len(codes), np.uint64)
    found = []
    for length in range(1, min(LONGEST, len(codes)) + 1):
        n_places = len(codes) - length + 1
        hashes = (hashes[:n_places] + codes[length - 1 :] + np.uint64(1)) * _FACTOR
        hashes ^= hashes >> _SHIFT
        found.append(hashes % np.uint64(n_rows))
    words = [word for word in letters.split() if len(word) > LONGEST - 2]  # with its two spaces
    found.append(np.array([zlib.crc32(word.encode("utf-8", "replace")) % n_rows for word in words]))
    return np.concatenate(found).astype(np.int32)


@cache
def load_identifier() -> Identifier:
    """Load the classifier that comes with the package, once."""
    return read_identifier(IDENTIFIER_FILE)


def read_identifier(path: Path) -> Identifier:
    """Read a classifier."""
    with np.load(path, allow_pickle=False) as arrays:
        languages = tuple(str(arrays["languages"]).split())
        return Identifier(languages, arrays["table"], arrays["matrix"], arrays["bias"])
