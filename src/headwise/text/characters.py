"""Characters as a network sees them: an id for each frequent one, a class for all others.

A character that training saw often has an id of its own. Any other is known by its class: its
Unicode category, with the scripts that write without spaces kept apart, so that an unseen letter,
digit or mark still says what it is.
"""

import codecs
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint32]
Ids = NDArray[np.int32]
Flags = NDArray[np.bool_]

CLASSES = (
    *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No"),
    *("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So"),
    *("Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn", "Han", "Kana", "Hangul"),
)
"""Unicode categories, then the letters of three scripts."""
PAD = 0
"""The id of what is no character: the room between paragraphs."""
FIRST_CHARACTER = 1 + len(CLASSES)
"""Ids from 1 on are classes, ids from here on are characters."""
MAX_CODE = 0x110000
MAX_CHARACTERS = 50_000

_CLASS_IDS = {name: 1 + i for i, name in enumerate(CLASSES)}
_SCRIPTS = (
    (0x3041, 0x30FF, "Kana"),
    (0x3400, 0x9FFF, "Han"),
    (0xAC00, 0xD7A3, "Hangul"),
    (0xF900, 0xFAFF, "Han"),
    (0x20000, 0x3FFFF, "Han"),
)
_JAMO = ((0x1160, 0x11FF), (0xD7B0, 0xD7FF))
_MARKS = tuple(_CLASS_IDS[name] for name in ("Mn", "Mc", "Me"))

# Python imports a codec when it is first used, and an interruption in the middle of an import may
# be lost; so not in the middle of parsing.
codecs.lookup("utf-32-le")


def to_codes(text: str) -> Codes:
    """Give the code points of a text; a lone surrogate is one too."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)


def to_text(codes: Codes) -> str:
    """Give the text of code points without surrogates."""
    return codes.astype("<u4").tobytes().decode("utf-32-le")


def class_id(code: int) -> int:
    """Give the id (from 1 on) of the class of a code point."""
    category = unicodedata.category(chr(code))
    if category in {"Lo", "Lm"}:
        for first, last, script in _SCRIPTS:
            if first <= code <= last:
                return _CLASS_IDS[script]
    return _CLASS_IDS[category]


def class_ids(codes: Codes) -> Ids:
    """Give the class of each code point [T]; each distinct one is looked up once."""
    distinct, where = np.unique(codes, return_inverse=True)
    return np.array([class_id(code) for code in distinct.tolist()], np.int32)[where]


@dataclass(frozen=True, slots=True, eq=False)
class Alphabet:
    """The characters with ids of their own: `table[code]` is the id, 0 for those without one.

    `classes[id]` is the class of an id: of a class itself, of a character its class.
    """

    characters: str
    table: Ids
    classes: Ids

    @property
    def size(self) -> int:
        """Count the ids, PAD and classes included."""
        return FIRST_CHARACTER + len(self.characters)

    def ids(self, codes: Codes) -> Ids:
        """Give the id of each code point [T]: its own, or that of its class."""
        ids = self.table[codes]
        unknown = np.flatnonzero(ids == 0)
        if len(unknown):
            ids[unknown] = class_ids(codes[unknown])
        return ids


def make_alphabet(characters: Sequence[str]) -> Alphabet:
    """Number the characters, which are distinct, in their order."""
    codes = np.array([ord(character) for character in characters], np.uint32)
    table = np.zeros(MAX_CODE, np.int32)
    table[codes] = np.arange(FIRST_CHARACTER, FIRST_CHARACTER + len(codes))
    own = np.arange(FIRST_CHARACTER, dtype=np.int32)
    classes = np.concatenate([own, class_ids(codes)])
    return Alphabet("".join(characters), table, classes)


def joins_back(codes: Codes, classes: Ids) -> Flags:
    """Say which characters belong to the one before them: marks, and Hangul vowels and finals.

    A cut in front of one would leave two forms that are normalised alone but not together.
    """
    joins = np.isin(classes, _MARKS)
    for first, last in _JAMO:
        joins |= (codes >= first) & (codes <= last)
    return joins
