"""Label every symbol with what ends there: a word, a token, a sentence.

A network scores characters, which it sees as ids. A character that was frequent in training has an
id of its own; any other has the id of its class: its Unicode category, or its script if that is
written without spaces.

The network sees a fixed number of characters on either side, its reach. The stream runs through it
in windows that overlap by that much and are cut at fixed places, so no label depends on chunks or
threads. Breaks are padded to the same width, so no paragraph depends on its neighbours.

Rules override the network: a break ends its sentence and its token, white space ends a token
(unless the language has words with spaces), and no token ends before a combining mark.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from headwise.text.symbols import LINE, PARAGRAPH, SPACE, Codes, Flags, Offsets, Symbols

CharacterIds = NDArray[np.int32]
BoundaryScores = NDArray[np.float32]
SentenceScores = NDArray[np.float32]
WordScores = NDArray[np.float32]
Labels = NDArray[np.uint8]
CharacterScorer = Callable[[CharacterIds], BoundaryScores]
"""The network: scores [T, 5] for ids [T + 2 reach], of those with `reach` others on either side."""

WORD_END, TOKEN_END, SENTENCE_END, EXPANDS = 1, 2, 4, 8
"""Bits of a label. `WORD_END` is only set inside a multi-word token, `EXPANDS` at its end."""
BOUNDARY = WORD_END | TOKEN_END
"""A character has at most one of these two bits."""
N_SCORES = 5
"""Scores of a character: inside a token, word end, token end; sentence end; expands."""
WINDOW = 4_096
"""Characters that the network scores at once."""

CHARACTER_CLASSES = (
    *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No"),
    *("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So"),
    *("Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn", "Han", "Kana", "Hangul"),
)
"""The Unicode categories, then three scripts."""
PADDING_ID = 0
"""The id of padding between paragraphs."""
FIRST_CHARACTER = 1 + len(CHARACTER_CLASSES)
"""Ids from 1 are classes, ids from here are characters."""
MAX_ALPHABET = 50_000

_CLASS_IDS = {name: 1 + i for i, name in enumerate(CHARACTER_CLASSES)}
_SCRIPTS = (
    (0x3041, 0x30FF, "Kana"),
    (0x3400, 0x9FFF, "Han"),
    (0xAC00, 0xD7A3, "Hangul"),
    (0xF900, 0xFAFF, "Han"),
    (0x20000, 0x3FFFF, "Han"),
)
_JAMO = ((0x1160, 0x11FF), (0xD7B0, 0xD7FF))
"""Hangul vowels and final consonants."""
_MARKS = tuple(_CLASS_IDS[name] for name in ("Mn", "Mc", "Me"))
_FIRST_MARK = 0x300
"""The smallest code of a combining mark."""
_N_CODES = 0x110000


def class_id(code: int) -> int:
    """Return the id (from 1) of the class of a code point."""
    category = unicodedata.category(chr(code))
    if category in {"Lo", "Lm"}:
        for first, last, script in _SCRIPTS:
            if first <= code <= last:
                return _CLASS_IDS[script]
    return _CLASS_IDS[category]


def class_ids(codes: Codes) -> CharacterIds:
    """Return the class of each code point [T], looking up each distinct one once."""
    distinct, where = np.unique(codes, return_inverse=True)
    return np.array([class_id(code) for code in distinct.tolist()], np.int32)[where]


@dataclass(frozen=True, slots=True, eq=False)
class Alphabet:
    """The characters that have ids: `table[code]` is the id of a character, 0 if it has none.

    `classes[id]` is the class of an id; the class of a class is itself.
    """

    characters: str
    table: CharacterIds
    classes: CharacterIds

    @property
    def size(self) -> int:
        """The number of ids, including padding and classes."""
        return FIRST_CHARACTER + len(self.characters)

    def ids(self, codes: Codes) -> CharacterIds:
        """Return the id of each code point [T], or of its class if it has none."""
        ids = self.table[codes]
        unknown = np.flatnonzero(ids == 0)
        if len(unknown):
            ids[unknown] = class_ids(codes[unknown])
        return ids


def make_alphabet(characters: Sequence[str]) -> Alphabet:
    """Number distinct characters in the order given."""
    codes = np.array([ord(character) for character in characters], np.uint32)
    table = np.zeros(_N_CODES, np.int32)
    table[codes] = np.arange(FIRST_CHARACTER, FIRST_CHARACTER + len(codes))
    classes = np.concatenate([np.arange(FIRST_CHARACTER, dtype=np.int32), class_ids(codes)])
    return Alphabet("".join(characters), table, classes)


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Symbols [T] with their offsets, labels and scores.

    The scores are those of an end of a sentence, and of an end of a word inside a token. The label
    of white space is 0. Without a network the scores are 0.
    """

    codes: Codes
    offsets: Offsets
    labels: Labels
    scores: SentenceScores
    word_scores: WordScores

    def joined(self, other: "Labelled") -> "Labelled":
        """Return these symbols and those that follow them."""
        return Labelled(
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.offsets, other.offsets]),
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.word_scores, other.word_scores]),
        )

    def part(self, which: slice) -> "Labelled":
        """Return some of the symbols."""
        return Labelled(
            self.codes[which],
            self.offsets[which],
            self.labels[which],
            self.scores[which],
            self.word_scores[which],
        )

    def with_labels(self, labels: Labels) -> "Labelled":
        """Return the symbols with other labels."""
        return replace(self, labels=labels)


def no_symbols() -> Labelled:
    """Return no symbols, to start with."""
    return _without_labels(np.zeros(0, np.uint32), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Scanner:
    """A network, with what it takes to turn symbols into ids and scores into labels."""

    network: CharacterScorer
    alphabet: Alphabet
    reach: int
    spaces_inside: bool
    window: int = WINDOW

    def label(self, stream: Iterable[Symbols], by_line: bool = False) -> Iterator[Labelled]:
        """Label a stream of symbols; with `by_line`, only breaks end sentences."""
        ids = np.full(self.reach, PADDING_ID, np.int32)
        is_first = np.zeros(0, np.bool_)
        codes, offsets = np.zeros(0, np.uint32), np.zeros(0, np.int64)
        for symbols in chain(stream, [None]):
            if symbols is None:
                n_ready = len(is_first)
            else:
                codes = np.concatenate([codes, symbols.codes])
                offsets = np.concatenate([offsets, symbols.offsets])
                new_ids, new_first = self.to_ids(symbols.codes)
                ids = np.concatenate([ids, new_ids])
                is_first = np.concatenate([is_first, new_first])
                n_ready = (len(is_first) - self.reach) // self.window * self.window
            if n_ready <= 0:
                continue
            scores = self._score(ids, n_ready)[is_first[:n_ready]]
            n = len(scores)
            following = np.append(codes[1 : n + 1], np.uint32(PARAGRAPH))[:n]
            if by_line:
                scores[:, 3] = -1
            labels = self._to_labels(scores, codes[:n], following)
            word_scores = scores[:, 1] - scores[:, 0]
            yield Labelled(codes[:n], offsets[:n], labels, scores[:, 3], word_scores)
            ids, is_first = ids[n_ready:], is_first[n_ready:]
            codes, offsets = codes[n:], offsets[n:]

    def to_ids(self, codes: Codes) -> tuple[CharacterIds, Flags]:
        """Return the ids of symbols, breaks padded, and which of the ids are the first of one."""
        breaks = is_break(codes)
        ids = self.alphabet.ids(codes)
        ids[breaks] = PADDING_ID
        if not breaks.any():
            return ids, np.ones(len(ids), np.bool_)
        widths = np.where(breaks, self.reach, 1)
        is_first = np.zeros(int(widths.sum()), np.bool_)
        is_first[np.cumsum(widths) - widths] = True
        return np.repeat(ids, widths), is_first

    def _score(self, ids: CharacterIds, n: int) -> BoundaryScores:
        """Score n positions, the first of which has `reach` ids before it; pad after the end."""
        around = 2 * self.reach
        padded = np.concatenate([ids, np.full(max(0, n + around - len(ids)), PADDING_ID, np.int32)])
        bounds = [*range(0, n, self.window), n]
        windows = [padded[start : end + around] for start, end in pairwise(bounds)]
        return np.concatenate([self.network(window) for window in windows])

    def _to_labels(self, scores: BoundaryScores, codes: Codes, following: Codes) -> Labels:
        """Turn scores [T, 5] into labels [T], applying the rules."""
        inside, word, token, sentence, expands = scores.T
        may_end = ~joins_previous(following)
        token_end = (token > inside) & (token > word) & may_end
        before_break = is_break(following)
        token_end |= before_break
        if not self.spaces_inside:
            token_end |= following == SPACE
        word_end = ~token_end & (word > inside) & may_end
        sentence_end = token_end & ((sentence > 0) | before_break)
        labels: Labels = word_end * np.uint8(WORD_END) | token_end * np.uint8(TOKEN_END)
        labels |= sentence_end * np.uint8(SENTENCE_END)
        labels |= (token_end & (expands > 0)) * np.uint8(EXPANDS)
        labels[is_white_space(codes)] = 0
        return labels


def label_by_space(stream: Iterable[Symbols]) -> Iterator[Labelled]:
    """Label symbols without a network: white space ends tokens, a line end sentences."""
    codes, offsets = np.zeros(0, np.uint32), np.zeros(0, np.int64)
    for symbols in stream:
        codes = np.concatenate([codes, symbols.codes])
        offsets = np.concatenate([offsets, symbols.offsets])
        following = codes[1:]
        labels = is_white_space(following) * np.uint8(TOKEN_END)
        labels |= is_break(following) * np.uint8(SENTENCE_END)
        labels[is_white_space(codes[:-1])] = 0
        yield _without_labels(codes[:-1], offsets[:-1]).with_labels(labels)
        codes, offsets = codes[-1:], offsets[-1:]
    yield _without_labels(codes, offsets)


def _without_labels(codes: Codes, offsets: Offsets) -> Labelled:
    n = len(codes)
    none = np.zeros(n, np.float32)
    return Labelled(codes, offsets, np.zeros(n, np.uint8), none, none)


def is_white_space(codes: Codes) -> Flags:
    """Return which symbols are white space."""
    flags: Flags = is_break(codes) | (codes == SPACE)
    return flags


def is_break(codes: Codes) -> Flags:
    """Return which symbols are breaks."""
    flags: Flags = (codes == LINE) | (codes == PARAGRAPH)
    return flags


def joins_previous(codes: Codes) -> Flags:
    """Return which characters belong to the one before: marks, and Hangul vowels and finals.

    A cut before one of them would leave two forms that are in normal form C by themselves but not
    when joined.
    """
    joins = np.zeros(len(codes), np.bool_)
    high = np.flatnonzero(codes >= _FIRST_MARK)  # few or none in most text
    if len(high):
        joins[high] = np.isin(class_ids(codes[high]), _MARKS)
        for first, last in _JAMO:
            joins |= (codes >= first) & (codes <= last)
    return joins
