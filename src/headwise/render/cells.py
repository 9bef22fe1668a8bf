"""Text that is safe to show, and how many cells of a terminal it takes.

Words come from anywhere. A control character never reaches a terminal: it is shown as a picture of
itself, so no word can move the cursor, change colours or set a title. Characters that order text or
end lines are shown as U+FFFD. Right-to-left text is isolated, so that the line around it stays.
"""

import unicodedata

ZERO_WIDTH_JOINERS = "\u200c\u200d"
_NUMBER_SIGNS = (
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
"""Format characters by their category, but with a shape of their own."""
_REPLACEMENT = "\ufffd"
_DOTTED_CIRCLE = "\u25cc"
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
_NO_CELLS = ZERO_WIDTH_JOINERS + _ISOLATE + _END_ISOLATE
_MARKS = ("Mn", "Me")
_MARKS_PER_CELL = 6
"""Characters of width zero kept for each cell; more is no writing but a tower of accents."""


def visible(text: str) -> str:
    """Copy text with every character that would do something shown instead.

    Space, letters and joiners stay; escape becomes U+241B, a bidirectional control U+FFFD. A
    combining mark at the start sits on a dotted circle, not on what stands before the text.
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
        is_kept = character in ZERO_WIDTH_JOINERS or character in _NUMBER_SIGNS
        return character if is_kept else _REPLACEMENT
    is_nothing = category in ("Cc", "Cs", "Zl", "Zp") or ord(character) & 0xFFFE == 0xFFFE
    return _REPLACEMENT if is_nothing else character


def cell_width(character: str) -> int:
    """Count the cells of one visible character: 0 for marks and joiners, 2 for wide ones, or 1."""
    if character.isascii():
        return 1
    if character in _NO_CELLS or "\u1160" <= character <= "\u11ff":
        return 0  # the range: vowels and finals, drawn inside the Korean syllable before them
    if unicodedata.category(character) in _MARKS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def text_width(text: str) -> int:
    """Count the cells of visible text."""
    return len(text) if text.isascii() else sum(map(cell_width, text))


def cut(text: str, width: int, ellipsis: str = "…") -> str:
    """Shorten visible text to at most `width` cells, with an ellipsis where something is gone."""
    if len(text) <= _MARKS_PER_CELL * width and text_width(text) <= width:
        return text
    room = width - len(ellipsis)
    kept, used = [], 0
    for character in text[: _MARKS_PER_CELL * width]:
        used += cell_width(character)
        if used > room:
            break
        kept.append(character)
    return "".join(kept).rstrip(ZERO_WIDTH_JOINERS) + ellipsis[: max(width, 0)]


def isolate(text: str) -> str:
    """Put text with right-to-left letters between U+2068 and U+2069; other text stays."""
    is_mixed = not text.isascii() and any(
        unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text
    )
    return f"{_ISOLATE}{text}{_END_ISOLATE}" if is_mixed else text


def is_right_to_left(text: str) -> bool:
    """Tell the direction of text by its first strong character."""
    for character in text:
        if (direction := unicodedata.bidirectional(character)) in ("L", "R", "AL"):
            return direction != "L"
    return False
