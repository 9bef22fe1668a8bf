"""Input in any form: how it is recognised, opened and decoded."""

import gzip
import io
import lzma
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwise import DataError, Malformed, ModelError, Sentence, read_conllu
from headwise.settings.choices import Input
from headwise.text.read import decode_utf8, is_conllu, open_any, read_any
from headwise.text.segmenter import Segmenter, read_text

FIXED = settings(max_examples=60, deadline=None, derandomize=True, database=None)
ROW = b"1\tKids\t_\tNOUN\tNNS\t_\t0\troot\t_\t_\n"
TREEBANK = b"# text = Kids\n" + ROW + b"\n"


def read(data: bytes, form: Input = "auto", segmenter: Segmenter | None = None) -> list[Sentence]:
    items = read_any(io.BytesIO(data), form, segmenter)
    return [item for item in items if isinstance(item, Sentence)]


def together(sentences: list[Sentence]) -> bytes:
    return "".join(sentence.conllu for sentence in sentences).encode()


TREEBANK_STARTS = [
    ROW,
    TREEBANK,
    b"\r\n\r\n# a remark\r\n" + ROW.replace(b"\n", b"\r\n"),
    b"1-2\tdont\t_\t_\t_\t_\t_\t_\t_\t_\n",
    b"0.1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n",
    b"# sent_id = 1\n1 Kids\n",
    b"\xef\xbb\xbf" + TREEBANK,
    b"",
    b" \n\t\r\n",
]
TEXT_STARTS = [
    b"Kids love candy.",
    b"# A heading\n\nKids love candy.\n",
    b"# text\nKids\n",
    b"1\tKids\n",
    b"1. First\n",
    b"a\tb\tc\td\te\tf\tg\th\ti\tj\n",
    b"\xff\xfe",
    b"\x0c",
    b"# only a heading",
]


@pytest.mark.parametrize("start", TREEBANK_STARTS + TEXT_STARTS)
def test_treebanks_and_texts_are_known_by_their_start(start: bytes) -> None:
    assert is_conllu(start) == (start in TREEBANK_STARTS)


def test_a_treebank_stays_as_it_is() -> None:
    for data in (TREEBANK * 3, b"\n\n" + TREEBANK, b"# long " + b"x" * 100_000 + b"\n" + ROW):
        assert together(read(data)) == data
        assert together(read(data, "conllu")) == data
    assert together(read(ROW + b"\n", "conllx")) == ROW + b"\n"


@pytest.mark.parametrize(
    "data", [b"kids love candy. " * 6_000, b"# no treebank\n" * 100, b"\r" * 999 + b"abc"]
)
def test_every_byte_is_read_once_whatever_auto_looked_at(data: bytes) -> None:
    with open_any(io.BytesIO(data), "auto", max_sniffed=1_000) as opened:
        assert opened.form == "text"
        assert "".join(opened.text()) == data.decode()


@FIXED
@given(st.text(st.sampled_from("ab. \n\r\t#é1"), max_size=40), st.integers(1, 7))
def test_the_size_of_reads_changes_nothing(text: str, size: int) -> None:
    class Slow(io.RawIOBase):
        def __init__(self) -> None:
            self.data = io.BytesIO(text.encode())

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: object) -> int:
            data = self.data.read(size)
            memoryview(buffer)[: len(data)] = data  # type: ignore[arg-type]
            return len(data)

    with open_any(io.BufferedReader(Slow()), "auto") as opened:
        assert "".join(opened.text()) == text


@pytest.mark.parametrize(
    ("name", "compress"),
    [("a.conllu", bytes), ("a.conllu.gz", gzip.compress), ("a.CONLLU.xz", lzma.compress)],
)
def test_the_name_decides_unless_the_form_is_given(
    name: str, compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(compress(b"kids love"))
    with pytest.raises(DataError, match=f"{name}:1: 1 column where 10"):
        list(read_any(path, "auto", None))
    assert list(read_any(path, "tokens", None)) == read(b"kids love", "tokens")


def test_forms_of_text(segmenter: Segmenter) -> None:
    text = "a b\nc\n"
    assert [len(s) for s in read(text.encode(), "tokens")] == [2, 1]
    assert [len(s) for s in read_text(text, "tokens", None)] == [2, 1]
    assert list(read_text(text, "lines", segmenter)) == read(text.encode(), "lines", segmenter)
    assert list(read_text(iter(text), "text", segmenter)) == read(text.encode(), "text", segmenter)


@pytest.mark.parametrize("form", ["auto", "text", "lines"])
def test_without_a_segmenter_text_is_refused(form: Input) -> None:
    with pytest.raises(ModelError, match=r"trained without a segmenter\nhint: .*--input tokens"):
        read(b"Kids love candy.", form)
    assert not read(b"")


@pytest.mark.parametrize(
    ("chunks", "offset"),
    [
        *(([b"ab\xffc"], 2), ([b"ab", b"\xc3", b"(x"], 2), ([b"\xe2", b"\x82"], 0)),
        *(([b"a" * n, b"\xc3("], n) for n in (0, 65_535, 65_536, 150_000)),
    ],
)
def test_the_offset_of_what_is_not_utf_8_does_not_depend_on_chunks(
    chunks: list[bytes], offset: int
) -> None:
    with pytest.raises(DataError, match=rf"here\.txt: byte {offset} .*\nhint: .*iconv"):
        list(decode_utf8(chunks, "here.txt"))
    stream = io.BytesIO(b"".join(chunks))
    stream.name = "book.txt"
    with pytest.raises(DataError, match=rf"^book.txt: byte {offset} \(counting from 0\)"):
        list(read_any(stream, "tokens", None))


@FIXED
@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.lists(st.integers(0, 40), max_size=6),
)
@example("\ufeff\ufeffa\ufeff", [1, 2])
@example("", [])
def test_bytes_decode_however_they_are_cut(text: str, cuts: list[int]) -> None:
    data = text.encode()
    chunks = [data[i:j] for i, j in pairwise([0, *sorted(cuts), len(data)])]
    assert "".join(decode_utf8(chunks)) == text.removeprefix("\ufeff")


@pytest.mark.parametrize(
    "start",
    [
        *(b"%PDF-1.7\n", b"PK\x03\x04rest", b"{\\rtf1 x}", b"\xd0\xcf\x11\xe0"),
        *(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0\x00\x10JFIF"),
    ],
)
def test_a_document_that_is_not_text_is_named(start: bytes) -> None:
    with pytest.raises(DataError, match=r"this is .*, not text\nhint: .*plain text"):
        list(decode_utf8([start, b"more"], "a.doc"))
    assert "".join(decode_utf8([b"see ", b"%PDF-1.7"])) == "see %PDF-1.7"


@pytest.mark.parametrize(
    ("encoding", "what"),
    [
        ("utf-16", "this is UTF-16, not UTF-8\nhint: .*iconv -f UTF-16 -t UTF-8"),
        ("utf-16-le", "full of zero bytes\nhint: if it is UTF-16"),
        ("utf-16-be", "full of zero bytes\nhint: if it is UTF-16"),
    ],
)
def test_utf_16_is_named(encoding: str, what: str) -> None:
    with pytest.raises(DataError, match=rf"^a.txt: .*{what}"):
        list(decode_utf8(["Kids love candy.\n".encode(encoding)], "a.txt"))
    assert list(decode_utf8([b"a stray zero \0 is kept"])) == ["a stray zero \0 is kept"]


@pytest.mark.parametrize("form", ["auto", "text", "lines", "tokens"])
def test_text_can_be_refused(form: Input) -> None:
    why = ModelError("no text")
    with pytest.raises(ModelError, match="no text"):
        list(read_any(io.BytesIO(b"Kids"), form, None, no_text=why))
    assert len(list(read_any(io.BytesIO(TREEBANK), "auto", None, no_text=why))) == 1


def test_malformed_sentences_of_a_treebank_can_be_skipped() -> None:
    data = io.BytesIO(TREEBANK + b"what\n\n" + TREEBANK)
    first, broken, last = read_any(data, "auto", None, "skip")
    assert first.conllu == last.conllu == TREEBANK.decode()  # type: ignore[union-attr]
    assert isinstance(broken, Malformed)


def test_sentences_of_a_document_have_its_name() -> None:
    text = io.BytesIO(b"Kids love candy .\nSo do I .\n")
    first, second = read_any(text, "tokens", None, document="my book")
    assert isinstance(first, Sentence)
    assert isinstance(second, Sentence)
    assert first.lines[0] == "# newdoc id = my book\n"
    assert [s.metadata["sent_id"] for s in (first, second)] == ["my book-1", "my book-2"]
    assert "newdoc" not in second.conllu
    for sentence in (first, second):
        (again,) = read_conllu(io.BytesIO(sentence.data))
        assert isinstance(again, Sentence)
        assert (again.words, again.lines, again.rows) == (
            sentence.words,
            sentence.lines,
            sentence.rows,
        )
