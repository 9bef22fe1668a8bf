"""Where everything goes in a picture with the words in a row, in pixels.

The SVG and the page of `headwise serve` both show this layout. There are no font metrics here, so
the width of text is estimated from its characters, generously. Words are as close as their texts
allow, and as far apart as the labels of their arcs need. Sentences that start with a right-to-left
letter run from right to left.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headwise.render.arcs import Arc, arcs_of
from headwise.render.cells import clip, graphemes, is_right_to_left, text_width, visible
from headwise.settings.choices import PredictedColumn
from headwise.treebank.sentence import BLANK, Parse, Sentence, Word

WORD_SIZE, SMALL_SIZE = 16, 11
LEVEL = 24
"""From one level of arcs to the next; a label fits between."""
ROOT_RISE = 0.75
"""Levels from the highest arc to the start of the arrow from ROOT."""
LONGEST_WORD, LONGEST_LABEL, LONGEST_TITLE = 60, 30, 1000
MAX_FEATURES = 40
"""Lines for the features of a word; if it has more, the last line is an ellipsis."""
WORD_GAP = 18.0
LABEL_PAD = 16.0
"""Room for the rounded corners at both sides of a label."""
END_GAP = 7.0
"""Between the ends of two arcs at the same word."""
MARGIN = WORD_GAP
UNDER_WORDS = 48
"""From the ends of arcs to the end of the picture, with one line below the words."""
LINE_HEIGHT = 14
"""From one line below a word to the next."""
_NARROW = frozenset("ijltfrI.,:;'`|!()[]{}/\\ -")
_BROAD = frozenset("mwMWQO@%&")


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word with the lines below it, shortened and safe to show; `x` is its centre."""

    form: str
    lines: tuple[str, ...]
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class PlacedArc:
    """An arc that is drawn: from `start` up to `top`, across, and down to `end`."""

    arc: Arc
    label: str
    start: float
    end: float
    top: float


@dataclass(frozen=True, slots=True)
class Layout:
    """A sentence laid out; arcs end at the height `floor`, words stand below it.

    `arcs` come in the order to draw them: the highest first, because only lines of higher arcs can
    cross a label, which then covers them. `description` tells the tree in words.
    """

    title: str
    description: str
    words: tuple[PlacedWord, ...]
    arcs: tuple[PlacedArc, ...]
    floor: float
    width: float

    @property
    def height(self) -> float:
        """The height of the whole picture."""
        n_lines = max((len(word.lines) for word in self.words), default=0)
        return self.floor + UNDER_WORDS + LINE_HEIGHT * max(n_lines - 1, 0)


def lay_out(
    sentence: Sentence, parse: Parse | None = None, columns: Sequence[PredictedColumn] = ("upos",)
) -> Layout:
    """Place the words and arcs of a sentence; heads and labels of `parse` win over the columns.

    Below each word are its values in `columns`, one line each, and one for each feature.
    """
    arcs = arcs_of(sentence, parse)
    labels = [_shorten(arc.label, LONGEST_LABEL) for arc in arcs]
    forms = [_shorten(word.form, LONGEST_WORD) for word in sentence.words]
    below = _lines_below(sentence.words, columns)
    label_lengths = [text_length(label, SMALL_SIZE) for label in labels]
    widths = [
        max(
            text_length(form, WORD_SIZE),
            *(text_length(line, SMALL_SIZE) for line in lines),
            label_length if arc.head == 0 else 0.0,
        )
        for form, lines, arc, label_length in zip(forms, below, arcs, label_lengths, strict=True)
    ]
    drawn = [arc for arc in arcs if arc.is_drawn]
    centres, ends, width = place(widths, drawn, [label_lengths[a.dependent - 1] for a in drawn])
    text = sentence.text[:LONGEST_TITLE]
    if is_right_to_left(text):
        centres = [width - centre for centre in centres]
        ends = [(width - start, width - end) for start, end in ends]
    arc_levels = _levels_with_root(drawn)
    floor = MARGIN + LEVEL * max(arc_levels, default=1)
    placed = [
        PlacedArc(arc, labels[arc.dependent - 1], start, end, floor - LEVEL * level)
        for arc, (start, end), level in zip(drawn, ends, arc_levels, strict=True)
    ]
    return Layout(
        visible(text),
        _describe(arcs, labels, forms),
        tuple(map(PlacedWord, forms, below, centres, widths)),
        tuple(sorted(placed, key=lambda arc: arc.top)),
        floor,
        width,
    )


def _lines_below(
    words: Sequence[Word], columns: Sequence[PredictedColumn]
) -> list[tuple[str, ...]]:
    """Give the lines below each word; a column that is blank in all words takes no line."""
    rows: list[list[str]] = [[] for _ in words]
    for column in columns:
        values = [getattr(word, column) for word in words]
        if all(value == BLANK for value in values):
            continue
        for row, value in zip(rows, values, strict=True):
            parts = value.split("|", MAX_FEATURES) if column == "feats" else [value]
            if len(parts) > MAX_FEATURES:
                parts[MAX_FEATURES - 1 :] = ["…"]
            row += ["" if part == BLANK else _shorten(part, LONGEST_LABEL) for part in parts]
        longest = max(map(len, rows))
        # The next column starts at the same height below all words.
        rows = [row + [""] * (longest - len(row)) for row in rows]
    return list(map(tuple, rows))


def _shorten(value: str, longest: int) -> str:
    return clip(visible(value[: 10 * longest]), longest)


def _describe(arcs: Sequence[Arc], labels: Sequence[str], forms: Sequence[str]) -> str:
    """Tell a tree in words: `Kids: nsubj of love; love: root; ...`."""
    return "; ".join(
        f"{form}: {label} of {forms[arc.head - 1]}" if arc.head else f"{form}: {label}"
        for arc, label, form in zip(arcs, labels, forms, strict=True)
    )


def text_length(text: str, size: float) -> float:
    """Estimate the length of visible text in a sans-serif font of `size` pixels."""
    return size * sum(map(_ems, graphemes(text)))


def _ems(grapheme: str) -> float:
    if (cells := text_width(grapheme)) != 1:
        return cells * 0.55
    character = grapheme[0]
    if character in _NARROW:
        return 0.36
    if character in _BROAD:
        return 0.9
    return 0.68 if character.isupper() or character > "\u08ff" else 0.58


def levels(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Give each span the lowest level (1, 2, ...) above all shorter ones that it overlaps with.

    Spans that only touch share a level. Example: 1-2, 2-3 and 1-3 get 1, 1 and 2; the crossing
    spans 1-3 and 2-4 get 1 and 2.
    """
    width = max((right for _, right in spans), default=0)
    height = np.zeros(width + 1, dtype=np.int32)  # [N+1], of the gap to the right of each word
    found = [0] * len(spans)
    for index in sorted(range(len(spans)), key=lambda i: (spans[i][1] - spans[i][0], spans[i])):
        left, right = spans[index]
        found[index] = int(height[left:right].max()) + 1
        height[left:right] = found[index]
    return found


def _levels_with_root(arcs: Sequence[Arc]) -> list[float]:
    """Give each arc its level; those from ROOT start above all others."""
    between = iter(levels([arc.span for arc in arcs if arc.head]))
    found: list[float] = [next(between) if arc.head else 0 for arc in arcs]
    above = max(found, default=0) + ROOT_RISE
    return [level or above for level in found]


def place(
    widths: Sequence[float], arcs: Sequence[Arc], label_lengths: Sequence[float]
) -> tuple[list[float], list[tuple[float, float]], float]:
    """Place words from left to right, each as far left as texts and labels allow.

    Args:
        widths: of each word with its tag.
        arcs: those to be drawn; one from ROOT starts where it ends.
        label_lengths: of each arc.

    Returns:
        The centres of the words, start and end of each arc, and the width of the picture.
    """
    offsets = _end_offsets(widths, arcs)
    ends_at: dict[int, list[int]] = {}
    for index, arc in enumerate(arcs):
        if arc.head:
            ends_at.setdefault(arc.span[1], []).append(index)
    centres: list[float] = []
    edge = MARGIN
    for position, width in enumerate(widths, 1):
        centre = edge + width / 2
        for index in ends_at.get(position, ()):
            left = arcs[index].span[0]
            start = centres[left - 1] + offsets[index, left]
            needed = label_lengths[index] + LABEL_PAD
            centre = max(centre, start + needed - offsets[index, position])
        centres.append(centre)
        edge = centre + width / 2 + WORD_GAP

    def end(index: int, position: int) -> float:
        return centres[position - 1] + offsets[index, position]

    ends = [
        (end(index, arc.head or arc.dependent), end(index, arc.dependent))
        for index, arc in enumerate(arcs)
    ]
    return centres, ends, edge


def _end_offsets(widths: Sequence[float], arcs: Sequence[Arc]) -> dict[tuple[int, int], float]:
    """Spread the ends of arcs over each word so that they nest.

    From left to right: arcs to the left, shortest first, ROOT, arcs to the right, longest first.
    The keys are pairs of the index of an arc and the position of one of its ends.
    """
    ends: dict[int, list[tuple[float, int]]] = {}
    for index, arc in enumerate(arcs):
        if arc.head:
            nearness = 1 / (arc.dependent - arc.head)
            ends.setdefault(arc.head, []).append((nearness, index))
            ends.setdefault(arc.dependent, []).append((-nearness, index))
        else:
            ends.setdefault(arc.dependent, []).append((0.0, index))
    offsets = {}
    for position, at_word in ends.items():
        gap = min(END_GAP, (widths[position - 1] + WORD_GAP / 2) / len(at_word))
        for rank, (_, index) in enumerate(sorted(at_word)):
            offsets[index, position] = gap * (rank - (len(at_word) - 1) / 2)
    return offsets
