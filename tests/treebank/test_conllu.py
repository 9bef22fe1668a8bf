"""What is read is written again, byte for byte, one sentence at a time."""

import gzip
import io
import lzma
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwise.errors import DataError
from headwise.treebank.conllu import Malformed, read_conllu, read_sentences, write_conllu
from headwise.treebank.sentence import Sentence

FIXTURES = Path(__file__).parents[1] / "fixtures"
TREEBANKS = sorted(path.name for path in FIXTURES.glob("*.conll[ux]"))


class Pipe(io.RawIOBase):
    """Unseekable and unbuffered; gives the chunks one by one and counts how many were taken."""

    def __init__(self, chunks: list[bytes]) -> None:
        super().__init__()
        self._chunks = chunks
        self.n_reads = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self.n_reads == len(self._chunks):
            return 0
        chunk = self._chunks[self.n_reads]
        assert len(chunk) <= len(buffer)
        buffer[: len(chunk)] = chunk
        self.n_reads += 1
        return len(chunk)


def word(number: object, form: str = "x", head: object = 0, deps: str = "_") -> str:
    return f"{number}\t{form}\t_\t_\t_\t_\t{head}\tdep\t{deps}\t_\n"


def form_of(name: str) -> str:
    return name.rpartition(".")[2]


def written(items: Iterator[Sentence | Malformed]) -> bytes:
    stream = io.BytesIO()
    write_conllu(items, stream)
    return stream.getvalue()


def read_text(text: str) -> list[Sentence]:
    return list(read_sentences(io.BytesIO(text.encode())))


def test_every_treebank_of_the_fixtures_is_tested() -> None:
    assert len(TREEBANKS) == 8


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
@pytest.mark.parametrize("name", TREEBANKS)
def test_reading_then_writing_gives_the_same_bytes(name: str, pack, tmp_path: Path) -> None:
    data = (FIXTURES / name).read_bytes()
    path = tmp_path / "treebank"
    path.write_bytes(pack(data))
    packed = path.read_bytes()
    chunks = [packed[i : i + 997] for i in range(0, len(packed), 997)]
    for source in (path, str(path), io.BytesIO(packed), Pipe(chunks)):
        assert written(read_conllu(source, form_of(name))) == data


def test_packed_files_in_a_row_are_read_as_one() -> None:
    first, second = word(1, "a") + "\n", word(1, "b") + "\n"
    for pack in (gzip.compress, lzma.compress):
        packed = pack(first.encode()) + pack(second.encode())
        assert written(read_conllu(io.BytesIO(packed))) == (first + second).encode()


@pytest.mark.parametrize(
    ("name", "n_sentences"),
    [
        ("ewt-dev-100.conllu", 100),
        ("coptic-20.conllu", 20),
        ("ewt-empty-nodes-6.conllu", 6),
        ("hand-made.conllu", 5),
        ("hand-made.conllx", 2),
        ("crlf.conllu", 2),
        ("no-final-newline.conllu", 2),
    ],
)
def test_every_word_is_read_without_ranges_and_empty_nodes(name: str, n_sentences: int) -> None:
    rows = [line.split(b"\t") for line in (FIXTURES / name).read_bytes().split(b"\n")]
    forms = [row[1].decode() for row in rows if row[0].isdigit()]
    sentences = list(read_sentences(FIXTURES / name, form_of(name)))
    assert [word.form for sentence in sentences for word in sentence.words] == forms
    assert len(sentences) == n_sentences


def test_a_real_pipe_is_read_while_it_is_written() -> None:
    data = (FIXTURES / "ewt-dev-100.conllu").read_bytes()
    read_end, write_end = os.pipe()

    def feed() -> None:
        with os.fdopen(write_end, "wb") as stream:
            stream.write(data)

    writer = threading.Thread(target=feed)
    writer.start()
    with os.fdopen(read_end, "rb", buffering=0) as raw:
        assert written(read_conllu(raw)) == data
    writer.join()


def test_a_sentence_comes_before_the_next_is_read() -> None:
    first, second = word(1) + "\n# next\n", word(1, "y") + "\n"
    pipe = Pipe([first.encode(), second.encode()])
    sentences = read_sentences(pipe)
    assert pipe.n_reads == 0
    assert next(sentences).conllu == word(1) + "\n"
    assert pipe.n_reads == 1
    assert next(sentences).conllu == "# next\n" + word(1, "y") + "\n"


def test_a_long_file_is_read_buffer_by_buffer() -> None:
    stream = io.BytesIO((word(1) + "\n").encode() * 100_000)
    sentences = read_sentences(stream)
    next(sentences)
    assert stream.tell() <= 2 * io.DEFAULT_BUFFER_SIZE


def test_a_stream_stays_open_and_a_path_is_closed() -> None:
    stream = io.BytesIO(word(1).encode())
    assert len(list(read_sentences(stream))) == 1
    assert not stream.closed
    reading = read_sentences(FIXTURES / "ewt-dev-100.conllu")
    next(reading)
    reading.close()  # a file left open would be a ResourceWarning, and so an error


def test_closing_the_stream_first_does_no_harm() -> None:
    stream = io.BytesIO((word(1) + "\n").encode() * 2)
    reading = read_sentences(stream)
    next(reading)
    stream.close()
    reading.close()


def test_columns_are_kept_as_they_stand() -> None:
    sentences = list(read_sentences(FIXTURES / "hand-made.conllu"))
    assert [w.form for w in sentences[0].words] == ["¿", "Vamos", "nos", "a", "el", "mar", "?"]
    assert sentences[0].words[1].misc == "Gloss=let's=go|Ref=a=b"
    assert sentences[1].words[4].form == "10 000"
    assert sentences[1].words[5].deps == "1:conj|3.2:obj"
    assert len(sentences[2]) == 0
    assert sentences[3].words[5].form == "a\u2028b\x0bc\x1cd\x85e\u00a0f"
    assert [w.head for w in sentences[4].words] == ["_", "_"]


def test_conllx_reads_phead_and_a_form_like_a_comment() -> None:
    first, second = read_sentences(FIXTURES / "hand-made.conllx", "conllx")
    assert first.words[0].form == "#"
    assert first.gold_heads() == (2, 4, 0, 3, 3)
    assert second.words[2].deps == "0"
    assert second.words[2].misc == "|"


def test_windows_line_ends_are_no_part_of_a_column() -> None:
    first, _ = read_sentences(FIXTURES / "crlf.conllu")
    assert [w.misc for w in first.words] == ["_", "_", "SpaceAfter=No"]


def test_line_numbers_lead_back_to_the_file() -> None:
    lines = (FIXTURES / "hand-made.conllu").read_text(encoding="utf-8").split("\n")
    for sentence in read_sentences(FIXTURES / "hand-made.conllu"):
        for position, read in enumerate(sentence.words, 1):
            assert lines[sentence.line_of(position) - 1] == "\t".join(read)


def test_an_empty_file_has_no_sentence() -> None:
    assert read_text("") == []


@pytest.mark.parametrize("blank", ["\n", "\r\n", " \n", "\t\n", "\t" * 9 + "\n", " \r \r\n"])
def test_a_line_of_blanks_ends_a_sentence(blank: str) -> None:
    text = word(1) + blank + blank + word(1, "y")
    first, second = read_text(text)
    assert first.conllu == word(1) + blank + blank
    assert second.conllu == word(1, "y")
    assert second.line_of(1) == 4


def test_blank_lines_at_the_start_are_kept() -> None:
    nothing, first = read_text("\n \n" + word(1) + "\n")
    assert (nothing.conllu, len(nothing)) == ("\n \n", 0)
    assert first.line_of(1) == 3


def test_a_run_of_blank_lines_is_one_item() -> None:
    data = (word(1) + "\n" * 1000 + word(1, "y")).encode()
    first, second = read_sentences(io.BytesIO(data))
    assert first.data + second.data == data
    assert len(first.lines) == 2  # or millions of them would take 40 times their size
    assert second.line_of(1) == 1002


def test_only_the_sentence_that_is_malformed_is_skipped() -> None:
    blocks = [
        "# good\n" + word(1) + "\n\n",
        "# bad\n" + word(1) + word(3) + "\n \n",
        "\n",
        word(1, "also good") + "\n",
        "no columns",
    ]
    data = "".join(blocks).encode()
    items = list(read_conllu(io.BytesIO(data), on_error="skip"))
    assert [type(item) for item in items] == [Sentence, Malformed, Sentence, Malformed]
    bad, last = items[1], items[3]
    assert isinstance(bad, Malformed)
    assert isinstance(last, Malformed)
    assert bad.data == (blocks[1] + blocks[2]).encode()
    assert (bad.error.line, last.error.line) == (7, 13)
    assert b"".join(item.data for item in items) == data


def test_bytes_that_are_not_text_are_skipped_and_kept() -> None:
    data = word(1).encode() + b"\n" + word(1, "caf\xe9").encode("latin-1") + b"\n" + b"\xff\xfe"
    items = list(read_conllu(io.BytesIO(data), on_error="skip"))
    assert [isinstance(item, Malformed) for item in items] == [False, True, True]
    assert written(iter(items)) == data


def test_reading_for_gold_refuses_what_skip_hands_on() -> None:
    text = word(1) + "\n" + word(2)
    sentences = read_sentences(io.BytesIO(text.encode()))
    assert len(next(sentences)) == 1
    with pytest.raises(DataError, match=r"<stream>:3: ID is '2' where 1 is next"):
        next(sentences)
