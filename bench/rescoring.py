"""Scores of heads that take corrections of other words into account: a small log-linear model.

Head selection scores each word by itself (Eq. 5), so that a correction reaches other words only
through the tree. But errors come together: if the root was wrong, what hung on the wrong root moves
along. Here a word's log-probability of a head gets a weighted sum of features, each of which says
how the arc is related to a correction of another word. Weights maximise the likelihood of the gold
heads of words that are not fixed, given the corrections so far (Newton's method, a Gaussian prior).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]
FEATURES = (
    "follow",  # a word of the same old head moves to the same new head
    "follow, punctuation",
    "follow, same label",
    "under the new root",  # dependents of the old root hang on the new one
    "old root under the new",
    "under the raised word",  # w is raised to the head of its head: the others follow w
    "old head under the raised word",
    "replaced",  # another subject, object, ... of the new head stays
    "replaced, under the new one",
    "dependents of the replaced",
    "stays with a moved word",
    "new head",
    "crosses",  # the arc crosses the corrected one
    "between",  # words between a corrected word and its head hang on one of them
    "near",  # the log-probability again, of words near a correction
)
N_STEPS = 8
NEAR = 3
_LOWEST = -20.0
_LARGEST_STEP = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class FirstTree:
    """The tree before any correction: heads and labels `[N+1]`, and which labels are what.

    Slot 0 is ROOT. `is_punctuation` and `is_unique` are `[R]`: labels of punctuation, and labels
    that a head has once, such as subjects.
    """

    heads: Ints
    labels: Ints
    is_punctuation: Bools
    is_unique: Bools


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What is known after some corrections: an example to learn from.

    `log_probs` is `[N+1, N+1]`, `features` `[N+1, N+1, F]`, `gold` heads are `[N+1]`; `rows` are
    the words that are not fixed.
    """

    log_probs: Floats
    features: Floats
    gold: Ints
    rows: Ints


def features_of(
    log_probs: Floats, first: FirstTree, moved: Mapping[int, int], labels: Mapping[int, int]
) -> Floats:
    """Return the features of all arcs, `[N+1, N+1, F]`.

    Args:
        log_probs: `[N+1, N+1]`, `[dependent, head]`
        first: the tree before any correction.
        moved: corrected words and their new heads, where they differ from the old.
        labels: the labels of fixed words.
    """
    n_slots = len(log_probs)
    features = np.zeros((n_slots, n_slots, len(FEATURES)))
    at = dict(zip(FEATURES, np.moveaxis(features, 2, 0), strict=True))
    position = np.arange(n_slots)
    floored = np.maximum(log_probs, _LOWEST)
    is_punctuation = first.is_punctuation[first.labels]
    for word, new in moved.items():
        old = int(first.heads[word])
        siblings = _dependents(first, old)
        at["follow"][siblings, new] = 1
        at["follow, punctuation"][siblings & is_punctuation, new] = 1
        at["follow, same label"][siblings & (first.labels == first.labels[word]), new] = 1
        if new == 0:
            for root in np.flatnonzero(siblings if old == 0 else _dependents(first, 0)):
                at["under the new root"][_dependents(first, int(root)), word] = 1
                at["old root under the new"][root, word] = 1
        elif old > 0 and first.heads[old] == new:
            at["under the raised word"][siblings, word] = 1
            at["old head under the raised word"][old, word] = 1
        label = labels.get(word, -1)
        if new > 0 and label >= 0 and first.is_unique[label]:
            rivals = _dependents(first, new) & (first.labels == label) & (position != word)
            at["replaced"][rivals, new] = 1
            at["replaced, under the new one"][rivals, word] = 1
            for rival in np.flatnonzero(rivals):
                at["dependents of the replaced"][_dependents(first, int(rival)), word] = 1
        at["stays with a moved word"][_dependents(first, word), word] = 1
        at["new head"][:, new] = 1
        left, right = sorted((word, new))
        inside = (position > left) & (position < right)
        outside = (position < left) | (position > right)
        at["crosses"][np.ix_(inside, outside)] = 1
        at["crosses"][np.ix_(outside, inside)] = 1
        at["between"][inside, new] = at["between"][inside, word] = 1
        near = np.abs(position - word) <= NEAR
        at["near"][near] = floored[near]
    return features


def _dependents(first: FirstTree, head: int) -> Bools:
    mask: Bools = first.heads == head
    mask[0] = False
    return mask


def rescore(log_probs: Floats, features: Floats, weights: Floats) -> Floats:
    """Add the weighted features `[N+1, N+1, F]` to log-probabilities, and normalise the rows."""
    scores = log_probs + features @ weights
    scores[1:] -= np.logaddexp.reduce(scores[1:], axis=1, keepdims=True)
    return np.asarray(scores)


def fit_weights(states: Sequence[State], start: Floats, prior: float = 1.0) -> Floats:
    """Find the weights `[F]` under which the gold heads are most probable."""
    weights = start
    for _ in range(N_STEPS):
        gradient = -prior * weights
        hessian = -prior * np.eye(len(FEATURES))
        for state in states:
            features = state.features[state.rows]  # [rows, N+1, F]
            scores = state.log_probs[state.rows] + features @ weights
            scores -= np.logaddexp.reduce(scores, axis=1, keepdims=True)
            probs = np.exp(scores)  # [rows, N+1]
            expected = np.einsum("rh,rhf->rf", probs, features)
            chosen = features[np.arange(len(state.rows)), state.gold[state.rows]]  # [rows, F]
            gradient += (chosen - expected).sum(axis=0)
            flat = features.reshape(-1, len(FEATURES))
            hessian -= (flat * probs.reshape(-1, 1)).T @ flat - expected.T @ expected
        step = np.linalg.solve(hessian, gradient)
        weights = weights - np.clip(step, -_LARGEST_STEP, _LARGEST_STEP)
    return weights
