"""What a person or a program asks of the tree of one sentence.

`Constraints` is a value that is checked by itself: contradictions are refused by name. What depends
on the sentence, and what the decoders make of it, is in `allowed`. Fixed labels are kept here too,
but trees know no labels: a parser uses them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from headwise.errors import ConfigError, plural
from headwise.treebank.sentence import VALUE_HINT, is_value

Position = Annotated[int, Meta(ge=1)]
HeadPosition = Annotated[int, Meta(ge=0)]
_MOST_NAMED = 8


class Constraints(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the tree of one sentence must look like. Words are 1..N, and head 0 is ROOT.

    Contradictions are refused: those that need no sentence at once, the others by `allowed`.
    """

    heads: Mapping[Position, HeadPosition] = {}
    """Words and the heads they must have."""
    forbidden: Sequence[tuple[Position, HeadPosition]] = ()
    """Pairs of a word and a head it must not have."""
    root: Position | None = None
    """The only word whose head is ROOT."""
    subtrees: Sequence[Sequence[Position]] = ()
    """Sets of words; all words of a set but one have their head in the set."""
    labels: Mapping[Position, str] = {}
    """Words and the labels they must have."""

    def __post_init__(self) -> None:
        """Refuse contradictions."""
        self._check_numbers()
        forbidden = {tuple(arc) for arc in self.forbidden}
        required = set(self.heads.items())
        if self.root is not None:
            if self.heads.get(self.root, 0) != 0:
                what = f"word {self.root} cannot be the root and have head {self.heads[self.root]}"
                raise ConfigError(what)
            required.add((self.root, 0))
            check_one_root(word for word, head in required if head == 0)
        for word, head in sorted(required & forbidden):
            raise ConfigError(f"word {word}: head {head} is both required and forbidden")
        _check_circles(self.heads)
        subtrees = [frozenset(words) for words in self.subtrees]
        _check_nested(subtrees)
        head_of = dict(required)
        for words in subtrees:
            outside = [word for word in sorted(words) if head_of.get(word, word) not in words]
            if len(outside) > 1:
                what = f"{name_words(outside[:2])} cannot both have a head outside of the subtree"
                raise ConfigError(f"{what} of {name_words(sorted(words))}")

    def _check_numbers(self) -> None:
        """Refuse numbers that no sentence has, which only JSON is checked for before."""
        words = [*self.heads, *self.labels, *(word for word, _ in self.forbidden)]
        words += [word for words in self.subtrees for word in words]
        words += [] if self.root is None else [self.root]
        if min(words, default=1) < 1:
            raise ConfigError(f"there is no word {min(words)}", "words are numbered from 1")
        heads = [*self.heads.values(), *(head for _, head in self.forbidden)]
        if min(heads, default=0) < 0:
            raise ConfigError(f"there is no head {min(heads)}", "0 is ROOT")
        if any(len(words) == 0 for words in self.subtrees):
            raise ConfigError("a subtree has no words")
        for word, label in self.labels.items():
            if not is_value(label):
                raise ConfigError(f"{label[:40]!r} cannot be the label of word {word}", VALUE_HINT)

    @property
    def limits_trees(self) -> bool:
        """Whether anything but labels is asked for."""
        return bool(self.heads or self.forbidden or self.root or self.subtrees)

    @property
    def size(self) -> int:
        """The number of arcs, labels and words of subtrees."""
        n_words = sum(map(len, self.subtrees))
        return len(self.heads) + len(self.forbidden) + len(self.labels) + n_words

    def check_length(self, n_words: int) -> None:
        """Refuse positions outside a sentence of `n_words` words."""
        positions = [*self.heads, *self.heads.values(), *self.labels, self.root or 0]
        positions += [position for arc in self.forbidden for position in arc]
        positions += [position for words in self.subtrees for position in words]
        if max(positions) > n_words:
            hint = f"the sentence has {plural(n_words, 'word')}"
            raise ConfigError(f"there is no word {max(positions)}", hint)


def name_words(words: Collection[int]) -> str:
    """Name words in a message: `word 3`, `words 3 and 5`, `words 3, 5 and 7`."""
    numbers = [str(word) for word in words]
    if len(numbers) > _MOST_NAMED:
        numbers = [*numbers[: _MOST_NAMED - 1], f"{len(numbers) - _MOST_NAMED + 1} more"]
    if len(numbers) == 1:
        return f"word {numbers[0]}"
    return f"words {', '.join(numbers[:-1])} and {numbers[-1]}"


def check_one_root(roots: Iterable[int]) -> None:
    """Refuse several words that are all the only root."""
    words = sorted(set(roots))
    if len(words) > 1:
        raise ConfigError(f"{name_words(words[:2])} cannot both be the root")


def _check_circles(heads: Mapping[int, int]) -> None:
    """Refuse heads that lead from a word back to it."""
    seen_from: dict[int, int] = {}
    for start in heads:
        word = start
        while word in heads and word not in seen_from:
            seen_from[word] = start
            word = heads[word]
        if seen_from.get(word) == start and word in heads:
            circle = [word]
            while heads[circle[-1]] != word:
                circle.append(heads[circle[-1]])
            whom = "itself" if len(circle) == 1 else "each other"
            raise ConfigError(f"{name_words(sorted(circle))} cannot head {whom}")


def _check_nested(subtrees: Iterable[frozenset[int]]) -> None:
    """Refuse sets of which two overlap and neither contains the other."""
    smallest: dict[int, frozenset[int]] = {}
    for subtree in sorted(set(subtrees), key=len, reverse=True):
        around = {smallest.get(word, frozenset()) for word in subtree}
        if len(around) > 1:
            other = next(words for words in around if words and not subtree <= words)
            first, second = sorted((sorted(subtree), sorted(other)))
            what = f"the subtrees of {name_words(first)} and of {name_words(second)} overlap"
            raise ConfigError(what, "one may contain the other, or they share no word")
        smallest.update(dict.fromkeys(subtree, subtree))
