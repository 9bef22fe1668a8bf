"""Text that is safe to show, and how many cells of a terminal it takes.

Input is not trusted. A control character never reaches a terminal: its symbol is shown instead, so
no word can move the cursor, change colours or set a title. Characters that reorder text or end
lines are shown as U+FFFD. Right-to-left text is isolated, so that the line around it keeps its
order. Widths come from wcwidth.
"""

import unicodedata
from collections.abc import Iterable

from wcwidth import iter_graphemes, wcswidth

_JOINERS = "\u200c\u200d"
_NUMBER_SIGNS = (
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
"""Format characters that have a visible shape."""
_REPLACEMENT = "\ufffd"
_DOTTED_CIRCLE = "\u25cc"
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
_MARKS = ("Mn", "Me")
_CHARACTERS_PER_CELL = 6
"""Kept for each cell; words have fewer accents than that."""


def visible(text: str) -> str:
    """Replace every character that would act on a terminal by one that only shows.

    Spaces, letters and joiners stay; escape becomes U+241B, a bidirectional control U+FFFD. A
    combining mark at the start gets a dotted circle, so that it does not sit on the text before.
    """
    shown = text if text.isascii() and text.isprintable() else "".join(map(_visible, text))
    starts_with_mark = bool(shown) and unicodedata.category(shown[0]) in _MARKS
    return _DOTTED_CIRCLE + shown if starts_with_mark else shown


def _visible(character: str) -> str:
    if character < " ":
        return chr(0x2400 + ord(character))
    if character == "\x7f":
        return "\u2421"
    category = unicodedata.category(character)
    if category == "Cf":
        is_kept = character in _JOINERS or character in _NUMBER_SIGNS
        return character if is_kept else _REPLACEMENT
    is_invisible = category in ("Cc", "Cs", "Zl", "Zp") or ord(character) & 0xFFFE == 0xFFFE
    return _REPLACEMENT if is_invisible else character


def graphemes(text: str) -> Iterable[str]:
    """Split text into what a reader takes for one character: `e` and its accent, a family emoji."""
    return text if text.isascii() else iter_graphemes(text)


def text_width(text: str) -> int:
    """Count the cells of visible text: 2 for wide letters and emoji, none for accents."""
    # By grapheme, because wcswidth alone lets a joiner hide the letter that follows it.
    return len(text) if text.isascii() else sum(map(wcswidth, iter_graphemes(text)))


def clip(text: str, width: int, ellipsis: str = "…") -> str:
    """Shorten visible text to at most `width` cells; an ellipsis marks the cut."""
    most = _CHARACTERS_PER_CELL * width
    if len(text) <= most and text_width(text) <= width:
        return text
    room = width - len(ellipsis)
    kept, used = "", 0
    for grapheme in graphemes(text[:most]):
        used += text_width(grapheme)
        if used > room:
            break
        kept += grapheme
    return kept.rstrip(_JOINERS) + ellipsis[: max(width, 0)]


def isolate(text: str) -> str:
    """Put text with right-to-left letters between U+2068 and U+2069; other text stays."""
    has_right_to_left = not text.isascii() and any(
        unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text
    )
    return f"{_ISOLATE}{text}{_END_ISOLATE}" if has_right_to_left else text


def is_right_to_left(text: str) -> bool:
    """Decide the direction of text by its first strong character."""
    for character in text:
        if (direction := unicodedata.bidirectional(character)) in ("L", "R", "AL"):
            return direction != "L"
    return False
