"""The distribution over all trees of a sentence: arcs, entropy, the probability of a tree.

Eq. 5 gives every word a distribution over heads, by itself. Here the heads of a sentence are drawn
together, given that they are a tree: P(tree) is proportional to the product of P_head of its arcs.
Sums over all trees are left to `matrix_tree`, those over projective trees to `inside_outside`.

If numbers get too small for `plain_arc_marginals`, or words are to stay together, logs are summed.
Then sets of words that only one arc may enter (see `allowed`), all words among them if there is one
root, are dealt with by lowering the scores of arcs that enter them: by so much that all trees with
an entry more, together, are 0 in float64. Log space has room for that, at the price of a few
digits: of 40 words with log-probabilities down to -80, some 12 are left.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.trees.allowed import allowed_arcs, count_entries, entered_sets, no_tree
from headwise.trees.constraints import Constraints
from headwise.trees.inside_outside import projective_marginals
from headwise.trees.matrix_tree import arc_marginals, plain_arc_marginals
from headwise.trees.tree import Heads, ScoreMatrix

_NEGLIGIBLE = 800.0
"""exp(-800) is 0 in float64."""


@dataclass(frozen=True, slots=True, eq=False)
class TreeDistribution:
    """The probabilities of all trees of one sentence.

    Attributes:
        scores: `[N+1, N+1]`, `[dependent, head]`, -inf for an arc that no tree may have.
        marginals: the probability of each arc over all trees, `[N+1, N+1]`; the row of each word
            sums to one.
        log_total: the log of the sum of all trees' exponentiated scores.
    """

    scores: NDArray[np.float64]
    marginals: NDArray[np.float64]
    log_total: float

    @property
    def entropy(self) -> float:
        """How uncertain the tree is, in nats: 0 if there is only one."""
        counts = self.marginals > 0.0
        expected = float(np.sum(self.marginals[counts] * self.scores[counts]))
        return max(0.0, self.log_total - expected)

    def log_prob(self, heads: Heads) -> float:
        """Return the log-probability of a tree, `[N+1]`, that is known to be one of them."""
        words = np.arange(1, len(heads))
        return float(self.scores[words, heads[1:]].sum()) - self.log_total


def distribution_of_trees(
    head_log_probs: ScoreMatrix,
    *,
    projective: bool,
    single_root: bool,
    constraints: Constraints | None = None,
) -> TreeDistribution:
    """Sum over all trees of a sentence, or over those that satisfy the constraints.

    Args:
        head_log_probs: `[N+1, N+1]`, `[dependent, head]`, finite, or -inf for an arc that no tree
            may have; row 0 and the diagonal are never read.
        projective: whether arcs may not cross.
        single_root: whether exactly one word may be attached to ROOT.
        constraints: what trees must look like.

    Raises:
        ConfigError: if there is no such tree.
    """
    n_words = len(head_log_probs) - 1
    constraints = constraints or Constraints()
    allowed = allowed_arcs(constraints, n_words, single_root, projective)
    scores = np.where(allowed, head_log_probs, -np.inf).astype(np.float64)
    n_possible_roots = np.count_nonzero(scores[:, 0] > -np.inf)
    one_root = bool(single_root and not projective and n_possible_roots > 1)
    if not projective and not constraints.subtrees:
        plain = plain_arc_marginals(scores, one_root)
        if plain is not None:
            return TreeDistribution(scores, marginals=plain[1], log_total=plain[0])
    sets = entered_sets(constraints.subtrees, n_words, one_root)
    entries = count_entries(sets)  # [N+1, N+1]
    cost = _cost_of_entry(scores) if len(sets) else 0.0
    lowered = scores - cost * entries
    if projective:
        log_total, marginals = projective_marginals(lowered, single_root)
    else:
        log_total, marginals = arc_marginals(lowered)
    # Each set has one entry at least; if there is a tree with one each, no others count.
    if log_total == -np.inf or float((marginals * entries).sum()) > len(sets) + 0.5:
        raise no_tree(scores > -np.inf, projective)
    return TreeDistribution(scores, marginals, log_total + cost * len(sets))


def _cost_of_entry(scores: NDArray[np.float64]) -> float:
    """Return a cost beside which all differences between trees, and their number, are nothing."""
    finite = scores > -np.inf
    highest = scores.max(axis=1, initial=-np.inf)[1:]
    lowest = scores.min(axis=1, initial=np.inf, where=finite)[1:]
    n_words = len(highest)
    return float((highest - lowest).sum() + n_words * np.log(n_words + 1) + _NEGLIGIBLE)
