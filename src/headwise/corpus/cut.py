r"""A stream of bytes as documents, so cut that any range of it can be read without the rest.

A document begins where its rule says, and lasts until the next one begins:

    line       at every line
    paragraph  at a line that is not blank, after one that is
    newdoc     at a paragraph with a comment `# newdoc`, as CoNLL-U marks documents

and the first of a file at its first byte. A range [start, end) owns the lines that begin in it and
the paragraphs whose *blank line* begins in it: a reader that starts in the middle knows a blank
line when it sees one, but not what was before its first line. So whatever the ranges are, each
document is read exactly once. Example: of `a\n\nb\n\nc\n`, [0, 3) owns `a` and `b`, whose blank
line is byte 2, and [3, 8) owns `c`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

Rule = Literal["line", "paragraph", "newdoc"]
MAX_DOCUMENT_BYTES = 16 * 2**20
"""A longer document is not held in memory; its size is all that is told."""
CHUNK = 2**20
_WHITE = b" \t\r\n"
_NEWDOC = re.compile(rb"^#\s*newdoc\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cut:
    """A document: the byte at which it begins and its bytes; None if they are too many."""

    position: int
    data: bytes | None
    size: int


class _Open:
    """A document that is being read."""

    def __init__(self, mark: int, position: int) -> None:
        self.mark, self.position = mark, position
        self.size = 0
        self.is_newdoc = False
        self._held = bytearray()

    def add(self, data: bytes, size: int | None = None) -> None:
        self.size += len(data) if size is None else size
        self.is_newdoc |= _NEWDOC.match(data) is not None
        if self.size <= MAX_DOCUMENT_BYTES:
            self._held += data
        else:
            self._held.clear()

    def close(self) -> Cut:
        is_whole = self.size <= MAX_DOCUMENT_BYTES
        return Cut(self.position, bytes(self._held) if is_whole else None, self.size)


def first_byte(start: int) -> int:
    """Say from where a stream must be open to read a range: the byte before may end a line."""
    return max(start - 1, 0)


def cut(stream: BinaryIO, start: int, end: int | None, rule: Rule) -> Iterator[Cut]:
    """Read the documents that the range [start, end) owns; the stream stands at `first_byte`."""
    lines = _lines(stream, first_byte(start))
    if start:
        _skip_line(lines)
    if rule == "newdoc":
        blocks = _blocks(lines, start == 0, None, False)
        opened: Iterable[_Open] = _joined(blocks, end)
    else:
        opened = _blocks(lines, start == 0, end, rule == "line")
    for document in opened:
        yield document.close()


def _lines(stream: BinaryIO, position: int) -> Iterator[tuple[int, bytes, bool]]:
    """Read lines: position, bytes, and whether one begins here; a very long one comes in chunks."""
    begins = True
    while chunk := stream.readline(CHUNK):
        yield position, chunk, begins
        position += len(chunk)
        begins = chunk.endswith(b"\n")


def _skip_line(lines: Iterator[tuple[int, bytes, bool]]) -> None:
    """Go to the end of the line that the range begins in."""
    for _, chunk, _ in lines:
        if chunk.endswith(b"\n"):
            return


def _blocks(
    lines: Iterator[tuple[int, bytes, bool]], is_start: bool, end: int | None, by_line: bool
) -> Iterator[_Open]:
    """Put lines together; `blank` is where the blank line before this one began, if it was one."""
    held: _Open | None = None
    blank: int | None = None
    for position, chunk, begins in lines:
        is_blank = begins and len(chunk) < CHUNK and not chunk.strip(_WHITE)
        mark = position if by_line or (is_start and position == 0) else blank
        if begins and mark is not None and (by_line or not is_blank or position == 0):
            if held:
                yield held
            if end is not None and mark >= end:
                return
            held = _Open(mark, position)
        if begins:
            blank = position if is_blank else None
        if held:
            held.add(chunk)
    if held:
        yield held


def _joined(blocks: Iterator[_Open], end: int | None) -> Iterator[_Open]:
    """Join paragraphs to documents; what comes before the first `# newdoc` is not of this range."""
    held: _Open | None = None
    for block in blocks:
        if block.is_newdoc or block.position == 0:
            if held:
                yield held
            if end is not None and block.mark >= end:
                return
            held = block
        elif held:
            told = block.close()
            held.add(told.data or b"", told.size)
    if held:
        yield held


def conllu_rule(start: bytes) -> Rule:
    """Choose how a CoNLL-U file is cut: into documents if its first sentence begins one."""
    first = re.split(rb"\n[ \t\r]*\n", start.lstrip(_WHITE), maxsplit=1)[0]
    return "newdoc" if _NEWDOC.search(first) else "paragraph"
