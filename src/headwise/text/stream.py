r"""A stream of text without the accidents of its white space, in bounded memory.

Every run of white space becomes one symbol: a space, or a break where a blank line stands (or,
when lines count, any line end). A line ends with `\n`, `\r\n`, `\r`, U+0085, U+2028 or U+2029.
Control characters, lone surrogates and U+FFFD, which have no place in CoNLL-U, become a white
square (U+25A1). Each symbol keeps its offset in the stream. What comes out does
not depend on how the stream was chunked.
"""

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.errors import DataError
from headwise.text.characters import Codes, Flags, to_codes

Offsets = NDArray[np.int64]

SPACE = 0x20
LINE = 0x2028
PARAGRAPH = 0x2029
"""What stands for white space: no line end that counts, one, or a blank line."""
REPLACEMENT = 0x25A1
_BROKEN = 0xFFFD
PIECE = 65_536
"""Characters handled at once."""
DOCUMENTS = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a zip archive, as .docx, .odt and .epub are",
    b"{\\rtf": "rich text",
    b"\xd0\xcf\x11\xe0": "a document of an old office program",
}
"""How files begin that people take for text."""

_WHITE_CODES = [code for code in range(0x3001) if chr(code).isspace()]
_LINE_ENDS = (0x0A, 0x0D, 0x85, 0x2028, 0x2029)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some symbols of a stream, in order: code points uint32 [T] and their offsets int64 [T].

    White space is `SPACE`, `LINE` or `PARAGRAPH`, one between two characters at most; the last
    symbol of a stream is `PARAGRAPH`, the first is a character.
    """

    codes: Codes
    offsets: Offsets


def decode_utf8(chunks: Iterable[bytes], source: str = "<stream>") -> Iterator[str]:
    """Decode a stream of bytes; a byte order mark at its very start is left out.

    Offsets are then counted from the character after the mark.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    n_bytes, is_start = 0, True
    for chunk, final in _marking_last(chunks):
        if not n_bytes:
            _refuse_documents(chunk, source)
        n_held = len(decoder.getstate()[0])
        try:
            text = decoder.decode(chunk, final)
        except UnicodeDecodeError as error:
            raise DataError(
                f"byte {n_bytes - n_held + error.start} (counting from 0) is not UTF-8",
                source,
                hint="convert the text first: iconv -f ENCODING -t UTF-8",
            ) from None
        n_bytes += len(chunk)
        if text:
            yield text.removeprefix("\ufeff") if is_start else text
            is_start = False


def _refuse_documents(start: bytes, source: str) -> None:
    for sign, kind in DOCUMENTS.items():
        if start.startswith(sign):
            hint = "save it as plain text first"
            raise DataError(f"this is {kind}, not text", source, hint=hint)


def _marking_last(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    for chunk in chunks:
        yield chunk, False
    yield b"", True


def in_pieces(chunks: Iterable[str]) -> Iterator[str]:
    """Cut and join chunks of any size into strings of `PIECE` characters; the last is shorter."""
    held: list[str] = []
    n_held = 0
    for chunk in chunks:
        held.append(chunk)
        n_held += len(chunk)
        if n_held >= PIECE:
            text = "".join(held)
            n_whole = n_held - n_held % PIECE
            yield from (text[start : start + PIECE] for start in range(0, n_whole, PIECE))
            held, n_held = [text[n_whole:]], n_held - n_whole
    yield "".join(held)


def read_symbols(chunks: Iterable[str], by_line: bool = False) -> Iterator[Piece]:
    """Turn text into symbols; with `by_line`, a single line end is a `LINE`, not a space."""
    white = np.zeros(0x3002, np.bool_)
    white[_WHITE_CODES] = True
    n_read, n_lines, n_lines_before, previous = 0, 0, 0, SPACE
    is_first = True
    for text in in_pieces(chunks):
        codes = to_codes(text)
        before = np.concatenate([np.array([previous], np.uint32), codes])[:-1]
        lines = n_lines + np.cumsum(_ends_line(codes, before))
        kept = np.flatnonzero(~_lookup(white, codes))
        if len(kept):
            at_kept = lines[kept]
            skipped = np.diff(at_kept, prepend=n_lines_before)
            gaps = np.where(skipped > 1, PARAGRAPH, np.where(skipped & by_line, LINE, SPACE))
            has_gap = _lookup(white, before[kept])
            has_gap[0] &= not is_first
            piece = _interleave(gaps.astype(np.uint32), has_gap, _cleaned(codes[kept]), kept)
            yield Piece(piece.codes, piece.offsets + n_read)
            n_lines_before, is_first = int(at_kept[-1]), False
        if len(codes):
            n_read, n_lines, previous = n_read + len(codes), int(lines[-1]), int(codes[-1])
    if not is_first:
        yield Piece(np.array([PARAGRAPH], np.uint32), np.array([n_read], np.int64))


def _lookup(table: Flags, codes: Codes) -> Flags:
    found: Flags = table[np.minimum(codes, len(table) - 1)]
    return found


def _ends_line(codes: Codes, before: Codes) -> Flags:
    ends: Flags = np.isin(codes, _LINE_ENDS) & ~((codes == 0x0A) & (before == 0x0D))
    return ends


def _cleaned(codes: Codes) -> Codes:
    is_control = (codes < 0x20) | ((codes >= 0x7F) & (codes < 0xA0))
    is_surrogate = (codes >= 0xD800) & (codes < 0xE000)
    return np.where(is_control | is_surrogate | (codes == _BROKEN), np.uint32(REPLACEMENT), codes)


def _interleave(gaps: Codes, has_gap: Flags, codes: Codes, offsets: Offsets) -> Piece:
    """Put each gap that there is before its character."""
    wanted = np.stack([has_gap, np.ones_like(has_gap)], axis=1).ravel()
    both = np.stack([gaps, codes], axis=1).ravel()
    return Piece(both[wanted], np.repeat(offsets, 2)[wanted])
