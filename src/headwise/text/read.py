"""Whatever a user brings, as sentences: treebanks, running text, lines, tokens.

`auto` goes by the name `.conllu` or by how the input starts: where the first line that is no
comment has ten columns, or a comment is one that CoNLL-U prescribes, it is CoNLL-U, and text
otherwise.
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

from headwise.errors import HeadwiseError, ModelError
from headwise.files import open_source
from headwise.text.segmenter import NO_SEGMENTER, SEGMENT_HINT, Segmenter, read_tokens
from headwise.text.stream import decode_utf8
from headwise.treebank.conllu import N_COLUMNS, Malformed, OnError, read_stream
from headwise.treebank.sentence import Sentence

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Input = Literal["auto", "conllu", "conllx", "text", "lines", "tokens"]
CHUNK_BYTES = 2**16
SNIFFED_BYTES = 2**20
"""How far `auto` looks for the first line that is no comment."""
_MARK = b"\xef\xbb\xbf"
_NAME = re.compile(r".*\.conllu(\.gz|\.xz)?", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(rb"#\s*(sent_id|text)\s*=")


def read_any(
    source: str | Path | BinaryIO,
    form: Input,
    segmenter: Segmenter | None,
    on_error: OnError = "raise",
    no_text: HeadwiseError | None = None,
) -> Iterator[Sentence | Malformed]:
    """Read sentences from a path, `-` (stdin) or a stream, in whatever form they come.

    Where only treebanks will do, `no_text` says why: it is raised if this turns out to be text.
    """
    with open_any(source, form, no_text) as opened:
        if opened.form in ("conllu", "conllx"):
            yield from read_stream(opened.stream, opened.name, opened.form, on_error)
        else:
            yield from read_text(opened.text(), opened.form, segmenter, opened.name)


@dataclass(frozen=True, slots=True)
class Opened:
    """What is to be read: unpacked, with its name for messages, and the form it turned out to have.

    That is never `auto`.
    """

    stream: BinaryIO
    name: str
    form: Input

    def text(self) -> Iterator[str]:
        """Read it as text, in chunks, as it comes: nobody has to end it twice on a terminal."""
        stream = cast(io.BufferedReader, self.stream)
        return decode_utf8(iter(lambda: stream.read1(CHUNK_BYTES), b""), self.name)


@contextmanager
def open_any(
    source: str | Path | BinaryIO, form: Input, no_text: HeadwiseError | None = None
) -> Iterator[Opened]:
    """Open a path, `-` (stdin) or a stream, and find out what it is; `no_text` as in `read_any`."""
    with open_source(source) as (opened, name):
        stream = opened
        if form == "auto" and _NAME.fullmatch(name):
            form = "conllu"
        elif form == "auto":
            start = _read_start(opened)
            form = "conllu" if is_conllu(start) else "text"
            whole = _Rejoined(start, cast(io.BufferedReader, opened))
            stream = cast(BinaryIO, io.BufferedReader(whole, CHUNK_BYTES))
        if form not in ("conllu", "conllx") and no_text is not None:
            raise no_text
        yield Opened(stream, name, form)


def read_text(
    chunks: str | Iterable[str], form: Input, segmenter: Segmenter | None, name: str = "<text>"
) -> Iterator[Sentence]:
    """Read sentences from text: `text`, `lines` or `tokens`; only the last needs no segmenter."""
    if form == "tokens":
        yield from read_tokens(chunks, name)
    elif segmenter is None:
        raise ModelError(NO_SEGMENTER, SEGMENT_HINT)
    elif form == "lines":
        yield from segmenter.read_lines(chunks, name)
    else:
        yield from segmenter.segment(chunks)


def is_conllu(start: bytes) -> bool:
    """Tell a treebank from text by how it starts; where nothing is, every reader finds nothing."""
    start = start.removeprefix(_MARK)  # the reader of CoNLL-U says what is wrong with it
    for line in start.splitlines():
        if _COMMENT.match(line):
            return True
        if line.strip() and not line.startswith(b"#"):
            columns = line.split(b"\t")
            return len(columns) == N_COLUMNS and columns[0][:1].isdigit()
    return not start.strip(b" \t\r\n")


def _read_start(stream: BinaryIO) -> bytes:
    """Read to the first line that is neither blank nor a comment; a slow pipe is waited for."""
    start = bytearray()
    while line := stream.readline(SNIFFED_BYTES - len(start)):
        start += line
        if line.strip() and not line.removeprefix(_MARK).startswith(b"#"):
            break
    return bytes(start)


class _Rejoined(io.RawIOBase):
    """A stream from its start, though some of it was read already."""

    def __init__(self, start: bytes, rest: io.BufferedReader) -> None:
        self._start, self._rest = io.BytesIO(start), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        room = memoryview(buffer).cast("B")
        data = self._start.read(len(room)) or self._rest.read1(len(room))
        room[: len(data)] = data
        return len(data)


def why_no_text(reads: Sequence[str]) -> ModelError | None:
    """Say why a model that reads these columns cannot parse text, if it reads any."""
    if not reads:
        return None
    return ModelError(
        f"this model reads {name_columns(reads)}, and text has no tags",
        "give it CoNLL-U with tags, or choose a model that needs none (headwise info MODEL)",
    )


def name_columns(reads: Sequence[str]) -> str:
    """Name columns of the input in a sentence."""
    names = ", ".join(column.upper() for column in reads)
    return f"the column{'s' if len(reads) > 1 else ''} {names}"
