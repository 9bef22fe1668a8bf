"""FEATS, feature by feature, so that a combination that training never saw can be written.

Every feature is a choice of its own among the values that training saw, or none. Which features a
word can have depends on its UPOS: only those that training saw with that tag are written. FEATS is
sorted by name without regard to case, as UD asks.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from headwise.arrays import BoolArray, IntArray
from headwise.treebank.sentence import BLANK, Word

ABSENT = 0
"""The value of a feature that a word does not have."""
MAX_CACHED_FEATS = 4_096


@dataclass(frozen=True)
class Features:
    """The features that a model predicts, sorted, with their values, and the tags they go with.

    `values[f]` are the values of feature `f`; position 0, before them, is that of no value.
    """

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    allowed: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Count the features."""
        return len(self.values)

    @cached_property
    def width(self) -> int:
        """The most values of a feature, none included."""
        return 1 + max(map(len, self.values.values()), default=0)

    @cached_property
    def sizes(self) -> IntArray:
        """Count the values of each feature, none included: int32 [features]."""
        return np.array([1 + len(values) for values in self.values.values()], np.int32)

    @cached_property
    def layout(self) -> IntArray:
        """Where the scores of values stand in one row: int32 [features, width], -1 for nowhere.

        The scores of the first feature come first, no value before its values.
        """
        layout = np.full((len(self), self.width), -1, np.int32)
        at = 0
        for row, values in zip(layout, self.values.values(), strict=True):
            row[: len(values) + 1] = np.arange(at, at + len(values) + 1)
            at += len(values) + 1
        return layout

    @cached_property
    def n_scores(self) -> int:
        """Count the scores of all values, none included."""
        return len(self) + sum(map(len, self.values.values()))

    @cached_property
    def score_names(self) -> list[tuple[str, str]]:
        """Name the scores in the order of `layout`: feature and value, empty for no value."""
        return [(name, value) for name, values in self.values.items() for value in ("", *values)]

    @cached_property
    def _positions(self) -> dict[str, dict[str, int]]:
        return {
            name: {value: i for i, value in enumerate(values, 1)}
            for name, values in self.values.items()
        }

    @cached_property
    def _known(self) -> dict[str, tuple[int, ...]]:
        return {}

    def positions_of(self, feats: str) -> tuple[int, ...]:
        """Find the values in FEATS: a position for each feature; unknown values count as none."""
        known = self._known
        if feats not in known:
            given = split_feats(feats)
            if len(known) >= MAX_CACHED_FEATS:
                known.clear()
            known[feats] = tuple(
                positions.get(given.get(name, ""), ABSENT)
                for name, positions in self._positions.items()
            )
        return known[feats]

    def goes_with(self, upos: str) -> BoolArray:
        """Return the features that a word with this tag can have, bool [features]; all if new."""
        allowed = self.allowed.get(upos, self.values)
        return np.array([name in allowed for name in self.values], np.bool_)

    def write(self, positions: Iterable[int]) -> str:
        """Write FEATS of a word; `_` if it has none."""
        parts = [
            f"{name}={values[position - 1]}"
            for (name, values), position in zip(self.values.items(), positions, strict=True)
            if position != ABSENT
        ]
        return "|".join(parts) or BLANK


def has_analysis(word: Word) -> bool:
    """Return whether UPOS or FEATS is given; if neither is, the features of the word are not known.

    With UPOS, `_` in FEATS means that the word has no features.
    """
    return word.upos != BLANK or word.feats != BLANK


def split_feats(feats: str) -> dict[str, str]:
    """Split FEATS into names and values; a part that lacks either is left out."""
    pairs = (part.partition("=") for part in feats.split("|"))
    return {name: value for name, _, value in pairs if name and value}


def join_features(one: Features, other: Features) -> Features:
    """Take all features and values of both, those of the first before those of the second."""
    values = {
        name: tuple(dict.fromkeys((*one.values.get(name, ()), *other.values.get(name, ()))))
        for name in one.values.keys() | other.values.keys()
    }
    none: frozenset[str] = frozenset()
    return Features(
        {name: values[name] for name in sorted(values, key=_by_name)},
        {
            upos: one.allowed.get(upos, none) | other.allowed.get(upos, none)
            for upos in sorted(one.allowed.keys() | other.allowed.keys())
        },
    )


def _by_name(name: str) -> tuple[str, str]:
    return name.lower(), name


def collect_features(words: Iterable[tuple[str, str]]) -> Features:
    """Collect the features of pairs (UPOS, FEATS), sorted by name, their values by frequency."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    allowed: dict[str, set[str]] = defaultdict(set)
    for (upos, feats), n in Counter(words).items():
        names = allowed[upos]
        for name, value in split_feats(feats).items():
            counts[name][value] += n
            names.add(name)
    return Features(
        {
            name: tuple(sorted(counts[name], key=lambda value: (-counts[name][value], value)))
            for name in sorted(counts, key=_by_name)
        },
        {upos: frozenset(names) for upos, names in sorted(allowed.items())},
    )
