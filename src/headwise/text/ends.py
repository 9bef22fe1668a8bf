"""Decide again where sentences end, by the words that were found: `Best regards, | Debra | Hi Jim`.

The network of `scan` sees some 30 characters to either side. That is too little for headings,
signatures and lists without punctuation. A second network reads a row for each token: the word if
it is a frequent one, its shape (`Xx` for `Debra`), its ending, and whether a space follows. Its
score and that of the first network are put together; tokens and words stay as they are.

A break makes as many rows of padding as the network sees to either side, so no paragraph depends on
its neighbours. The rows run through the network in windows that overlap, cut at fixed places. A
token without end makes a row of padding now and then, so that the stream moves on.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from headwise.text.scan import (
    SENTENCE_END,
    TOKEN_END,
    Labelled,
    Labels,
    SentenceScores,
    is_break,
    is_white_space,
    no_symbols,
)
from headwise.text.symbols import Codes, Flags, to_text

RowFeatures = NDArray[np.int32]
EndScorer = Callable[[RowFeatures, SentenceScores], SentenceScores]
"""The network: rows [K + 2 reach, 4] and the scores of the first network [K] in, scores [K] of both
together out, of those with `reach` rows on either side."""

N_FEATURES = 4
"""Features of a row: ids of the word, its shape and its ending; the last is 2 before a space."""
PADDING_ROW, UNKNOWN, FIRST_KNOWN = 0, 1, 2
"""Ids of padding, of what is not listed, and of the first that is."""
ENDING = 3
"""Characters in the ending of a word."""
MAX_KNOWN = 64
"""Characters in the longest word, shape or ending that has an id."""
ROWS = 512
"""Rows that the network scores at once."""
MAX_OPEN = 1_000
"""A longer token is unknown, and adds a row of padding for each multiple of this length."""

_Positions = NDArray[np.int64]
_REPEATED = re.compile(r"(.)\1+")


def number(values: Iterable[str]) -> dict[str, int]:
    """Give an id to each word, shape or ending, in their order."""
    return {value: i for i, value in enumerate(values, FIRST_KNOWN)}


def outline(codes: Codes) -> str:
    """Write X for each upper-case letter, x for other letters, d for digits; the rest stays."""
    distinct, where = np.unique(codes, return_inverse=True)
    kinds = [_kind(chr(code)) for code in distinct.tolist()]
    return to_text(np.array([ord(kind) for kind in kinds], np.uint32)[where])


def _kind(character: str) -> str:
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return "d" if character.isdigit() else character


def shape_of(outlined: str) -> str:
    """Return the shape of a token, given its outline: repeated characters once or twice.

    >>> shape_of("Xxxxx"), shape_of("XX"), shape_of("dd/dd/dddd")
    ('Xxx', 'XX', 'dd/dd/dd')
    """
    return _REPEATED.sub(r"\1\1", outlined)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows [K] of tokens and padding: their features [K, 4], and the symbol that made each."""

    features: RowFeatures
    symbols: _Positions

    @property
    def is_token(self) -> Flags:
        """Which rows are tokens."""
        flags: Flags = self.features[:, 0] != PADDING_ROW
        return flags


@dataclass(frozen=True, slots=True, eq=False)
class RowMaker:
    """The ids of words, shapes and endings, and how many rows of padding a break makes."""

    words: Mapping[str, int]
    shapes: Mapping[str, int]
    endings: Mapping[str, int]
    reach: int

    def make(self, codes: Codes, labels: Labels, first: int = 0, last_end: int = -1) -> Rows:
        """Make the rows of the symbols from `first` on, except the last symbol.

        The token before them ends at `last_end`, which is negative if it is not here any more. A
        token makes a row where it ends.
        """
        n = max(first, len(codes) - 1)
        ends = first + np.flatnonzero(labels[first:n] & TOKEN_END)
        bounds = np.concatenate([np.array([last_end]), ends])
        widths = np.zeros(n, np.int64)
        widths[first:] = is_break(codes[first:n]) * self.reach
        widths[ends] = 1
        gaps = np.append(bounds, n)
        for i in np.flatnonzero(np.diff(gaps) > MAX_OPEN).tolist():
            marks = np.arange(gaps[i] + MAX_OPEN, gaps[i + 1], MAX_OPEN)
            widths[marks[marks >= first]] = 1
        features = np.full((n, N_FEATURES), PADDING_ROW, np.int32)
        if len(ends):
            features[ends, :3] = self._describe(codes, bounds)
            features[ends, 3] = UNKNOWN + is_white_space(codes[ends + 1])
        symbols = np.repeat(np.arange(n), widths)
        return Rows(features[symbols], symbols)

    def _describe(self, codes: Codes, bounds: _Positions) -> RowFeatures:
        """Return the first three features of the tokens between the bounds."""
        starts = np.maximum(bounds[:-1] + 1, 0)
        starts += is_white_space(codes[starts])
        base = int(starts[0])
        text, outlined = to_text(codes[base:]), outline(codes[base:])
        described: dict[str, tuple[int, int, int]] = {}
        shapes: dict[str, int] = {}
        rows = []
        spans = zip((starts - base).tolist(), (bounds[1:] - base + 1).tolist(), strict=True)
        for i, j in spans:
            form = text[i:j]
            if form not in described:
                lower, kinds = form.lower(), outlined[i:j]
                if kinds not in shapes:
                    shapes[kinds] = self.shapes.get(shape_of(kinds), UNKNOWN)
                described[form] = (
                    self.words.get(lower, UNKNOWN),
                    shapes[kinds],
                    self.endings.get(lower[-ENDING:], UNKNOWN),
                )
            rows.append(described[form])
        features = np.array(rows, np.int32)
        features[np.diff(bounds) > MAX_OPEN] = UNKNOWN  # its start may not be here any more
        return features


@dataclass(frozen=True, slots=True, eq=False)
class EndFinder:
    """The second network, and what it takes to make its rows."""

    network: EndScorer
    maker: RowMaker
    window: int = ROWS

    def find(self, stream: Iterable[Labelled]) -> Iterator[Labelled]:
        """Replace the sentence ends in a stream of labelled symbols."""
        reach = self.maker.reach
        held, rows = no_symbols(), Rows(*_padding(reach))
        n_seen, last_end = 0, -1  # how many symbols of `held` have rows; where the last token ends
        for part in chain(stream, [None]):
            if part is None:
                rows = _join_rows(rows, Rows(*_padding(reach)))  # for the break at the end
                n_ready = len(rows.symbols) - 2 * reach
            else:
                held = held.joined(part)
                new = self.maker.make(held.codes, held.labels, n_seen, last_end)
                rows = _join_rows(rows, new)
                n_seen = max(n_seen, len(held.codes) - 1)
                last_end = int(new.symbols[new.is_token].max(initial=last_end))
                n_ready = (len(rows.symbols) - 2 * reach) // self.window * self.window
            if n_ready <= 0:
                continue
            labels = self._decide(held, rows, n_ready)
            n = len(held.codes) if part is None else int(rows.symbols[reach + n_ready - 1]) + 1
            yield held.part(slice(n)).with_labels(labels[:n])
            held = held.part(slice(n, None))
            rows = Rows(rows.features[n_ready:], rows.symbols[n_ready:] - n)
            n_seen, last_end = n_seen - n, last_end - n

    def _decide(self, held: Labelled, rows: Rows, n: int) -> Labels:
        """Score n rows, the first of which has `reach` others before it, and label their symbols.

        A token before a break always ends a sentence.
        """
        reach = self.maker.reach
        which = slice(reach, reach + n)
        is_token, symbols = rows.is_token[which], rows.symbols[which]
        given = np.where(is_token, held.scores[symbols], np.float32(0))
        scores = np.concatenate(
            [
                self.network(rows.features[i : j + 2 * reach], given[i:j])
                for i, j in pairwise([*range(0, n, self.window), n])
            ]
        )
        ends = symbols[is_token]
        is_end = (scores[is_token] > 0) | is_break(held.codes[ends + 1])
        labels = held.labels.copy()
        labels[ends] = (labels[ends] & ~np.uint8(SENTENCE_END)) | is_end * np.uint8(SENTENCE_END)
        return labels


def _padding(n: int) -> tuple[RowFeatures, _Positions]:
    """Return n rows of padding, which belong to no symbol."""
    return np.full((n, N_FEATURES), PADDING_ROW, np.int32), np.full(n, -1, np.int64)


def _join_rows(rows: Rows, more: Rows) -> Rows:
    return Rows(
        np.concatenate([rows.features, more.features]),
        np.concatenate([rows.symbols, more.symbols]),
    )
