"""Open input in any form: treebanks or text, plain or compressed.

With `auto`, a file called `.conllu` is CoNLL-U. Other input is CoNLL-U if its first line that is
not a comment has ten columns, or if a comment before it is `# sent_id =` or `# text =`; otherwise
it is text.
"""

import codecs
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from headwise.errors import DataError, HeadwiseError, how_to_convert
from headwise.files import open_source, unpack_start
from headwise.settings.choices import Input
from headwise.text.segmenter import Segmenter, read_text
from headwise.text.symbols import BYTE_ORDER_MARK
from headwise.treebank.conllu import N_COLUMNS, Malformed, OnError, read_stream
from headwise.treebank.sentence import Sentence

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

READ_SIZE = 2**16
"""Bytes that are read at once."""
MAX_SNIFFED = 2**20
"""Bytes in which `auto` looks for the first line that is not a comment."""
SAMPLE_BYTES = 2**13
"""Bytes of an input from which its language is identified."""
MAX_SAMPLE = 2**16
"""Bytes of these once they are decompressed."""

_FILE_TYPES = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a zip archive (as .docx, .odt and .epub are)",
    b"{\\rtf": "rich text",
    b"\xd0\xcf\x11\xe0": "an old office document",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
}
"""The first bytes of files that are often mistaken for text."""
_MOST_ZEROS = 10
"""Percent of zero bytes that text may have; in UTF-16 it is about half."""
_MARK = BYTE_ORDER_MARK.encode()
_NAME = re.compile(r".*\.conllu(\.gz|\.xz)?", re.IGNORECASE | re.DOTALL)
_SENTENCE_ID = "# sent_id = "
_COMMENT = re.compile(rb"#\s*(sent_id|text)\s*=")


def read_any(
    source: str | Path | BinaryIO,
    form: Input,
    segmenter: Segmenter | None,
    on_error: OnError = "raise",
    no_text: HeadwiseError | None = None,
    document: str = "",
) -> Iterator[Sentence | Malformed]:
    """Read sentences in any form from a path, `-` (stdin) or a stream.

    If the input turns out to be text, `no_text` is raised, unless it is None. The sentences of a
    text are marked as those of `document`, if it has a name.
    """
    with open_any(source, form, no_text) as opened:
        if opened.form in ("conllu", "conllx"):
            yield from read_stream(opened.stream, opened.name, opened.form, on_error)
        else:
            sentences = read_text(opened.text(), opened.form, segmenter, opened.name)
            yield from mark_document(sentences, document)


def mark_document(sentences: Iterable[Sentence], name: str) -> Iterator[Sentence]:
    """Start a document, and put its name before the ids of its sentences, which count from 1."""
    if not name:
        yield from sentences
        return
    start: tuple[str, ...] = (f"# newdoc id = {name}\n",)
    for sentence in sentences:
        lines = tuple(
            f"# sent_id = {name}-{line.removeprefix(_SENTENCE_ID)}"
            if line.startswith(_SENTENCE_ID)
            else line
            for line in sentence.lines
        )
        rows = tuple(row + len(start) for row in sentence.rows)
        yield replace(sentence, lines=start + lines, rows=rows)
        start = ()


@dataclass(frozen=True, slots=True)
class Opened:
    """An uncompressed stream, its name for messages, and its form, which is never `auto`."""

    stream: BinaryIO
    name: str
    form: Input

    def text(self) -> Iterator[str]:
        """Decode the stream as it arrives; on a terminal, one Ctrl-D is enough to end it."""
        stream = cast(io.BufferedReader, self.stream)
        return decode_utf8(iter(lambda: stream.read1(READ_SIZE), b""), self.name)


@contextmanager
def open_any(
    source: str | Path | BinaryIO,
    form: Input,
    no_text: HeadwiseError | None = None,
    max_sniffed: int = MAX_SNIFFED,
) -> Iterator[Opened]:
    """Open a path, `-` (stdin) or a stream and find out its form; `no_text` as in `read_any`."""
    with open_source(source) as (opened, name):
        stream = opened
        if form == "auto" and _NAME.fullmatch(name):
            form = "conllu"
        elif form == "auto":
            start = _read_start(opened, max_sniffed)
            form = "conllu" if is_conllu(start) else "text"
            rejoined = _Rejoined(start, cast(io.BufferedReader, opened))
            stream = cast(BinaryIO, io.BufferedReader(rejoined, READ_SIZE))
        if form not in ("conllu", "conllx") and no_text is not None:
            raise no_text
        yield Opened(stream, name, form)


def sample_text(start: bytes, form: Input) -> str:
    """Give the text at the start of an input, compressed or not; of CoNLL, the words."""
    data = unpack_start(start, MAX_SAMPLE)
    if form not in ("conllu", "conllx") and not (form == "auto" and is_conllu(data)):
        return data.decode("utf-8", "ignore")
    rows = (line.split(b"\t", 2) for line in data.splitlines() if not line.startswith(b"#"))
    return b" ".join(row[1] for row in rows if len(row) > 2).decode("utf-8", "ignore")


def take_start(stream: BinaryIO, name: str) -> tuple[bytes, BinaryIO]:
    """Wait for the start of a stream; give it, and a stream that still has it."""
    start = stream.read(SAMPLE_BYTES)
    rejoined = _Rejoined(start, cast(io.BufferedReader, stream), name)
    return start, cast(BinaryIO, io.BufferedReader(rejoined, READ_SIZE))


def is_conllu(start: bytes) -> bool:
    """Tell CoNLL-U from text by the start of the input; blank input counts as CoNLL-U."""
    start = start.removeprefix(_MARK)  # the CoNLL-U reader has a clear error for it
    for line in start.splitlines():
        if _COMMENT.match(line):
            return True
        if line.strip() and not line.startswith(b"#"):
            columns = line.split(b"\t")
            return len(columns) == N_COLUMNS and columns[0][:1].isdigit()
    return not start.strip(b" \t\r\n")


def _read_start(stream: BinaryIO, max_bytes: int) -> bytes:
    """Read up to the first line that is neither blank nor a comment, waiting for a slow pipe."""
    start = bytearray()
    while line := stream.readline(max_bytes - len(start)):
        start += line
        if line.strip() and not line.removeprefix(_MARK).startswith(b"#"):
            break
    return bytes(start)


class _Rejoined(io.RawIOBase):
    """A stream with the start that was already read from it put back."""

    def __init__(self, start: bytes, rest: io.BufferedReader, name: str = "<stream>") -> None:
        self._start, self._rest = io.BytesIO(start), rest
        self.name = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        room = memoryview(buffer).cast("B")
        data = self._start.read(len(room)) or self._rest.read1(len(room))
        room[: len(data)] = data
        return len(data)


def decode_utf8(chunks: Iterable[bytes], source: str = "<stream>") -> Iterator[str]:
    """Decode a stream of bytes without the byte order mark at its start."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    n_bytes, is_start = 0, True
    for chunk in chain(chunks, [None]):
        data = chunk or b""
        kind = next((k for start, k in _FILE_TYPES.items() if data.startswith(start)), None)
        if kind and not n_bytes:
            raise DataError(f"this is {kind}, not text", source, hint="save it as plain text first")
        if not n_bytes:
            _refuse_utf16(data, source)
        n_held = len(decoder.getstate()[0])
        try:
            text = decoder.decode(data, final=chunk is None)
        except UnicodeDecodeError as error:
            raise DataError(
                f"byte {n_bytes - n_held + error.start} (counting from 0) is not UTF-8",
                source,
                hint=f"convert it first, for example: {how_to_convert('WINDOWS-1252')}",
            ) from None
        n_bytes += len(data)
        if text:
            yield text.removeprefix(BYTE_ORDER_MARK) if is_start else text
            is_start = False


def _refuse_utf16(start: bytes, source: str) -> None:
    """Refuse UTF-16, which without a mark at its start can be valid UTF-8 full of zeros."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        hint = f"convert it first: {how_to_convert('UTF-16')}"
        raise DataError("this is UTF-16, not UTF-8", source, hint=hint)
    if start.count(0) * 100 > len(start) * _MOST_ZEROS:
        hint = f"if it is UTF-16, convert it first: {how_to_convert('UTF-16LE')}"
        raise DataError("this is not text: it is full of zero bytes", source, hint=hint)
