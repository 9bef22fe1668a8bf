"""Random constraints, and all trees that satisfy them, straight from the definitions."""

import numpy as np
from brute_force import all_trees

from headwise.errors import ConfigError
from headwise.trees.constraints import Constraints


def satisfies(heads: np.ndarray, constraints: Constraints) -> np.ndarray:
    """Tell for each row of `heads` `[T, N+1]` whether it is what the constraints ask for."""
    fits = np.ones(len(heads), dtype=bool)
    for word, head in constraints.heads.items():
        fits &= heads[:, word] == head
    for word, head in constraints.forbidden:
        fits &= heads[:, word] != head
    if constraints.root is not None:
        on_root = heads[:, 1:] == 0
        fits &= on_root[:, constraints.root - 1] & (on_root.sum(axis=1) == 1)
    for words in constraints.subtrees:
        outside = [~np.isin(heads[:, word], list(words)) for word in words]
        fits &= np.sum(outside, axis=0) == 1
    return fits


def constrained_trees(
    constraints: Constraints, n_words: int, single_root: bool, projective: bool
) -> np.ndarray:
    """Return every tree that satisfies the constraints, `[T, N+1]`."""
    trees = all_trees(n_words, single_root, projective)
    return trees[satisfies(trees, constraints)]


def random_constraints(random: np.random.Generator, n_words: int) -> Constraints:
    """Return constraints that do not contradict themselves; a sentence may have no such tree."""
    while True:
        words = np.arange(1, n_words + 1)
        required = random.choice(words, random.integers(0, n_words // 2 + 1), replace=False)
        subtrees = [
            words[start : start + size].tolist() if random.random() < 0.5 else
            random.choice(words, size, replace=False).tolist()
            for start, size in random.integers(1, n_words + 1, (random.integers(0, 3), 2))
        ]  # fmt: skip
        try:
            return Constraints(
                heads={int(word): int(random.integers(0, n_words + 1)) for word in required},
                forbidden=[
                    (int(word), int(head))
                    for word, head in random.integers(0, n_words + 1, (random.integers(0, 6), 2))
                    if word > 0
                ],
                root=int(random.choice(words)) if random.random() < 0.2 else None,
                subtrees=[words for words in subtrees if words],
            )
        except ConfigError:
            continue
