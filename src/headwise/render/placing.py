"""Where the words and the ends of arcs go in a picture with words in a row, in pixels.

There are no font metrics here, so the width of text is estimated from its characters, generously.
Words are as close as their texts allow, and as far apart as the labels of their arcs need.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from headwise.render.arcs import Arc
from headwise.render.cells import cell_width

WORD_GAP = 18.0
LABEL_PAD = 16.0
"""Room for the rounded corners at both sides of a label."""
LEG_GAP = 7.0
MARGIN = WORD_GAP
_NARROW = frozenset("ijltfrI.,:;'`|!()[]{}/\\ -")
_BROAD = frozenset("mwMWQO@%&")


def text_length(text: str, size: float) -> float:
    """Estimate the length of visible text in a sans-serif font of `size` pixels."""
    return size * sum(map(_ems, text))


def _ems(character: str) -> float:
    if (cells := cell_width(character)) != 1:
        return cells * 0.55
    if character in _NARROW:
        return 0.36
    if character in _BROAD:
        return 0.9
    return 0.68 if character.isupper() or character > "\u08ff" else 0.58


@dataclass(frozen=True, slots=True)
class Places:
    """`centres` of the words, and for each arc where it starts and where it ends."""

    centres: tuple[float, ...]
    legs: tuple[tuple[float, float], ...]
    width: float


def place(
    word_lengths: Sequence[float], arcs: Sequence[Arc], label_lengths: Sequence[float]
) -> Places:
    """Place words from left to right, each as far left as texts and labels allow.

    Args:
        word_lengths: of each word with what stands under it.
        arcs: those to be drawn; one from ROOT starts where it ends.
        label_lengths: of each arc.
    """
    offsets = _leg_offsets(word_lengths, arcs)
    ends_at: dict[int, list[int]] = {}
    for index, arc in enumerate(arcs):
        if arc.head:
            ends_at.setdefault(arc.span[1], []).append(index)
    centres: list[float] = []
    edge = MARGIN
    for position, length in enumerate(word_lengths, 1):
        centre = edge + length / 2
        for index in ends_at.get(position, ()):
            left = arcs[index].span[0]
            start = centres[left - 1] + offsets[index, left]
            needed = label_lengths[index] + LABEL_PAD
            centre = max(centre, start + needed - offsets[index, position])
        centres.append(centre)
        edge = centre + length / 2 + WORD_GAP
    legs = (
        tuple(
            centres[end - 1] + offsets[index, end]
            for end in (arc.head or arc.dependent, arc.dependent)
        )
        for index, arc in enumerate(arcs)
    )
    return Places(tuple(centres), tuple((start, end) for start, end in legs), edge)


def _leg_offsets(
    word_lengths: Sequence[float], arcs: Sequence[Arc]
) -> dict[tuple[int, int], float]:
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
    for position, there in ends.items():
        gap = min(LEG_GAP, (word_lengths[position - 1] + WORD_GAP / 2) / len(there))
        for rank, (_, index) in enumerate(sorted(there)):
            offsets[index, position] = gap * (rank - (len(there) - 1) / 2)
    return offsets


def mirror(places: Places) -> Places:
    """Turn places around for words that go from right to left."""
    width = places.width
    return Places(
        tuple(width - centre for centre in places.centres),
        tuple((width - start, width - end) for start, end in places.legs),
        width,
    )
