"""Reading and writing hold for any document, and for any bytes at all."""

import io
import re
from dataclasses import dataclass

from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwise.errors import DataError
from headwise.treebank.conllu import Malformed, OnError, read_conllu, read_sentences
from headwise.treebank.sentence import Parse, Sentence, line_end

FIXED = settings(max_examples=150, deadline=None, derandomize=True, database=None)

IN_COLUMN = st.characters(exclude_characters="\t\n", exclude_categories=["Cs"])
VALUE = st.text(IN_COLUMN, min_size=1, max_size=8) | st.sampled_from(
    ["_", " ", "\x0b", "\x1c", "\x85", "\u2028", "\u00a0", "\r", "#", "1-2", "0.1", "a b", "\x00"]
)
LAST_VALUE = VALUE.map(lambda value: value.replace("\r", "") or "_")
LABEL = st.text(st.characters(categories=["L"]), min_size=1, max_size=6)
NEWLINE = st.sampled_from(["\n", "\r\n"])
BLANK = st.sampled_from(["\n", "\r\n", " \n", "\t\n", "  \t\r\n"])
COMMENT = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=12)


@dataclass(frozen=True)
class Document:
    """A valid CoNLL-U text and the FORM and MISC of the words that it was made of."""

    text: str
    values: list[list[tuple[str, str]]]


@st.composite
def blocks(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, str]]]:
    """Draw the lines of a sentence, its blank lines aside; there may be comments alone."""
    n_words = draw(st.integers(0, 5))
    lines = [f"#{c}{draw(NEWLINE)}" for c in draw(st.lists(COMMENT, max_size=2))]
    values = []
    n_covered = 0
    for position in range(n_words + 1):
        if position:
            head = draw(st.integers(0, n_words).map(str) | st.just("_"))
            deps = draw(st.sampled_from(["_", "0:root", "1:a|1.1:b:c"]))
            form, misc, label = draw(VALUE), draw(LAST_VALUE), draw(VALUE)
            columns = [str(position), form, draw(VALUE), "_", "_", "_", head, label, deps, misc]
            lines.append("\t".join(columns) + draw(NEWLINE))
            values.append((form, misc))
        numbers = [f"{position}.{i}" for i in range(1, draw(st.integers(0, 2)) + 1)]
        if n_covered <= position < n_words and draw(st.booleans()):
            n_covered = draw(st.integers(position + 1, n_words))
            numbers.append(f"{position + 1}-{n_covered}")
        lines += [f"{number}\t{draw(VALUE)}" + "\t_" * 8 + draw(NEWLINE) for number in numbers]
    return lines, values


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = "".join(draw(st.lists(BLANK, max_size=2)))
    values = []
    for lines, block_values in draw(st.lists(blocks(), max_size=4)):
        text += "".join(lines) + "".join(draw(st.lists(BLANK, min_size=1, max_size=3)))
        values.append(block_values)
    how = draw(st.sampled_from(["whole", "no newline", "no blank line"]))
    if how == "no blank line":
        text = re.sub(r"[\r\n][ \t\r\n]*\Z", "", text)
    elif how == "no newline":
        text = text[: len(text) - len(line_end(text))]
    return Document(text, values)


@st.composite
def broken_documents(draw: st.DrawFn) -> bytes:
    data = draw(documents()).text.encode()
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 4)))
        data = data[:start] + draw(st.binary(max_size=3)) + data[end:]
    return data


MARKS = [b"\x1f\x8b", b"\xfd7zXZ\x00", b"\xef\xbb\xbf"]
SPACES = [b" ", b"\t", b"\n", b"\r\n", b"\x0b", b"\x0c", b"\x1c", b"\xc2\x85", b"\xe2\x80\xa8"]
IDS = [b"0", b"1", b"2", b"1-2", b"0.1", b"1.1", b"9" * 4301, b"#", b"_", b"\x00", b"\xff"]
LINES = [b"\t_" * 8, b"\t_" * 9 + b"\n", b"1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n"]
PIECES = st.sampled_from([*MARKS, *SPACES, *IDS, *LINES])


@FIXED
@given(documents())
@example(Document("1\t\u2028\t_\t_\t_\t_\t0\t_\t_\t_", [[("\u2028", "_")]]))
def test_any_document_is_written_as_it_was_read(document: Document) -> None:
    data = document.text.encode()
    sentences = list(read_sentences(io.BytesIO(data)))
    assert b"".join(item.data for item in sentences) == data
    read = [[(word.form, word.misc) for word in sentence.words] for sentence in sentences]
    assert [words for words in read if words] == [words for words in document.values if words]


@FIXED
@given(documents(), st.data())
def test_a_parse_changes_two_columns_of_words_and_nothing_else(
    document: Document, data: st.DataObject
) -> None:
    for sentence in read_sentences(io.BytesIO(document.text.encode())):
        n_words = len(sentence)
        heads = tuple(data.draw(st.integers(0, n_words)) for _ in range(n_words))
        labels = tuple(data.draw(LABEL) for _ in range(n_words))
        parsed = sentence.with_parse(Parse(heads, labels, (0.0,) * n_words, "greedy"))
        expected = list(sentence.lines)
        for row, head, label in zip(sentence.rows, heads, labels, strict=True):
            columns = expected[row].split("\t")
            expected[row] = "\t".join([*columns[:6], str(head), label, *columns[8:]])
        assert list(parsed.lines) == expected
        again = list(read_sentences(io.BytesIO(parsed.data)))
        assert [word for read in again for word in read.words] == list(parsed.words)


def read_all(data: bytes, on_error: OnError) -> list[Sentence | Malformed] | DataError:
    try:
        return list(read_conllu(io.BytesIO(data), on_error=on_error))
    except DataError as error:
        return error


@settings(FIXED, max_examples=450)
@given(st.binary(max_size=60) | st.lists(PIECES, max_size=30).map(b"".join) | broken_documents())
@example(b"\x1f\x8b")
@example(b"\xfd7zXZ\x00")
@example(b"1-" + b"9" * 4301 + b"\t_" * 9)
def test_any_bytes_come_back_or_are_refused(data: bytes) -> None:
    strict, lenient = read_all(data, "raise"), read_all(data, "skip")
    if isinstance(lenient, DataError):
        assert data.startswith((b"\x1f\x8b", b"\xfd7zXZ\x00"))  # too large is tested elsewhere
        assert "damaged" in lenient.what
        return
    assert b"".join(item.data for item in lenient) == data
    refusals = [str(item.error) for item in lenient if isinstance(item, Malformed)]
    assert [str(strict)] == refusals[:1] if refusals else strict == lenient
