"""Batches to learn segmentation from: rows of characters with what is around them.

A text is spread out as at runtime, padding between paragraphs, and cut into rows of one length;
each row brings as many characters on either side as the network can see. What is no choice has
the label `IGNORED`: white space, padding, and sentence ends that a blank line decides.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.learn.segment.data import TOKEN_END, GoldText
from headwise.text.scan import FIRST_CHARACTER, PADDING, Alphabet, Scanner
from headwise.text.scan import CharacterIds as Ids
from headwise.text.symbols import PARAGRAPH, SPACE

IGNORED = -1
Targets = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Ids int32 [B, W + 2r]; targets int64 [B, W, 3]: boundary, sentence end, expansion."""

    ids: Ids
    targets: Targets


def make_targets(text: GoldText) -> Targets:
    """Give the three targets of each symbol: [T, 3]."""
    is_gap = np.isin(text.codes, (SPACE, PARAGRAPH))
    following = np.append(text.codes[1:], np.uint32(PARAGRAPH))
    is_end = text.boundary == TOKEN_END
    targets = np.stack([text.boundary, text.sentence, text.expands], axis=1).astype(np.int64)
    targets[is_gap, 0] = IGNORED
    targets[~is_end | (following == PARAGRAPH), 1] = IGNORED
    targets[~is_end, 2] = IGNORED
    return targets


def hide_characters(ids: Ids, alphabet: Alphabet, share: float, random: np.random.Generator) -> Ids:
    """Show only the class of a share of the characters, so that classes are learned too."""
    is_hidden = (ids >= FIRST_CHARACTER) & (random.random(len(ids)) < share)
    return np.where(is_hidden, alphabet.classes[ids], ids)


def make_batches(
    ids: Ids, targets: Targets, reach: int, shape: tuple[int, int], random: np.random.Generator
) -> Iterator[Batch]:
    """Cut ids [T] and targets [T, 3] into rows, from a random place on, in random order.

    `shape` is rows in a batch and characters in a row.
    """
    n_rows, width = shape
    shift = int(random.integers(width))
    n = -(-(shift + len(ids)) // width)
    after = n * width - shift - len(ids)
    ids = np.pad(ids, (reach + shift, after + reach), constant_values=PADDING)
    targets = np.pad(targets, ((shift, after), (0, 0)), constant_values=IGNORED)
    order = random.permutation(n)
    for first in range(0, n, n_rows):
        rows = order[first : first + n_rows] * width
        yield Batch(
            np.stack([ids[row : row + width + 2 * reach] for row in rows]),
            np.stack([targets[row : row + width] for row in rows]),
        )


def spread_text(text: GoldText, scanner: Scanner) -> tuple[Ids, Targets]:
    """Spread symbols and targets out as the runtime does, padding ignored."""
    ids, is_first = scanner.to_ids(text.codes)
    targets = np.full((len(ids), 3), IGNORED, np.int64)
    targets[is_first] = make_targets(text)
    return ids, targets
