r"""Text as a stream of symbols with normalised white space, in bounded memory.

A symbol is a code point and its offset in the stream. Every run of white space becomes one symbol:
a space, or a break if the run holds a blank line (when lines are sentences, any line end). A line
ends with `\n`, `\r\n`, `\r`, U+0085, U+2028 or U+2029. Control characters, lone surrogates and
U+FFFD are not allowed in CoNLL-U and become a white square (U+25A1). A byte order mark at the start
of the stream counts as white space. The symbols do not depend on how the stream was chunked.
"""

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint32]
Offsets = NDArray[np.int64]
Flags = NDArray[np.bool_]

SPACE = 0x20
LINE = 0x2028
PARAGRAPH = 0x2029
"""The three symbols for white space: no line end that matters, a line end, a blank line."""
BYTE_ORDER_MARK = "\ufeff"
BLOCK_SIZE = 65_536
"""Characters processed at once."""

_WHITE_SQUARE = 0x25A1
_REPLACEMENT_CHARACTER = 0xFFFD
_WHITE_CODES = [code for code in range(0x3001) if chr(code).isspace()]
_LINE_ENDS = (0x0A, 0x0D, 0x85, 0x2028, 0x2029)

# Python imports a codec when it is first used, and an interruption during an import may be lost.
# Importing it here keeps that out of parsing.
codecs.lookup("utf-32-le")


@dataclass(frozen=True, slots=True, eq=False)
class Symbols:
    """Consecutive symbols of a stream: code points uint32 [T] and their offsets int64 [T].

    White space is `SPACE`, `LINE` or `PARAGRAPH`, at most one between two characters. A stream
    starts with a character and ends with `PARAGRAPH`.
    """

    codes: Codes
    offsets: Offsets


def to_codes(text: str) -> Codes:
    """Return the code points of a text, lone surrogates included."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)


def to_text(codes: Codes) -> str:
    """Return the text of code points, none of which is a surrogate."""
    return codes.astype("<u4").tobytes().decode("utf-32-le")


def read_symbols(
    chunks: str | Iterable[str], by_line: bool = False, block_size: int = BLOCK_SIZE
) -> Iterator[Symbols]:
    """Turn text into symbols; with `by_line`, a single line end is a `LINE`, not a space."""
    is_white = np.zeros(0x3002, np.bool_)
    is_white[_WHITE_CODES] = True
    n_read, n_lines, n_lines_before, previous = 0, 0, 0, SPACE
    is_first = True
    for text in in_blocks([chunks] if isinstance(chunks, str) else chunks, block_size):
        codes = to_codes(text)
        if not n_read and text.startswith(BYTE_ORDER_MARK):
            codes[0] = SPACE
        before = np.concatenate([np.array([previous], np.uint32), codes])[:-1]
        lines = n_lines + np.cumsum(_ends_line(codes, before))
        kept = np.flatnonzero(~_lookup(is_white, codes))
        if len(kept):
            at_kept = lines[kept]
            skipped = np.diff(at_kept, prepend=n_lines_before)
            gaps = np.where(skipped > 1, PARAGRAPH, np.where(skipped & by_line, LINE, SPACE))
            has_gap = _lookup(is_white, before[kept])
            has_gap[0] &= not is_first
            # A gap, if there is one, goes before its character and shares its offset.
            wanted = np.stack([has_gap, np.ones_like(has_gap)], axis=1).ravel()
            pairs = np.stack([gaps.astype(np.uint32), replace_invalid(codes[kept])], axis=1).ravel()
            yield Symbols(pairs[wanted], np.repeat(kept + n_read, 2)[wanted])
            n_lines_before, is_first = int(at_kept[-1]), False
        if len(codes):
            n_read, n_lines, previous = n_read + len(codes), int(lines[-1]), int(codes[-1])
    if not is_first:
        yield Symbols(np.array([PARAGRAPH], np.uint32), np.array([n_read], np.int64))


def in_blocks(chunks: Iterable[str], size: int) -> Iterator[str]:
    """Join and cut chunks of any length into blocks of `size` characters; the last is shorter."""
    held: list[str] = []
    n_held = 0
    for chunk in chunks:
        held.append(chunk)
        n_held += len(chunk)
        if n_held >= size:
            text = "".join(held)
            n_whole = n_held - n_held % size
            yield from (text[start : start + size] for start in range(0, n_whole, size))
            held, n_held = [text[n_whole:]], n_held - n_whole
    yield "".join(held)


def _lookup(table: Flags, codes: Codes) -> Flags:
    flags: Flags = table[np.minimum(codes, len(table) - 1)]
    return flags


def _ends_line(codes: Codes, before: Codes) -> Flags:
    ends: Flags = np.isin(codes, _LINE_ENDS) & ~((codes == 0x0A) & (before == 0x0D))
    return ends


def replace_invalid(codes: Codes) -> Codes:
    """Replace characters that CoNLL-U does not allow by a white square."""
    is_control = (codes < 0x20) | ((codes >= 0x7F) & (codes < 0xA0))
    is_surrogate = (codes >= 0xD800) & (codes < 0xE000)
    is_bad = is_control | is_surrogate | (codes == _REPLACEMENT_CHARACTER)
    return np.where(is_bad, np.uint32(_WHITE_SQUARE), codes)
