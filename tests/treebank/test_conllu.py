"""What is read is written again, byte for byte; what breaks the format is refused."""

import gzip
import io
import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwise.errors import DataError
from headwise.treebank.conllu import (
    Malformed,
    read_conllu,
    read_sentences,
    read_stream,
    write_conllu,
)
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


@pytest.mark.parametrize("name", TREEBANKS)
def test_every_word_is_read_without_ranges_and_empty_nodes(name: str) -> None:
    rows = [line.split(b"\t") for line in (FIXTURES / name).read_bytes().split(b"\n")]
    forms = [row[1].decode() for row in rows if row[0].isdigit()]
    sentences = list(read_sentences(FIXTURES / name, form_of(name)))
    assert [word.form for sentence in sentences for word in sentence.words] == forms
    assert sum(bool(sentence) for sentence in sentences) == sum(row[0] == b"1" for row in rows)
    assert len(TREEBANKS) == 8


def test_a_sentence_comes_before_the_next_is_read() -> None:
    first, second = word(1) + "\n# next\n", word(1, "y") + "\n"
    pipe = Pipe([first.encode(), second.encode()])
    sentences = read_sentences(pipe)
    assert pipe.n_reads == 0
    assert next(sentences).conllu == word(1) + "\n"
    assert pipe.n_reads == 1
    assert next(sentences).conllu == "# next\n" + word(1, "y") + "\n"


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
    first, _ = read_sentences(FIXTURES / "crlf.conllu")
    assert [w.misc for w in first.words] == ["_", "_", "SpaceAfter=No"]


def test_conllx_reads_phead_and_a_form_like_a_comment() -> None:
    first, second = read_sentences(FIXTURES / "hand-made.conllx", "conllx")
    assert first.words[0].form == "#"
    assert first.gold_heads() == (2, 4, 0, 3, 3)
    assert second.words[2].deps == "0"
    assert second.words[2].misc == "|"


def test_line_numbers_lead_back_to_the_file() -> None:
    lines = (FIXTURES / "hand-made.conllu").read_text(encoding="utf-8").split("\n")
    for sentence in read_sentences(FIXTURES / "hand-made.conllu"):
        for position, read in enumerate(sentence.words, 1):
            assert lines[sentence.line_of(position) - 1] == "\t".join(read)


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
    assert read_text("") == []


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


GOOD = "# good\n" + word(1) + "\n"
"""Stands before each malformed text, so that its first line is line 4."""

REFUSED = {
    "nine columns": ("1" + "\t_" * 8 + "\n", 4, "9 columns where 10 are needed"),
    "eleven columns": ("1" + "\t_" * 10 + "\n", 4, "11 columns where 10 are needed"),
    "spaces for tabs": (word(1).replace("\t", " "), 4, "1 column where 10 are needed"),
    "empty FORM": (word(1, ""), 4, "column FORM is empty"),
    "empty MISC": (word(1) + word(2).replace("_\n", "\n"), 5, "column MISC is empty"),
    "empty MISC, CRLF": (word(1).replace("_\n", "\r\n"), 4, "column MISC is empty"),
    "starts at 0": (word(0), 4, "ID is '0' where 1 is next"),
    "starts at 2": (word(2), 4, "ID is '2' where 1 is next"),
    "ID left out": (word(1) + word(3), 5, "ID is '3' where 2 is next"),
    "ID twice": (word(1) + word(1), 5, "ID is '1' where 2 is next"),
    "ID with a zero": (word("01"), 4, "ID is '01' where 1 is next"),
    "ID in other digits": (word("\u0661"), 4, "ID is '\u0661' where 1 is next"),
    "ID of blanks": (word("\u00a0"), 4, "ID is '\u00a0' where 1 is next"),
    "mark of another file": (word("\ufeff1"), 4, "ID is '\ufeff1' where 1 is next"),
    "range late": (word(1) + word("1-2", head="_"), 5, "ID is '1-2' where 2 is next"),
    "range early": (word("2-3", head="_") + word(1), 4, "ID is '2-3' where 1 is next"),
    "range backwards": (word(1) + word("2-1", head="_"), 5, "ID is '2-1' where 2 is next"),
    "range without end": (word("1-" + "9" * 5000), 4, "ID is '1-99999"),
    "empty node late": (word(1) + word("0.1"), 5, "ID is '0.1' where 2 is next"),
    "empty node early": (word("1.1") + word(1), 4, "ID is '1.1' where 1 is next"),
    "empty node 0": (word(1) + word("1.0"), 5, "ID is '1.0' where 2 is next"),
    "empty node 00.1": (word("00.1"), 4, "ID is '00.1' where 1 is next"),
    "empty node without end": (word("9" * 5000 + ".1"), 4, "ID is '99999"),
    "HEAD a word": (word(1, head="root"), 4, "HEAD is 'root'"),
    "HEAD negative": (word(1, head="-1"), 4, "HEAD is '-1'"),
    "HEAD with a zero": (word(1, head="00"), 4, "HEAD is '00'"),
    "HEAD of other digits": (word(1, head="²"), 4, "HEAD is '²'"),
    "HEAD an empty node": (word(1, head="1.1"), 4, "HEAD is '1.1'"),
    "HEAD without end": (word(1, head="9" * 5000), 4, "HEAD is '99999"),
    "HEAD too large": (
        word("1-2", head="_") + word(1, head=2) + word(2, head=3),
        6,
        "HEAD is 3 but the sentence has 2 words",
    ),
    "range too long": (
        word("1-3", head="_") + word(1, head=2) + word(2, head=0),
        4,
        "the range is 1-3 but the sentence has 2 words",
    ),
    "a word in two ranges": (
        word("1-2", head="_") * 2 + word(1, head=2) + word(2, head=0),
        5,
        "the range 1-2 overlaps the one before it",
    ),
    "DEPS without a label": (word(1, deps="0"), 4, "DEPS is '0'"),
    "DEPS with an empty label": (word(1, deps="0:"), 4, "DEPS is '0:'"),
    "DEPS with an empty pair": (word(1, deps="0:root|"), 4, "DEPS is '0:root|'"),
    "DEPS without a head": (word(1, deps="0:root|nsubj"), 4, "DEPS is '0:root|nsubj'"),
    "comment late": (word(1) + "# late\n" + word(2), 5, "a comment after the first word"),
    "other blanks": (word(1) + "\x0b\n" + word(2), 5, "1 column where 10 are needed"),
    "a separator": (word(1) + "\x1c\n" + word(2), 5, "1 column where 10 are needed"),
    "a no-break space": (word(1) + "\u00a0\n" + word(2), 5, "1 column where 10 are needed"),
    "old Mac line ends": (word(1).replace("\n", "\r") * 2 + "\n", 4, "19 columns where"),
}


def check_message(error: DataError, path: object, line: int, what: str) -> None:
    first, hint = str(error).split("\n")
    assert first.startswith(f"{path}:{line}: ")
    assert what in first
    assert hint.startswith("hint: ")
    assert len(hint) > len("hint: ")
    assert (error.source, error.line) == (str(path), line)


@pytest.mark.parametrize(("text", "line", "what"), REFUSED.values(), ids=REFUSED)
def test_what_breaks_the_rules_is_refused_or_passed_on(
    text: str, line: int, what: str, tmp_path: Path
) -> None:
    path = tmp_path / "train.conllu"
    path.write_text(GOOD + text, encoding="utf-8", newline="")
    reading = read_conllu(path)
    assert next(reading).data == GOOD.encode()
    with pytest.raises(DataError) as refusal:
        next(reading)
    check_message(refusal.value, path, line, what)
    data = (GOOD + text + "\n" + GOOD).encode()
    before, bad, after = read_conllu(io.BytesIO(data), on_error="skip")
    assert before.data == after.data == GOOD.encode()
    assert isinstance(bad, Malformed)
    assert bad.data == (text + "\n").encode()
    check_message(bad.error, "<stream>", line, what)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        *(
            (word(number), f"ID is '{number}' where 1 is next")
            for number in ("1-2", "0.1", "2", "x")
        ),
        (GOOD, "1 column where 10 are needed"),
    ],
)
def test_conllx_has_words_only(text: str, what: str) -> None:
    with pytest.raises(DataError) as refusal:
        list(read_conllu(io.BytesIO(text.encode()), "conllx"))
    check_message(refusal.value, "<stream>", 1, what)


def test_reading_conllx_as_conllu_says_how_to_read_it() -> None:
    fixture = FIXTURES / "hand-made.conllx"
    with pytest.raises(DataError, match="--input conllx") as refusal:
        list(read_conllu(fixture))
    check_message(refusal.value, fixture, 1, "DEPS is '2'")


def test_bytes_that_are_not_utf8_are_located() -> None:
    data = GOOD.encode() + word(1, "ok").encode() + word(2, "caf\xe9").encode("latin-1")
    with pytest.raises(DataError) as refusal:
        list(read_conllu(io.BytesIO(data)))
    check_message(refusal.value, "<stream>", 5, "byte 6 of the line is not UTF-8")


@pytest.mark.parametrize("rest", [GOOD, "\n" + GOOD, word(1)])
def test_a_byte_order_mark_is_refused(rest: str) -> None:
    data = rest.encode("utf-8-sig")
    with pytest.raises(DataError) as refusal:
        list(read_conllu(io.BytesIO(data)))
    check_message(refusal.value, "<stream>", 1, "byte order mark")
    items = list(read_conllu(io.BytesIO(data), on_error="skip"))
    assert isinstance(items[0], Malformed)
    assert b"".join(item.data for item in items) == data


def test_a_byte_order_mark_inside_a_file_is_a_character() -> None:
    text = GOOD + word(1, "\ufeff")
    assert b"".join(item.data for item in read_conllu(io.BytesIO(text.encode()))) == text.encode()


@pytest.mark.parametrize("endless", ["x" * 1000, "# comment\n" * 100, "\n" * 1000])
def test_a_sentence_without_end_is_refused(endless: str) -> None:
    stream = io.BytesIO((GOOD + "# s\n" + endless).encode())
    reading = read_stream(stream, "<stream>", "conllu", "skip", max_bytes=100)
    next(reading)
    with pytest.raises(DataError) as refusal:
        next(reading)
    check_message(refusal.value, "<stream>", 4, "a sentence of more than")


def test_a_line_without_end_is_not_read_to_the_end() -> None:
    stream = io.BytesIO(b"x" * 1_000_000)
    with pytest.raises(DataError, match=r"^<stream>:1: a sentence of more than"):
        next(read_stream(stream, "<stream>", "conllu", "raise", max_bytes=100))
    assert stream.tell() == 101


def test_a_sentence_of_just_the_largest_size_is_read() -> None:
    stream = io.BytesIO(GOOD.encode() * 3)
    reading = read_stream(stream, "<stream>", "conllu", "raise", max_bytes=len(GOOD))
    assert len(list(reading)) == 3
