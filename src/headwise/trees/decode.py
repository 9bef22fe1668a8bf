"""From head distributions to trees: greedy head selection (Eq. 8) and repair (Sec. 3.3).

Only outputs that are not (projective) trees yet are repaired, by a maximum spanning tree algorithm.
With constraints, it is the same with what they leave of the distributions. The algorithms
themselves are in `chu_liu_edmonds` and `eisner`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.grouping import batches
from headwise.settings.choices import ArcWeights, Decoder
from headwise.trees.allowed import allowed_arcs, entered_sets, enters_once, no_tree
from headwise.trees.chu_liu_edmonds import best_tree
from headwise.trees.constraints import Constraints
from headwise.trees.eisner import best_projective_tree, best_projective_trees
from headwise.trees.k_best import k_best_trees
from headwise.trees.k_best_projective import k_best_projective_trees
from headwise.trees.tree import Heads, ScoreMatrix, is_projective, is_tree, n_roots

# Eisner batches hold at most so many padded cells (24 MiB of chart), however long the list is.
MAX_CHART_CELLS = 2**20
# Rounding in a softmax may leave a log-probability this far above 0.
_LOG_PROB_SLACK = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The heads `[N+1]` chosen for one sentence, and how they came about.

    With `how == "greedy"` the heads are the argmax of Eq. 8, untouched; they are surely a tree only
    if a tree was asked for. Compared by identity, because arrays have no single truth value.
    """

    heads: Heads
    how: Decoder


def greedy(head_log_probs: ScoreMatrix) -> Heads:
    """Return for each word its most probable head `[N+1]` (Eq. 8), the word itself included.

    Args:
        head_log_probs: `[N+1, N+1]`, `[dependent, head]`; row 0 is never read.
    """
    heads: Heads = head_log_probs.argmax(axis=1).astype(np.int32)
    heads[0] = 0
    return heads


def decode_batch(
    head_log_probs: Sequence[ScoreMatrix],
    decoder: Decoder,
    single_root: bool,
    weights: ArcWeights,
    max_cells: int = MAX_CHART_CELLS,
    constraints: Sequence[Constraints | None] | None = None,
) -> list[Tree]:
    """Select the heads of each sentence, in order; one does not depend on the others.

    Example: with `head_log_probs[1] = [-3, -9, -1]` and `head_log_probs[2] = [-2, -1, -9]` the
    argmax is 1 -> 2 -> 1, not a tree. Of the trees `[0, 0, 1]` (-3 - 1), `[0, 2, 0]` (-1 - 2) and
    `[0, 0, 0]` (-3 - 2), "mst" and "eisner" return `[0, 2, 0]`, and "greedy" the cycle.

    Args:
        head_log_probs: for each sentence `[N+1, N+1]`, `[dependent, head]`, finite; row 0 is never
            read.
        decoder: "greedy" never repairs, "mst" repairs to a tree, "eisner" to a projective tree.
        single_root: whether a repaired output, and one that passes unrepaired, has one root.
        weights: what repair sums up. The paper has s(i, j) = P_head, "probability"; sums of
            "log-probability" give the most probable tree.
        max_cells: in the padded matrices that Eisner's algorithm takes at a time.
        constraints: for each sentence what its tree must look like, None for anything. A sentence
            with constraints on arcs gets a tree, with "greedy" as with "mst".

    Raises:
        ConfigError: if no tree satisfies the constraints.
        ValueError: if a matrix is not square, or not finite outside row 0; the message gives its
            position in the list.
    """
    for position, matrix in enumerate(head_log_probs):
        _check(matrix, position, weights)
    if constraints is not None:
        pairs = zip(head_log_probs, constraints, strict=True)
        how = (decoder, single_root, weights)
        return [_decode_constrained(matrix, *how, asked) for matrix, asked in pairs]
    trees = [Tree(greedy(matrix), "greedy") for matrix in head_log_probs]
    broken = [i for i, t in enumerate(trees) if not _is_accepted(t.heads, decoder, single_root)]
    if decoder == "mst":
        for i in broken:
            heads = best_tree(_repair_scores(head_log_probs[i], weights), single_root)
            trees[i] = Tree(heads, "mst")
        return trees
    n_slots = [len(head_log_probs[i]) for i in broken]
    for positions in batches(n_slots, lambda n, longest: n * longest**2, max_cells):
        batch = [broken[position] for position in positions]
        matrices = [_repair_scores(head_log_probs[i], weights) for i in batch]
        lengths = np.array([len(matrix) - 1 for matrix in matrices])
        repaired = best_projective_trees(_pad(matrices), lengths, single_root)
        for i, heads in zip(batch, repaired, strict=True):
            trees[i] = Tree(heads, "eisner")
    return trees


def decode_k_best(
    head_log_probs: ScoreMatrix,
    k: int,
    decoder: Decoder,
    single_root: bool,
    constraints: Constraints | None = None,
) -> list[Heads]:
    """Return the heads `[N+1]` of the k most probable trees, best first; fewer if there are fewer.

    Args:
        head_log_probs: `[N+1, N+1]`, `[dependent, head]`, finite; row 0 is never read.
        k: how many trees.
        decoder: with "eisner" trees are projective.
        single_root: whether trees have exactly one root.
        constraints: what trees must look like.

    Raises:
        ConfigError: if there is no such tree.
        ValueError: as `decode_batch` does.
    """
    _check(head_log_probs, 0, "log-probability")
    projective = decoder == "eisner"
    n_words = len(head_log_probs) - 1
    constraints = constraints or Constraints()
    allowed = allowed_arcs(constraints, n_words, single_root, projective)
    scores = np.where(allowed, head_log_probs, -np.inf)
    sets = entered_sets(constraints.subtrees, n_words, single_root and not projective)
    if projective:
        trees = k_best_projective_trees(scores, k, single_root, sets)
    else:
        trees = k_best_trees(scores, k, sets)
    if not trees:
        raise no_tree(allowed, projective)
    return trees


def _decode_constrained(
    matrix: ScoreMatrix,
    decoder: Decoder,
    single_root: bool,
    weights: ArcWeights,
    constraints: Constraints | None,
) -> Tree:
    """Select the heads of one sentence: of those that are allowed, the best, if they are a tree."""
    if constraints is not None:
        constraints.check_length(len(matrix) - 1)
    if constraints is None or not constraints.limits_trees:
        return decode_batch([matrix], decoder, single_root, weights)[0]
    projective = decoder == "eisner"
    n_words = len(matrix) - 1
    allowed = allowed_arcs(constraints, n_words, single_root, projective)
    sets = entered_sets(constraints.subtrees, n_words, single_root)
    heads = greedy(np.where(allowed, matrix, -np.inf))
    if is_tree(heads) and enters_once(heads, sets) and (not projective or is_projective(heads)):
        return Tree(heads, "greedy")
    scores = np.where(allowed, _repair_scores(matrix, weights), -np.inf)
    sets = sets if constraints.subtrees else sets[:0]  # one root alone needs no pairs
    if projective:
        return Tree(best_projective_tree(scores, single_root, sets), "eisner")
    return Tree(best_tree(scores, single_root, sets), "mst")


def _check(matrix: ScoreMatrix, position: int, weights: ArcWeights) -> None:
    """Refuse a matrix the decoders cannot give a tree for."""
    where = f"head_log_probs[{position}]"
    if matrix.size == 0 or matrix.shape != (len(matrix), len(matrix)):
        raise ValueError(f"{where}: shape is {list(matrix.shape)}, must be [N+1, N+1]")
    finite = np.isfinite(matrix[1:])
    if not finite.all():
        word, head = (int(index) for index in np.argwhere(~finite)[0] + (1, 0))
        raise ValueError(f"{where}: value at [{word}, {head}] is {matrix[word, head]}, not finite")
    if weights == "probability" and matrix[1:].max(initial=0.0) > _LOG_PROB_SLACK:
        raise ValueError(
            f"{where}: largest value is {matrix[1:].max()}, but log-probabilities are at most 0\n"
            'hint: weights="log-probability" takes any finite scores'
        )


def _is_accepted(heads: Heads, decoder: Decoder, single_root: bool) -> bool:
    """Return whether greedy `heads` `[N+1]` need no repair."""
    if decoder == "greedy" or len(heads) == 1:
        return True
    if single_root and n_roots(heads) != 1:
        return False
    return is_tree(heads) and (decoder == "mst" or is_projective(heads))


def _repair_scores(matrix: ScoreMatrix, weights: ArcWeights) -> NDArray[np.float64]:
    """Return a copy `[N+1, N+1]` to sum up in, with row 0, which may hold anything, cleared."""
    scores = np.array(matrix, dtype=np.float64)
    scores[0] = 0.0
    return np.exp(scores, out=scores) if weights == "probability" else scores


def _pad(matrices: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Stack matrices of different size, `[B, N+1, N+1]` for the largest; without copy if alone."""
    if len(matrices) == 1:
        return matrices[0][np.newaxis]  # [1, N+1, N+1]
    largest = max(len(matrix) for matrix in matrices)
    padded = np.zeros((len(matrices), largest, largest))  # [B, N+1, N+1]
    for row, matrix in zip(padded, matrices, strict=True):
        row[: len(matrix), : len(matrix)] = matrix
    return padded
