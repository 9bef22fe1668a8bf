"""Pre-trained word vectors: GloVe text, word2vec text and binary, or a folder with an npz.

Only the vectors of words in the vocabulary are kept; a file of any size is read in one pass and
bounded memory. Departs from the authors' code: a word is looked up as it is spelled and, if that is
not there, in lower case, since most published vectors are lower-cased.
"""

import zipfile
from collections.abc import Iterator, Set
from itertools import chain, takewhile
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from headwise.errors import ConfigError, DataError
from headwise.files import open_source
from headwise.vocabulary.vocab import N_SPECIALS, Index

_MAX_LINE_BYTES = 2**20
Vector = NDArray[np.float32]


def read_vectors(path: Path, words: Index, size: int) -> tuple[Vector, NDArray[np.bool_]]:
    """Find the vectors of the words: float32 [ids, size], and which ids were found, bool [ids]."""
    table = np.zeros((len(words), size), np.float32)
    found, exact = np.zeros((2, len(words)), bool)
    lower: dict[str, list[int]] = {}
    for i, word in enumerate(words.strings, N_SPECIALS):
        lower.setdefault(word.lower(), []).append(i)
    for word, vector in _sized_rows(path, size, "model.word_size"):
        for i in lower.get(word, ()):
            if not exact[i]:
                table[i], found[i] = vector, True
        if (i := words.id_of(word)) >= N_SPECIALS:
            table[i], found[i], exact[i] = vector, True, True
    if not found.any():
        raise DataError("none of its words is in the treebank", str(path), hint="another language?")
    return table, found


def read_first_vectors(
    path: Path, n_words: int, size: int, also: Set[str]
) -> tuple[list[str], Vector]:
    """Read the first `n_words` words and those in `also`: the words, and float32 [n, size]."""
    vectors: dict[str, Vector] = {}
    for rank, (word, vector) in enumerate(_sized_rows(path, size, "model.vector_size")):
        if rank < n_words or word in also:
            vectors.setdefault(word, vector)
    if not vectors:
        raise DataError("no vectors", str(path))
    return list(vectors), np.stack(list(vectors.values()))


def _sized_rows(path: Path, size: int, setting: str) -> Iterator[tuple[str, Vector]]:
    for word, vector in _rows(path, size):
        if len(vector) != size:
            raise ConfigError(
                f"{path}: vectors of {len(vector)} numbers where {setting} is {size}",
                f"--set {setting}={len(vector)}",
            )
        yield word, vector


def _rows(path: Path, expected: int) -> Iterator[tuple[str, Vector]]:
    if path.is_dir():
        yield from _folder_rows(path)
        return
    with open_source(path) as (stream, name):
        first = stream.readline(_MAX_LINE_BYTES)
        header = first.split()
        if len(header) == 2 and all(part.isdigit() for part in header):
            count, size = int(header[0]), int(header[1])
            if path.suffix == ".bin" or path.suffixes[-2:-1] == [".bin"]:
                yield from _binary_rows(stream, name, count, size)
                return
            lines = enumerate(_lines(stream), 2)
        else:
            start = [first, stream.readline(_MAX_LINE_BYTES)]
            start = [line.rstrip() for line in start if line]
            size = max(expected, min(map(_count_numbers, start), default=0))
            lines = enumerate(chain(start, _lines(stream)), 1)
        for number, line in lines:
            yield _text_row(line, name, number, size)


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    while line := stream.readline(_MAX_LINE_BYTES):
        yield line.rstrip()


def _count_numbers(line: bytes) -> int:
    """Count the numbers at the end of a line; the first part is a word even if it looks like one.

    Vectors of 300 numbers would otherwise be read as 100 numbers and a word with spaces.
    """
    parts = line.split(b" ")[1:]
    return sum(1 for _ in takewhile(_is_number, reversed(parts)))


def _is_number(part: bytes) -> bool:
    try:
        float(part)
    except ValueError:
        return False
    return True


def _text_row(line: bytes, name: str, number: int, size: int) -> tuple[str, Vector]:
    """Read a word and at most `size` numbers; the word may contain spaces, as in GloVe."""
    word, *numbers = line.rsplit(b" ", size)
    try:
        vector = np.array(numbers, np.float32)
    except ValueError:
        word, *numbers = line.split(b" ")
        vector = np.array(numbers if all(map(_is_number, numbers)) else [], np.float32)
    if not len(vector) or not np.isfinite(vector).all():
        hint = "each line is a word and its numbers, separated by single spaces"
        raise DataError("not a word vector", name, number, hint)
    return word.decode("utf-8", "replace"), vector


def _binary_rows(
    stream: BinaryIO, name: str, count: int, size: int
) -> Iterator[tuple[str, Vector]]:
    """Read word2vec's binary form: a word, a space, `size` floats, perhaps a line end."""
    for row in range(count):
        word = bytearray()
        while (byte := stream.read(1)) not in (b" ", b""):
            word += byte
            if len(word) > _MAX_LINE_BYTES:
                raise DataError(f"vector {row + 1}: the word does not end", name)
        data = stream.read(4 * size)
        if len(data) < 4 * size:
            raise DataError(f"ends after {row} of {count} vectors", name, hint="fetch it again")
        yield word.lstrip(b"\n").decode("utf-8", "replace"), np.frombuffer(data, np.float32)


def _folder_rows(path: Path) -> Iterator[tuple[str, Vector]]:
    """Read `words.txt` and `vectors.npz`: `values` int8 [n, size] times `scale` float32 [n]."""
    try:
        words = (path / "words.txt").read_text(encoding="utf-8").split("\n")
        with np.load(path / "vectors.npz", allow_pickle=False) as packed:
            values, scale = packed["values"], packed["scale"]
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(
            f"not a folder of vectors: {error}", str(path), hint="words.txt and vectors.npz"
        ) from error
    if words[-1] == "":
        words.pop()
    if not len(words) == len(values) == len(scale):
        raise DataError(f"{len(words)} words and {len(values)} vectors", str(path))
    for word, row, factor in zip(words, values, scale, strict=True):
        yield word, row.astype(np.float32) * factor
