"""Which trees satisfy constraints: single arcs as a mask, words that stay together as weights.

Arcs that a tree must or must not have become a mask over the score matrix. "These words are one
subtree" cannot: it is about sets of arcs. But in every tree at least one arc enters every set of
words, since all words reach ROOT. So the trees in which exactly one arc enters each set are those
with the fewest entries in all, and a decoder finds the best of them by weighing arcs by the pair
(sets entered, score). `entry_pairs` makes such weights. An algorithm that only adds, subtracts and
compares works on them unchanged, and takes no longer than twice its time. One root is the same
constraint on the set of all words. Words outside a set may have heads in it.
"""

from collections.abc import Collection, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from headwise.errors import ConfigError
from headwise.trees.constraints import Constraints, check_one_root, name_words
from headwise.trees.tree import Heads, ScoreMatrix, find_crossing


def allowed_arcs(
    constraints: Constraints, n_words: int, single_root: bool, projective: bool = False
) -> NDArray[np.bool_]:
    """Return which arcs a tree may have, `[N+1, N+1]`, `[dependent, head]`; row 0 is all False.

    Raises:
        ConfigError: if no tree of this size satisfies the constraints on single arcs.
    """
    constraints.check_length(n_words)
    allowed = ~np.eye(n_words + 1, dtype=np.bool_)
    allowed[0] = False
    roots = [word for word, head in constraints.heads.items() if head == 0]
    if constraints.root is not None:
        roots = [constraints.root]
    if constraints.root is not None or (single_root and roots):
        check_one_root(roots)
        allowed[:, 0] = False
        allowed[roots[0]] = False
        allowed[roots[0], 0] = True
    for word, head in constraints.heads.items():
        allowed[word] = False
        allowed[word, head] = True
    for word, head in constraints.forbidden:
        allowed[word, head] = False
    _check_heads_left(allowed)
    if projective:
        _check_crossing(constraints.heads)
    return allowed


def entered_sets(
    subtrees: Iterable[Collection[int]], n_words: int, single_root: bool
) -> NDArray[np.bool_]:
    """Return the sets of words that only one arc may enter: subtrees, and with one root all words.

    One mask for each set, `[S, N+1]`. Sets of one word, which one arc enters anyway, are left out.
    """
    sets = {frozenset(words) for words in subtrees}
    sets |= {frozenset(range(1, n_words + 1))} if single_root else set()
    masks = np.zeros((len(sets), n_words + 1), dtype=np.bool_)
    for mask, words in zip(masks, sets, strict=True):
        mask[list(words)] = True
    return np.asarray(masks[masks.sum(axis=1) > 1])


def count_entries(sets: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Count the sets `[S, N+1]` that each arc enters, `[N+1, N+1]`, `[dependent, head]`."""
    holds = sets.astype(np.float64)
    return np.asarray(holds.sum(axis=0)[:, None] - holds.T @ holds)


def entry_pairs(scores: ScoreMatrix, sets: NDArray[np.bool_]) -> NDArray[np.complex128]:
    """Weigh arcs by (minus the sets they enter, score), compared in this order, `[N+1, N+1]`.

    The pairs are complex numbers: numpy adds them part by part and compares real parts first. No
    large constant, so no rounding. An arc that is not there is -inf.

    Args:
        scores: `[N+1, N+1]`, `[dependent, head]`; -inf for arcs that are not there.
        sets: of words, `[S, N+1]`.
    """
    pairs = np.zeros(scores.shape, dtype=np.complex128)
    pairs.real = -count_entries(sets)
    pairs.imag = scores
    pairs[np.isneginf(scores)] = -np.inf
    return pairs


def enters_once(heads: Heads, sets: NDArray[np.bool_]) -> bool:
    """Return whether exactly one arc of `heads` `[N+1]` enters each of the sets `[S, N+1]`."""
    entries = np.count_nonzero(sets & ~sets[:, heads], axis=1)
    return bool((entries == 1).all())


def no_tree(allowed: NDArray[np.bool_], projective: bool) -> ConfigError:
    """Make the error for constraints that no tree satisfies, and say why if it is about arcs.

    Args:
        allowed: `[N+1, N+1]`, `[dependent, head]`
        projective: whether only projective trees were searched.
    """
    reached = np.zeros(len(allowed), dtype=np.bool_)
    reached[0] = True
    for _ in range(len(allowed)):
        reached[1:] |= (allowed[1:] & reached).any(axis=1)
    if not reached.all():
        words = np.flatnonzero(~reached).tolist()
        return ConfigError(f"no path from ROOT is left to {name_words(words)}")
    return ConfigError(
        f"no {'projective ' if projective else ''}tree satisfies all constraints",
        "subtrees, roots and required arcs contradict each other",
    )


def _check_heads_left(allowed: NDArray[np.bool_]) -> None:
    without = np.flatnonzero(~allowed[1:].any(axis=1)) + 1
    if len(without):
        verb = "has" if len(without) == 1 else "have"
        raise ConfigError(f"{name_words(without.tolist())} {verb} no head left")
    if len(allowed) > 1 and not allowed[:, 0].any():
        raise ConfigError("no word is left that may be the root")


def _check_crossing(heads: Mapping[int, int]) -> None:
    """Refuse required arcs that cross, for projective trees."""
    crossing = find_crossing(heads.items())
    if crossing is not None:
        first, second = (f"{head} -> {word}" for word, head in sorted(crossing))
        what = f"the arcs {first} and {second} cross"
        raise ConfigError(what, "trees with crossing arcs need the decoder mst")
