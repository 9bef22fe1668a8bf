"""Why no tree has everything that a person fixed, and what to unfix so that one does."""

from collections.abc import Callable, Mapping, Sequence

from headwise.annotate.marks import Marks, constraints_of
from headwise.arrays import FloatArray
from headwise.errors import ConfigError
from headwise.treebank.sentence import Sentence
from headwise.trees.constraints import Constraints, name_words

Try = Callable[[Constraints], object]
"""Makes a tree that satisfies constraints, or raises a `ConfigError`."""


class ContradictionError(Exception):
    """What is fixed contradicts itself: the reason, and the words to unfix."""

    def __init__(self, what: str, unfix: Sequence[int]) -> None:
        """Keep both."""
        super().__init__(what)
        self.what = what
        self.unfix = list(unfix)


def explain(
    sentence: Sentence,
    marks: Marks,
    head_log_probs: FloatArray,
    word: int | None,
    attempt: Try,
    error: ConfigError,
) -> ContradictionError:
    """Describe a contradiction, and find the fewest, least probable heads to release.

    Args:
        sentence: with the fixed heads.
        marks: what is fixed and forbidden.
        head_log_probs: `[N+1, N+1]`, `[dependent, head]`.
        word: the word that was changed last, which is kept if possible.
        attempt: raises a `ConfigError` as long as there is no tree.
        error: the error that it raised.
    """
    heads = {
        i: head
        for i, (head, fixed) in enumerate(zip(sentence.heads, marks.fixed, strict=True), 1)
        if "Head" in fixed and head is not None
    }
    cycle = find_cycle(heads, word)
    candidates = cycle[1:] or cycle or [i for i in heads if i != word]
    candidates.sort(key=lambda i: float(head_log_probs[i, heads[i]]))
    refused = [i for i, given in enumerate(marks.not_heads, 1) if given and i not in candidates]
    unfix = _fewest([*candidates, *refused], word, sentence, marks, attempt)
    return ContradictionError(_describe_cycle(cycle) if cycle else error.what, unfix)


def find_cycle(heads: Mapping[int, int], word: int | None) -> list[int]:
    """Find words that form a cycle, from `word` on if it is one of them."""
    for start in [word, *heads] if word in heads else heads:
        assert start is not None
        path = [start]
        while heads.get(path[-1], 0) and heads[path[-1]] not in path:
            path.append(heads[path[-1]])
        if heads.get(path[-1]) == start:
            return path
    return []


def _describe_cycle(cycle: Sequence[int]) -> str:
    if len(cycle) == 1:
        return f"word {cycle[0]} cannot head itself"
    return f"{cycle[0]} would head itself through {_list(cycle[1:])}"


def _list(words: Sequence[int]) -> str:
    return name_words(words).partition(" ")[2]


def _fewest(
    candidates: Sequence[int], word: int | None, sentence: Sentence, marks: Marks, attempt: Try
) -> list[int]:
    """Find one word whose release is enough, or else release words until there is a tree."""

    def is_enough(released: Sequence[int]) -> bool:
        try:
            attempt(constraints_of(sentence, marks, released))
        except ConfigError:
            return False
        return True

    for one in candidates:
        if is_enough([one]):
            return [one]
    everything = [*candidates, *(i for i in range(1, len(sentence) + 1) if i not in candidates)]
    everything = [i for i in everything if i != word] + ([] if word is None else [word])
    released: list[int] = []
    for one in everything:
        if marks.fixed[one - 1] or marks.not_heads[one - 1]:
            released.append(one)
            if is_enough(released):
                break
    # What turned out not to be needed stays fixed.
    for one in list(released):
        rest = [i for i in released if i != one]
        if rest and is_enough(rest):
            released = rest
    return released
