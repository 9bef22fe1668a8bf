r"""CoNLL-U (v2) and CoNLL-X files: a lazy reader and a byte-exact writer.

Both formats have ten columns and a blank line after each sentence. CoNLL-U adds comments,
multi-word tokens (`3-4`) and empty nodes (`3.1`), and its last two columns are DEPS and MISC where
CoNLL-X has PHEAD and PDEPREL. A malformed sentence is an error, `file:line: what`, or, with
`on_error="skip"`, is passed on as `Malformed`, with its bytes and the error. Nothing is dropped. A
sentence of more than `MAX_SENTENCE_BYTES` is always an error, so that memory stays bounded.
"""

import codecs
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, get_args

from headwise.errors import ConfigError, DataError, how_to_convert, plural
from headwise.files import open_source
from headwise.settings.choices import Format
from headwise.treebank.sentence import BLANK, Sentence, Word

OnError = Literal["raise", "skip"]
MAX_SENTENCE_BYTES = 64 * 2**20
N_COLUMNS = 10
_WHITE = b" \t\r\n"
"""A line of only these is blank; other white space makes a line malformed."""
_SMALL_NUMBERS = frozenset(map(str, range(1_000)))
_RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_EMPTY = re.compile(r"(0|[1-9][0-9]{0,8})\.([1-9][0-9]{0,8})")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_DEP = r"[0-9]+(?:\.[0-9]+)?:[^|\t]+"
_DEPS = re.compile(rf"{_DEP}(?:\|{_DEP})*")
_LINE_LOST = "is a line missing, or a blank line between two sentences?"


@dataclass(frozen=True, slots=True)
class Malformed:
    """A block of lines that is not a sentence: its bytes, and the error."""

    data: bytes
    error: DataError

    def size(self) -> tuple[int, int]:
        """Count the words, of which there are none, and the bytes."""
        return 0, len(self.data)


def read_conllu(
    source: str | Path | BinaryIO, form: Format = "conllu", on_error: OnError = "raise"
) -> Iterator[Sentence | Malformed]:
    """Read sentences one by one from a path, `-` (stdin) or a binary stream, compressed or not.

    With `on_error="raise"` every item is a `Sentence`.
    """
    with open_source(source) as (stream, name):
        yield from read_stream(stream, name, form, on_error)


def read_stream(
    stream: BinaryIO,
    name: str,
    form: Format,
    on_error: OnError,
    first_line: int = 1,
    max_bytes: int = MAX_SENTENCE_BYTES,
) -> Iterator[Sentence | Malformed]:
    """Read sentences from an open stream that is not compressed.

    `name` is for messages, as is `first_line` if the stream is a part of a file. A sentence of more
    than `max_bytes` is refused.
    """
    if on_error not in get_args(OnError):
        raise ConfigError(f"on_error is {on_error!r}", f"one of {', '.join(get_args(OnError))}")
    for line, block in blocks(stream, name, first_line, max_bytes):
        try:
            yield _read_block(block, name, line, form)
        except DataError as error:
            if on_error == "raise":
                raise
            yield Malformed(b"".join(block), error)


def read_sentences(source: str | Path | BinaryIO, form: Format = "conllu") -> Iterator[Sentence]:
    """Read sentences one by one; a malformed sentence is an error."""
    for item in read_conllu(source, form):
        assert isinstance(item, Sentence)
        yield item


def read_block(block: str, name: str = "<block>") -> Sentence:
    """Read the lines of one sentence; anything but one sentence is an error."""
    found = list(blocks(io.BytesIO(block.encode("utf-8")), name))
    if len(found) != 1:
        what = "there is no sentence" if not found else f"{len(found):,} sentences, not one"
        raise DataError(what, name, hint="a sentence ends with its first blank line")
    return _read_block(found[0][1], name, 1, "conllu")


def write_conllu(items: Iterable[Sentence | Malformed], stream: BinaryIO) -> None:
    """Write sentences; those that were read and not changed give the same bytes again."""
    for item in items:
        stream.write(item.data)


def blocks(
    stream: BinaryIO, name: str, first_line: int = 1, max_bytes: int = MAX_SENTENCE_BYTES
) -> Iterator[tuple[int, list[bytes]]]:
    """Split a stream after each blank line into the lines of a sentence and their first number.

    Further blank lines belong to the sentence before them, all in one item, since there may be
    millions. At the start of a file they are a block by themselves, so that they are written again.
    """
    block: list[bytes] = []
    more_blanks = bytearray()
    size, line, ended = 0, first_line - 1, False
    while raw := stream.readline(max_bytes + 1):
        line += 1
        size += len(raw)
        is_blank = raw[0] in _WHITE and not raw.strip(_WHITE)
        if not ended:
            block.append(raw)
        elif is_blank:
            more_blanks += raw
        else:
            block[-1] += more_blanks
            yield first_line, block
            block, size, first_line = [raw], len(raw), line
            more_blanks.clear()
        ended = is_blank
        if size > max_bytes:
            raise DataError(
                f"a sentence of more than {max_bytes >> 20} MiB",
                name,
                first_line,
                "is this a CoNLL file, with a blank line after each sentence?",
            )
    if block:
        block[-1] += more_blanks
        yield first_line, block


def _read_block(block: list[bytes], name: str, first_line: int, form: Format) -> Sentence:
    lines = _decode(block, name, first_line)
    words: list[Word] = []
    rows: list[int] = []
    others: list[int] = []
    for row, line in enumerate(lines):
        try:
            if line[0] == "#" and form == "conllu":
                if words:
                    raise _FormatError(
                        "a comment after the first word", "comments come before words"
                    )
            elif line[0] not in " \t\r\n" or block[row].strip(_WHITE):
                word = _read_line(line, len(words), form)
                if word is None:
                    others.append(row)
                else:
                    words.append(word)
                    rows.append(row)
        except _FormatError as broken:
            what, hint = broken.args
            raise DataError(what, name, first_line + row, hint) from None
    sentence = Sentence(tuple(words), tuple(lines), tuple(rows), name, first_line)
    _check_numbers(sentence, others)
    return sentence


class _FormatError(Exception):
    """What breaks the format in a line, and a hint; the caller knows its file and number."""


def _probable_encoding(line: bytes) -> str:
    is_utf16 = line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return "UTF-16" if is_utf16 else "ENCODING"


def _decode(block: list[bytes], name: str, first_line: int) -> list[str]:
    try:
        lines = [line.decode("utf-8") for line in block]
    except UnicodeDecodeError as error:
        raise DataError(
            f"byte {error.start + 1} of the line is not UTF-8",
            name,
            first_line + block.index(error.object),
            f"convert the file first: {how_to_convert(_probable_encoding(block[0]))}",
        ) from None
    if first_line == 1 and lines[0].startswith("\ufeff"):
        raise DataError("the file starts with a byte order mark", name, 1, "save it without BOM")
    return lines


def _read_line(line: str, n_words: int, form: Format) -> Word | None:
    """Read a line of columns; a multi-word token or an empty node is checked and gives None."""
    columns = line.rstrip("\r\n").split("\t")
    if len(columns) != N_COLUMNS:
        hint = "columns are separated by one tab, not by spaces"
        raise _FormatError(f"{plural(len(columns), 'column')} where {N_COLUMNS} are needed", hint)
    if "" in columns:
        empty = Word._fields[columns.index("")].upper()
        raise _FormatError(f"column {empty} is empty", "write _ for a column without a value")
    word = Word._make(columns)
    if word.id != str(n_words + 1):
        _check_special_id(word.id, n_words, form)
        return None
    head = word.head
    if not (head in _SMALL_NUMBERS or head == BLANK or _NUMBER.fullmatch(head)):
        raise _FormatError(f"HEAD is '{head[:40]}'", "HEAD must be a number, or _ if unknown")
    if form == "conllu" and word.deps != BLANK and not _are_deps(word.deps):
        raise _FormatError(
            f"DEPS is '{word.deps[:40]}'",
            "DEPS must be head:label pairs; for CoNLL-X, --input conllx",
        )
    return word


def _are_deps(deps: str) -> bool:
    """Check the form of DEPS; the usual case, one pair, needs no regular expression."""
    head, _, label = deps.partition(":")
    is_one_pair = head in _SMALL_NUMBERS and bool(label) and "|" not in label
    return is_one_pair or _DEPS.fullmatch(deps) is not None


def _check_special_id(word_id: str, n_words: int, form: Format) -> None:
    expected = f"ID is '{word_id[:40]}' where {n_words + 1} is next"
    if form == "conllx":
        raise _FormatError(
            expected, "multi-word tokens and empty nodes are CoNLL-U: --input conllu"
        )
    if span := _RANGE.fullmatch(word_id):
        if int(span[1]) != n_words + 1 or int(span[2]) < int(span[1]):
            raise _FormatError(expected, "a range must come right before its first word")
    elif empty := _EMPTY.fullmatch(word_id):
        if int(empty[1]) != n_words:
            raise _FormatError(
                expected, "an empty node must come right after the word that its number starts with"
            )
    else:
        raise _FormatError(
            expected, "words are numbered from 1 in each sentence; is a line missing?"
        )


def _check_numbers(sentence: Sentence, other_rows: list[int]) -> None:
    """Refuse heads and ranges beyond the last word, and ranges that overlap."""
    n_words = len(sentence)
    errors: list[tuple[int, str, str]] = []
    if max(map(int, {word.head for word in sentence.words} - {BLANK}), default=0) > n_words:
        errors += [
            (row, f"HEAD is {word.head} but the sentence has {plural(n_words, 'word')}", _LINE_LOST)
            for row, word in zip(sentence.rows, sentence.words, strict=True)
            if word.head != BLANK and int(word.head) > n_words
        ]
    covered = 0
    for row in other_rows:
        number = sentence.lines[row].partition("\t")[0]
        first, _, last = number.partition("-")
        if last and int(last) > n_words:
            what = f"the range is {number} but the sentence has {plural(n_words, 'word')}"
            errors.append((row, what, _LINE_LOST))
        elif last and int(first) <= covered:
            what = f"the range {number} overlaps the one before it"
            errors.append((row, what, "a word can belong to only one multi-word token"))
        covered = int(last or covered)
    if errors:
        row, what, hint = errors[0]
        raise DataError(what, sentence.source, sentence.first_line + row, hint)
