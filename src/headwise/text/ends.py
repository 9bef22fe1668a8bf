"""Decide again where sentences end, by the tokens that were found: `Regards, | Debra | Hi Jim`.

The network of `scan` sees some 30 characters to either side. That is too little for headings,
signatures and lists without punctuation. A second network reads a row for each token: the word if
it is a frequent one, its shape (`Xx` for `Debra`), its ending, and whether a space follows. Its
score and that of the first network are put together; tokens stay as they are.

It may also decide which tokens made of letters are two words, the second of one to `splits`
letters: `its` in `its your cat` but not in `its name`. Such words look like any other, and their
context is what tells.

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
    EXPANDS,
    SENTENCE_END,
    TOKEN_END,
    WORD_END,
    Labelled,
    Labels,
    is_break,
    is_white_space,
    joins_previous,
    no_symbols,
)
from headwise.text.symbols import Codes, Flags, to_text

RowFeatures = NDArray[np.int32]
EndScores = NDArray[np.float32]
"""Scores of rows [K, 1 + splits]: that a sentence ends, then for k = 1, 2, ... that the last k
letters of the token are a word of their own."""
EndScorer = Callable[[RowFeatures, EndScores], EndScores]
"""The network: rows [K + 2 reach, 4] and the scores of the first network [K, 1 + splits] in, scores
[K, 1 + splits] of both together out, of those with `reach` rows on either side."""

N_FEATURES = 4
"""Features of a row: ids of the word, its shape and its ending; the last is 2 before a space."""
PADDING_ROW, UNKNOWN, FIRST_KNOWN = 0, 1, 2
"""Ids of padding, of what is not listed, and of the first that is."""
ENDING = 3
"""Characters in the ending of a word."""
MAX_KNOWN = 64
"""Characters in the longest word, shape or ending that has an id."""
MAX_SPLITS = 8
"""The most letters of a last word that the network may find."""
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
    """Rows [K] of tokens and padding: their features [K, 4], and the symbol that made each.

    `letters` [K] is the length of a token if it is made of letters, else 0.
    """

    features: RowFeatures
    symbols: _Positions
    letters: _Positions

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
        letters = np.zeros(n, np.int64)
        if len(ends):
            described = self._describe(codes, bounds)
            features[ends, :3], letters[ends] = described[:, :3], described[:, 3]
            features[ends, 3] = UNKNOWN + is_white_space(codes[ends + 1])
        symbols = np.repeat(np.arange(n), widths)
        return Rows(features[symbols], symbols, letters[symbols])

    def _describe(self, codes: Codes, bounds: _Positions) -> RowFeatures:
        """Return the first three features and `letters` of the tokens between the bounds."""
        starts = np.maximum(bounds[:-1] + 1, 0)
        starts += is_white_space(codes[starts])
        base = int(starts[0])
        text, outlined = to_text(codes[base:]), outline(codes[base:])
        described: dict[str, tuple[int, int, int, int]] = {}
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
                    len(form) if form.isalpha() else 0,
                )
            rows.append(described[form])
        result = np.array(rows, np.int32)
        result[np.diff(bounds) > MAX_OPEN] = (UNKNOWN, UNKNOWN, UNKNOWN, 0)  # its start may be gone
        return result


@dataclass(frozen=True, slots=True, eq=False)
class EndFinder:
    """The second network, and what it takes to make its rows."""

    network: EndScorer
    maker: RowMaker
    splits: int = 0
    window: int = ROWS

    def find(self, stream: Iterable[Labelled], by_line: bool = False) -> Iterator[Labelled]:
        """Replace the sentence ends in a stream of labelled symbols, and the ends of last words.

        With `by_line`, only breaks end sentences.
        """
        reach = self.maker.reach
        held, rows = no_symbols(), _padding(reach)
        n_seen, last_end = 0, -1  # how many symbols of `held` have rows; where the last token ends
        for part in chain(stream, [None]):
            if part is None:
                rows = _join_rows(rows, _padding(reach))  # for the break at the end
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
            labels = self._decide(held, rows, n_ready, by_line)
            n = len(held.codes) if part is None else int(rows.symbols[reach + n_ready - 1]) + 1
            yield held.part(slice(n)).with_labels(labels[:n])
            held = held.part(slice(n, None))
            rows = Rows(rows.features[n_ready:], rows.symbols[n_ready:] - n, rows.letters[n_ready:])
            n_seen, last_end = n_seen - n, last_end - n

    def _decide(self, held: Labelled, rows: Rows, n: int, by_line: bool) -> Labels:
        """Score n rows, the first of which has `reach` others before it, and label their symbols.

        A token before a break always ends a sentence.
        """
        reach = self.maker.reach
        which = slice(reach, reach + n)
        is_token, symbols, letters = rows.is_token[which], rows.symbols[which], rows.letters[which]
        given = np.zeros((n, 1 + self.splits), np.float32)
        given[is_token, 0] = held.scores[symbols[is_token]]
        for k in range(1, 1 + self.splits):
            given[letters > k, k] = held.word_scores[symbols[letters > k] - k]
        scores = np.concatenate(
            [
                self.network(rows.features[i : j + 2 * reach], given[i:j])
                for i, j in pairwise([*range(0, n, self.window), n])
            ]
        )
        ends = symbols[is_token]
        labels = held.labels.copy()
        is_end = is_break(held.codes[ends + 1])
        if not by_line:
            is_end |= scores[is_token, 0] > 0
        labels[ends] = (labels[ends] & ~np.uint8(SENTENCE_END)) | is_end * np.uint8(SENTENCE_END)
        if self.splits:
            _split(labels, held.codes, ends, letters[is_token], scores[is_token, 1:])
        return labels


def _split(
    labels: Labels, codes: Codes, ends: _Positions, letters: _Positions, scores: EndScores
) -> None:
    """Label where the last word of each token [K] starts, by scores [K, splits], in place.

    Tokens that expand, or that are not made of letters, stay as they are.
    """
    is_open = labels[ends] & EXPANDS == 0
    best, length = np.zeros(len(ends), np.float32), np.zeros(len(ends), np.int64)
    for k, score in enumerate(scores.T, 1):
        some = is_open & (letters > k)
        labels[ends[some] - k] &= ~np.uint8(WORD_END)
        some[some] = ~joins_previous(codes[ends[some] - k + 1])
        some &= score > best
        best[some], length[some] = score[some], k
    cut = length > 0
    labels[ends[cut] - length[cut]] |= np.uint8(WORD_END)


def _padding(n: int) -> Rows:
    """Return n rows of padding, which belong to no symbol."""
    features = np.full((n, N_FEATURES), PADDING_ROW, np.int32)
    return Rows(features, np.full(n, -1, np.int64), np.zeros(n, np.int64))


def _join_rows(rows: Rows, more: Rows) -> Rows:
    return Rows(
        np.concatenate([rows.features, more.features]),
        np.concatenate([rows.symbols, more.symbols]),
        np.concatenate([rows.letters, more.letters]),
    )
