"""Everything that is not CoNLL-U or CoNLL-X is refused: where, what, and what to do next."""

import gzip
import io
import lzma
from pathlib import Path

import pytest

from headwise.errors import DataError
from headwise.treebank.conllu import Malformed, read_conllu, read_stream


def word(number: object, form: str = "x", head: object = 0, deps: str = "_") -> str:
    return f"{number}\t{form}\t_\t_\t_\t_\t{head}\tdep\t{deps}\t_\n"


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


def check_message(error: DataError, path: object, line: int | None, what: str) -> None:
    where = str(path) if line is None else f"{path}:{line}"
    first, hint = str(error).split("\n")
    assert first.startswith(f"{where}: ")
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


@pytest.mark.parametrize("number", ["1-2", "0.1", "2", "x"])
def test_conllx_has_words_only(number: str) -> None:
    with pytest.raises(DataError) as refusal:
        list(read_conllu(io.BytesIO(word(number).encode()), "conllx"))
    check_message(refusal.value, "<stream>", 1, f"ID is '{number}' where 1 is next")


def test_conllx_has_no_comments() -> None:
    with pytest.raises(DataError) as refusal:
        list(read_conllu(io.BytesIO(GOOD.encode()), "conllx"))
    check_message(refusal.value, "<stream>", 1, "1 column where 10 are needed")


def test_reading_conllx_as_conllu_says_how_to_read_it() -> None:
    fixture = Path(__file__).parents[1] / "fixtures" / "hand-made.conllx"
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


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
@pytest.mark.parametrize("lost", [1, 9, 40])
def test_packed_data_that_breaks_off_is_refused(pack, lost: int, tmp_path: Path) -> None:
    path = tmp_path / "train.conllu.packed"
    path.write_bytes(pack(GOOD.encode() * 50)[:-lost])
    with pytest.raises(DataError) as refusal:
        list(read_conllu(path, on_error="skip"))
    check_message(refusal.value, path, None, "compressed data is damaged")


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_packed_data_that_is_damaged_is_refused(pack) -> None:
    packed = bytearray(pack(GOOD.encode() * 50))
    packed[len(packed) // 2] ^= 0xFF
    with pytest.raises(DataError) as refusal:
        list(read_conllu(io.BytesIO(packed)))
    check_message(refusal.value, "<stream>", None, "compressed data is damaged")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refusal:
        next(read_conllu(tmp_path / "none.conllu"))
    check_message(refusal.value, tmp_path / "none.conllu", None, "No such file")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refusal:
        next(read_conllu(tmp_path))
    check_message(refusal.value, tmp_path, None, "Is a directory")
