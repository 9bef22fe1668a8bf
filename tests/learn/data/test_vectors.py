import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from headwise.errors import ConfigError, DataError
from headwise.learn.data.vectors import read_first_vectors, read_vectors
from headwise.vocabulary.vocab import Index

WORDS = Index(["Kids", "love", "LOVE", "candy", "unseen"])
ROWS = {"kids": [1.0, 2.0], "love": [3.0, 4.0], "Candy": [9.0, 9.0], "candy": [5.0, 6.0]}


def glove(path: Path) -> None:
    path.write_text("".join(f"{w} {a} {b}\n" for w, (a, b) in ROWS.items()))


def word2vec_text(path: Path) -> None:
    glove(path)
    path.write_text(f"{len(ROWS)} 2\n{path.read_text()}")


def word2vec_binary(path: Path) -> None:
    rows = b"".join(w.encode() + b" " + struct.pack("2f", *v) + b"\n" for w, v in ROWS.items())
    path.write_bytes(f"{len(ROWS)} 2\n".encode() + rows)


def folder(path: Path) -> None:
    path.mkdir()
    (path / "words.txt").write_text("\n".join(ROWS) + "\n")
    values = np.array(list(ROWS.values()), np.int8)
    np.savez(path / "vectors.npz", values=values, scale=np.ones(len(ROWS), np.float32))


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("v.txt", glove),
        ("v.vec", word2vec_text),
        ("v.bin", word2vec_binary),
        ("v", folder),
    ],
)
def test_vectors_of_known_words_and_the_first_ones_are_read(
    name: str, write: Callable[[Path], None], tmp_path: Path
) -> None:
    write(tmp_path / name)
    table, found = read_vectors(tmp_path / name, WORDS, 2)
    assert found.tolist() == [False] * 3 + [True] * 4 + [False]
    assert table[3:7].tolist() == [[1, 2], [3, 4], [3, 4], [5, 6]]
    words, table = read_first_vectors(tmp_path / name, 2, 2, {"candy", "unseen", "kids"})
    assert words == ["kids", "love", "candy"]
    assert table.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert table.dtype == np.float32
    assert read_first_vectors(tmp_path / name, 9, 2, set())[0] == list(ROWS)


def test_of_a_word_that_stands_twice_the_first_vector_counts(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("kids 1 2\nlove 3 4\nkids 5 6\n")
    words, table = read_first_vectors(tmp_path / "v.txt", 3, 2, {"kids"})
    assert words == ["kids", "love"]
    assert table.tolist() == [[1, 2], [3, 4]]


def test_first_vectors_that_are_none_are_refused(tmp_path: Path) -> None:
    glove(tmp_path / "v.txt")
    with pytest.raises(DataError, match=r"v\.txt: no vectors"):
        read_first_vectors(tmp_path / "v.txt", 0, 2, {"unseen"})


def test_words_with_spaces_are_read(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(". . . 7 8\nat name@domain.com 5 6\nlove 3 4\n")
    table, found = read_vectors(tmp_path / "v.txt", WORDS, 2)
    assert found.sum() == 2
    assert table[WORDS.id_of("love")].tolist() == [3, 4]


def test_wrong_size_names_the_setting(tmp_path: Path) -> None:
    glove(tmp_path / "v.txt")
    with pytest.raises(ConfigError, match=r"word_size is 300\nhint: --set model.word_size=2"):
        read_vectors(tmp_path / "v.txt", WORDS, 300)
    with pytest.raises(ConfigError, match=r"vector_size is 3\nhint: --set model.vector_size=2"):
        read_first_vectors(tmp_path / "v.txt", 9, 3, set())


@pytest.mark.parametrize("header", ["", "2 4\n"])
def test_longer_vectors_than_expected_are_not_words_with_spaces(
    header: str, tmp_path: Path
) -> None:
    (tmp_path / "v.txt").write_text(header + "kids 1 2 3 4\nlove 5 6 7 8\n")
    with pytest.raises(
        ConfigError, match=r"of 4 numbers where model.vector_size is 2\nhint: --set"
    ):
        read_first_vectors(tmp_path / "v.txt", 9, 2, set())
    with pytest.raises(ConfigError, match=r"of 4 numbers where model.word_size is 2"):
        read_vectors(tmp_path / "v.txt", WORDS, 2)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("v.txt", b"kids 1 2\nlove x y\n", ":2: not a word vector"),
        ("v.txt", b"kids\n", ":1: not a word vector"),
        ("v.txt", b"kids 1 nan\n", "not a word vector"),
        ("v.txt", b"other 1 2\n", "none of its words"),
        ("v.bin", b"2 2\nkids " + struct.pack("2f", 1, 2), "ends after 1 of 2"),
        ("v.bin", b"1 2\n" + b"k" * (2**20 + 2), "the word does not end"),
    ],
)
def test_bad_vectors_are_refused(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=message):
        read_vectors(tmp_path / name, WORDS, 2)


def test_bad_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a folder of vectors"):
        read_vectors(tmp_path, WORDS, 2)
    folder(tmp_path / "v")
    (tmp_path / "v" / "words.txt").write_text("kids\n")
    with pytest.raises(DataError, match="1 words and 4 vectors"):
        read_vectors(tmp_path / "v", WORDS, 2)
