"""Pre-trained word vectors: GloVe text, word2vec text and binary, or a folder with an npz.

Only the vectors of words that the vocabulary has are kept; a file of any size is read in one
pass and bounded memory. Departs from the authors' code: a word is looked up as it is spelled and,
if it is not there, in lower case, since most published vectors are lower-cased.
"""

import zipfile
from collections.abc import Iterator, Set
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from headwise.errors import ConfigError, DataError
from headwise.files import open_source
from headwise.vocabulary.vocab import N_SPECIALS, Index

MAX_LINE_BYTES = 2**20
Vector = NDArray[np.float32]


def read_vectors(path: Path, words: Index, size: int) -> tuple[Vector, NDArray[np.bool_]]:
    """Find the vectors of the words: float32 [ids, size], and which ids were found, bool [ids]."""
    table = np.zeros((len(words), size), np.float32)
    exact = np.zeros(len(words), bool)
    lower: dict[str, list[int]] = {}
    for i, word in enumerate(words.strings, N_SPECIALS):
        lower.setdefault(word.lower(), []).append(i)
    found = np.zeros(len(words), bool)
    for word, vector in _rows(path, size):
        if len(vector) != size:
            raise ConfigError(
                f"{path}: vectors of {len(vector)} numbers where model.word_size is {size}",
                f"--set model.word_size={len(vector)}",
            )
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
    words: list[str] = []
    vectors: list[Vector] = []
    seen: set[str] = set()
    for rank, (word, vector) in enumerate(_rows(path, size)):
        if len(vector) != size:
            raise ConfigError(
                f"{path}: vectors of {len(vector)} numbers where model.vector_size is {size}",
                f"--set model.vector_size={len(vector)}",
            )
        if (rank < n_words or word in also) and word not in seen:
            seen.add(word)
            words.append(word)
            vectors.append(vector)
    if not words:
        raise DataError("no vectors", str(path))
    return words, np.stack(vectors)


def _rows(path: Path, expected: int) -> Iterator[tuple[str, Vector]]:
    if path.is_dir():
        yield from _folder_rows(path)
        return
    with open_source(path) as (stream, name):
        first = stream.readline(MAX_LINE_BYTES).rstrip().split(b" ")
        if len(first) == 2 and all(part.isdigit() for part in first):
            count, size = int(first[0]), int(first[1])
            if path.suffix == ".bin" or path.suffixes[-2:-1] == [".bin"]:
                yield from _binary_rows(stream, name, count, size)
                return
            line = 1
        else:
            yield _text_row(b" ".join(first), name, 1, expected)
            line = 1
        while raw := stream.readline(MAX_LINE_BYTES):
            line += 1
            yield _text_row(raw.rstrip(), name, line, expected)


def _text_row(raw: bytes, name: str, line: int, expected: int) -> tuple[str, Vector]:
    """Read a word and its numbers; the word may have spaces in it, as some of GloVe's have."""
    word, *numbers = raw.rsplit(b" ", expected)
    try:
        vector = np.array(numbers, np.float32)
    except ValueError:
        word, *numbers = raw.split(b" ")
        vector = _numbers(numbers)
    if not len(vector) or not np.isfinite(vector).all():
        hint = "each line is a word and its numbers, separated by single spaces"
        raise DataError("no word vector", name, line, hint)
    return word.decode("utf-8", "replace"), vector


def _numbers(parts: list[bytes]) -> Vector:
    """Read numbers, of whatever count; nothing if one of them is no number."""
    try:
        return np.array(parts, np.float32)
    except ValueError:
        return np.zeros(0, np.float32)


def _binary_rows(
    stream: BinaryIO, name: str, count: int, size: int
) -> Iterator[tuple[str, Vector]]:
    """Read word2vec's binary form: a word, a space, `size` floats, perhaps a line end."""
    for row in range(count):
        word = bytearray()
        while (byte := stream.read(1)) not in (b" ", b""):
            word += byte
            if len(word) > MAX_LINE_BYTES:
                raise DataError(f"vector {row + 1}: a word without end", name)
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
