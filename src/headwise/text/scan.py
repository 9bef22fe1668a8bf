"""Labels for a stream of symbols: what ends at each character, by a network and by rules.

The network sees a fixed number of characters to either side (its reach), so the stream is run
through it in windows that overlap by that much, cut at fixed places: no label depends on chunks
or threads. Paragraphs are kept apart by as much padding, so none depends on its neighbours.

Rules stand above the network: a paragraph ends its sentence and its token, white space ends a
token (unless the language has spaces inside words), and no token ends before a combining mark.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from headwise.text.characters import PAD, Alphabet, Codes, Flags, Ids, class_ids, joins_back
from headwise.text.stream import LINE, PARAGRAPH, SPACE, Offsets, Piece

Labels = NDArray[np.uint8]
Scores = NDArray[np.float32]

WORD_END, TOKEN_END, SENTENCE_END, EXPANDS = 1, 2, 4, 8
"""Bits of a label. A word end is inside a token of several words; what expands is a token."""
WINDOW = 4_096
"""Characters that the network labels at once."""
_FIRST_MARK = 0x300
"""No combining mark has a smaller code."""


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Symbols [T] with their offsets, and a label for each: bits, 0 for white space."""

    codes: Codes
    offsets: Offsets
    labels: Labels


class Network(Protocol):
    """Scores [T, 5] for ids [T + 2 reach]: inside, word end, token end; sentence end; expands."""

    def __call__(self, ids: Ids) -> Scores:
        """Score the characters that have `reach` others on either side."""


@dataclass(frozen=True, slots=True, eq=False)
class Scanner:
    """A network with what it needs to read symbols and to turn scores into labels."""

    network: Network
    alphabet: Alphabet
    reach: int
    spaces_inside: bool

    def label(self, pieces: Iterable[Piece], by_line: bool = False) -> Iterator[Labelled]:
        """Label a stream of symbols; with `by_line`, only breaks end sentences."""
        ids = np.full(self.reach, PAD, np.int32)
        is_first = np.zeros(0, np.bool_)
        codes, offsets = np.zeros(0, np.uint32), np.zeros(0, np.int64)
        for piece, final in _marking_last(pieces):
            codes = np.concatenate([codes, piece.codes])
            offsets = np.concatenate([offsets, piece.offsets])
            new_ids, new_first = self.spread(piece.codes)
            ids = np.concatenate([ids, new_ids])
            is_first = np.concatenate([is_first, new_first])
            n_ready = len(is_first) if final else (len(is_first) - self.reach) // WINDOW * WINDOW
            if n_ready <= 0:
                continue
            scores = self._score(ids, n_ready)[is_first[:n_ready]]
            n = len(scores)
            following = np.append(codes[1 : n + 1], np.uint32(PARAGRAPH))[:n]
            if by_line:
                scores[:, 3] = -1
            yield Labelled(codes[:n], offsets[:n], self.to_labels(scores, codes[:n], following))
            ids, is_first = ids[n_ready:], is_first[n_ready:]
            codes, offsets = codes[n:], offsets[n:]

    def spread(self, codes: Codes) -> tuple[Ids, Flags]:
        """Give ids with each break spread out to padding, and which of them begin a symbol."""
        is_break = (codes == LINE) | (codes == PARAGRAPH)
        ids = self.alphabet.ids(codes)
        ids[is_break] = PAD
        if not is_break.any():
            return ids, np.ones(len(ids), np.bool_)
        widths = np.where(is_break, self.reach, 1)
        is_first = np.zeros(int(widths.sum()), np.bool_)
        is_first[np.cumsum(widths) - widths] = True
        return np.repeat(ids, widths), is_first

    def _score(self, ids: Ids, n: int) -> Scores:
        """Score n positions, the first of which has `reach` ids before it; pad after the end."""
        around = 2 * self.reach
        padded = np.concatenate([ids, np.full(max(0, n + around - len(ids)), PAD, np.int32)])
        starts = range(0, n, WINDOW)
        return np.concatenate(
            [self.network(padded[start : min(start + WINDOW, n) + around]) for start in starts]
        )

    def to_labels(self, scores: Scores, codes: Codes, following: Codes) -> Labels:
        """Turn scores [T, 5] into labels [T], by the rules for white space and marks."""
        inside, word, token, sentence, expands = scores.T
        is_free = ~_joined(following)
        token_end = (token > inside) & (token > word) & is_free
        before_break = (following == LINE) | (following == PARAGRAPH)
        token_end |= before_break
        if not self.spaces_inside:
            token_end |= following == SPACE
        word_end = ~token_end & (word > inside) & is_free
        sentence_end = token_end & ((sentence > 0) | before_break)
        labels: Labels = word_end * np.uint8(WORD_END) | token_end * np.uint8(TOKEN_END)
        labels |= sentence_end * np.uint8(SENTENCE_END)
        labels |= (token_end & (expands > 0)) * np.uint8(EXPANDS)
        labels[_is_gap(codes)] = 0
        return labels


def label_by_space(pieces: Iterable[Piece]) -> Iterator[Labelled]:
    """Label symbols without a network: white space ends tokens, a line end sentences."""
    codes, offsets = np.zeros(0, np.uint32), np.zeros(0, np.int64)
    for piece, final in _marking_last(pieces):
        codes = np.concatenate([codes, piece.codes])
        offsets = np.concatenate([offsets, piece.offsets])
        n = len(codes) if final else max(0, len(codes) - 1)
        following = np.append(codes[1 : n + 1], np.uint32(PARAGRAPH))[:n]
        before_break = (following == LINE) | (following == PARAGRAPH)
        labels = _is_gap(following) * np.uint8(TOKEN_END) | before_break * np.uint8(SENTENCE_END)
        labels[_is_gap(codes[:n])] = 0
        yield Labelled(codes[:n], offsets[:n], labels)
        codes, offsets = codes[n:], offsets[n:]


def _joined(codes: Codes) -> Flags:
    """Say which characters belong to the one before; most text has few that might."""
    joined = np.zeros(len(codes), np.bool_)
    high = np.flatnonzero(codes >= _FIRST_MARK)
    joined[high] = joins_back(codes[high], class_ids(codes[high]))
    return joined


def _is_gap(codes: Codes) -> Flags:
    found: Flags = (codes == SPACE) | (codes == LINE) | (codes == PARAGRAPH)
    return found


def _marking_last(pieces: Iterable[Piece]) -> Iterator[tuple[Piece, bool]]:
    """Give each piece, then an empty one that is marked as the last."""
    for piece in pieces:
        yield piece, False
    yield Piece(np.zeros(0, np.uint32), np.zeros(0, np.int64)), True
