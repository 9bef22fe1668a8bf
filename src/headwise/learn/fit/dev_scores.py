"""Scores of a network on dev: heads, trees, labels and tags.

Each process scores its part of dev; the scores are those of all processes together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from headwise.arrays import BoolArray, IntArray
from headwise.learn.data.treebanks import Examples
from headwise.learn.fit.distributed import ALONE, Group
from headwise.learn.scorer import TorchScorer
from headwise.runtime.scorer import Selection
from headwise.settings.parsing import DecodeConfig
from headwise.trees.decode import decode_batch, greedy
from headwise.trees.tree import is_tree
from headwise.vocabulary.vocab import N_SPECIALS, PAD


@dataclass(frozen=True, slots=True)
class DevScores:
    """Scores on dev, in percent; no LAS while labels are not trained yet."""

    uas: float
    tree_rate: float
    las: float | None = None
    tags: Mapping[str, float] = field(default_factory=dict)


def score_dev(
    scorer: TorchScorer, dev: Examples, decode: DecodeConfig | None, group: Group = ALONE
) -> DevScores:
    """Score greedy heads, tags (every word), and labels of trees decoded by `decode`, if given."""
    selections = scorer.select_encoded(dev.encoded)
    uas, tree_rate = score_heads(selections, dev, group)
    las = None
    if decode is not None:
        las = score_labels(scorer, selections, best_heads(selections, decode), dev, group)
    pairs = list(zip(selections, dev.gold, strict=True))
    tags: dict[str, float] = {
        column: _percent([_right(chosen.tags[i], gold.tags[i]) for chosen, gold in pairs], group)
        for i, column in enumerate(scorer.vocab.outputs)
    }
    return DevScores(uas, tree_rate, las, tags)


def _right(chosen: IntArray, gold: IntArray) -> BoolArray:
    """Compare positions with gold ids: bool [N] without the words whose column is blank.

    Of FEATS [N+1, features] all must be right.
    """
    given = gold[1:].reshape(len(gold) - 1, -1)
    right = (chosen[1:].reshape(given.shape) + N_SPECIALS == given).all(axis=1)
    return np.asarray(right[(given != PAD).all(axis=1)])


def best_heads(selections: Sequence[Selection], decode: DecodeConfig) -> list[IntArray]:
    """Decode the best tree of each sentence: heads [N+1]."""
    matrices = [selection.head_log_probs for selection in selections]
    trees = decode_batch(matrices, decode.decoder, decode.single_root, decode.weights)
    return [tree.heads for tree in trees]


def score_heads(
    selections: Sequence[Selection], examples: Examples, group: Group = ALONE
) -> tuple[float, float]:
    """Score greedy heads: UAS of the words that count, and the share of trees, in percent."""
    chosen = [greedy(selection.head_log_probs) for selection in selections]
    right = [
        (heads == gold.heads)[scored]
        for heads, gold, scored in zip(chosen, examples.gold, examples.scored, strict=True)
    ]
    trees = np.array([is_tree(heads) for heads in chosen], np.bool_)
    return _percent(right, group), _percent([trees], group)


def score_labels(
    scorer: TorchScorer,
    selections: Sequence[Selection],
    heads: Sequence[IntArray],
    examples: Examples,
    group: Group = ALONE,
) -> float:
    """Score labelled arcs of given trees: LAS of the words that count, in percent."""
    right = []
    for log_probs, chosen, gold, scored in zip(
        scorer.label(selections, heads), heads, examples.gold, examples.scored, strict=True
    ):
        labels = log_probs.argmax(1) + N_SPECIALS
        both = (chosen[1:] == gold.heads[1:]) & (labels == gold.labels[1:])
        right.append(both[scored[1:]])
    return _percent(right, group)


def _percent(right: Sequence[BoolArray], group: Group) -> float:
    n_right, n = group.total(sum(int(part.sum()) for part in right), sum(map(len, right)))
    return 100 * n_right / n if n else 0.0
