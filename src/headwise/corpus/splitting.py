r"""Split a byte stream into documents so that any range of it can be read without the rest.

A document starts where its boundary rule says and lasts until the next one starts:

    line       at every line
    paragraph  at a non-blank line after a blank one
    newdoc     at a paragraph with a comment `# newdoc`, the mark of documents in CoNLL-U

The first document of a file starts at byte 0. A range [start, end) owns the lines that start in it
and the paragraphs whose preceding *blank line* starts in it: a reader that begins in the middle
recognises a blank line, but cannot know what came before its first line. So however the ranges
are chosen, each document is read exactly once. Example: in `a\n\nb\n\nc\n`, [0, 3) owns `a` and
`b`, whose blank line is byte 2, and [3, 8) owns `c`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Literal

BoundaryRule = Literal["line", "paragraph", "newdoc"]
MAX_DOCUMENT_BYTES = 16 * 2**20
"""Longer documents are rejected and never held in memory."""
_READ_BYTES = 2**20
_WHITE_SPACE = b" \t\r\n"
_NEWDOC = re.compile(rb"^#\s*newdoc\b", re.MULTILINE)


class _Builder:
    """A document while it is read; `mark` is the byte that decides which range owns it."""

    def __init__(self, mark: int, position: int) -> None:
        self.mark, self.position = mark, position
        self.size = 0
        self.is_newdoc = False
        self.data = bytearray()

    @property
    def is_too_long(self) -> bool:
        return self.size > MAX_DOCUMENT_BYTES

    def add(self, data: bytes | bytearray, size: int) -> None:
        self.size += size
        self.is_newdoc |= _NEWDOC.match(data) is not None
        if self.is_too_long:
            self.data.clear()
        else:
            self.data += data


def first_byte(start: int) -> int:
    """Give the byte to open a stream at to read from `start`: the byte before may end a line."""
    return max(start - 1, 0)


def split_stream(
    stream: BinaryIO, start: int, end: int | None, rule: BoundaryRule
) -> Iterator[tuple[int, bytes | None]]:
    """Read the documents that [start, end) owns; the stream must stand at `first_byte(start)`.

    Gives the position and the bytes of each; None if there are too many.
    """
    chunks = _read_chunks(stream, first_byte(start))
    if start:
        for _, chunk, _, _ in chunks:  # the rest of the line in which the range starts
            if chunk.endswith(b"\n"):
                break
    # Whether a paragraph starts a document is known only after it is read: `_join_paragraphs` ends.
    stop = None if rule == "newdoc" else end
    blocks: Iterable[_Builder] = _read_blocks(chunks, start == 0, stop, rule == "line")
    if rule == "newdoc":
        blocks = _join_paragraphs(blocks, end)
    for block in blocks:
        yield block.position, None if block.is_too_long else bytes(block.data)


_Chunk = tuple[int, bytes, bool, bool]
"""Position, bytes, whether a line starts here, and whether it is blank."""


def _read_chunks(stream: BinaryIO, position: int) -> Iterator[_Chunk]:
    """Read lines, or parts of very long ones, which are not blank even if a part is."""
    starts_line = True
    while chunk := stream.readline(_READ_BYTES):
        is_blank = starts_line and len(chunk) < _READ_BYTES and not chunk.strip(_WHITE_SPACE)
        yield position, chunk, starts_line, is_blank
        position += len(chunk)
        starts_line = chunk.endswith(b"\n")


def _read_blocks(
    chunks: Iterator[_Chunk], is_start: bool, end: int | None, by_line: bool
) -> Iterator[_Builder]:
    """Join chunks to lines or paragraphs."""
    block: _Builder | None = None
    blank: int | None = None  # where the line before this one starts, if it is blank
    for position, chunk, starts_line, is_blank in chunks:
        mark = position if by_line or (is_start and position == 0) else blank
        if starts_line and mark is not None and (by_line or not is_blank or position == 0):
            if block:
                yield block
            if end is not None and mark >= end:
                return
            block = _Builder(mark, position)
        if starts_line:
            blank = position if is_blank else None
        if block:
            block.add(chunk, len(chunk))
    if block:
        yield block


def _join_paragraphs(paragraphs: Iterable[_Builder], end: int | None) -> Iterator[_Builder]:
    """Join paragraphs to documents, from the first `# newdoc` or the start of the file on."""
    document: _Builder | None = None
    for paragraph in paragraphs:
        if paragraph.is_newdoc or paragraph.position == 0:
            if document:
                yield document
            if end is not None and paragraph.mark >= end:
                return
            document = paragraph
        elif document:
            document.add(paragraph.data, paragraph.size)
    if document:
        yield document


def choose_conllu_rule(start: bytes) -> BoundaryRule:
    """Split a CoNLL-U file at `# newdoc` if its first sentence has one, else by sentence."""
    first = re.split(rb"\n[ \t\r]*\n", start.lstrip(_WHITE_SPACE), maxsplit=1)[0]
    return "newdoc" if _NEWDOC.search(first) else "paragraph"
