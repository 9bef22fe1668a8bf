"""What a parser says of all trees of a sentence: the most probable ones, and how sure it is.

The distribution over trees is that of `trees.distribution`; labels come from the scorer, for each
tree its own. Time grows with the cube of the length, so very long sentences have none of this.
"""

from dataclasses import replace

import numpy as np

from headwise.runtime.scorer import Scorer, Selection
from headwise.settings.parsing import ParserSettings
from headwise.treebank.sentence import Parse, RankedTree
from headwise.trees.constraints import Constraints
from headwise.trees.decode import Tree, decode_k_best
from headwise.trees.distribution import distribution_of_trees
from headwise.trees.tree import is_projective

MAX_SUMMED_WORDS = 500
"""Of a sentence whose trees are summed over: a second or two."""


def with_tree_space(
    parse: Parse,
    tree: Tree,
    selection: Selection,
    scorer: Scorer,
    settings: ParserSettings,
    constraints: Constraints | None = None,
) -> Parse:
    """Add to a parse what the settings ask for: the k best trees, marginals and entropy.

    Only trees that satisfy the constraints count. They are projective if the decoder is "eisner",
    unless kept heads made a tree that is not.
    """
    if len(parse.heads) > MAX_SUMMED_WORDS:
        return parse
    single_root = settings.decode.single_root
    projective = settings.decode.decoder == "eisner" and is_projective(tree.heads)
    distribution = distribution_of_trees(
        selection.head_log_probs,
        projective=projective,
        single_root=single_root,
        constraints=constraints,
    )
    if settings.marginals:
        words = np.arange(1, len(tree.heads))
        marginals = np.minimum(distribution.marginals[words, tree.heads[1:]], 1.0)
        entropy = distribution.entropy
        parse = replace(parse, marginals=tuple(marginals.tolist()), entropy=entropy)
    if not settings.k_best:
        return parse
    best = decode_k_best(
        selection.head_log_probs,
        settings.k_best,
        "eisner" if projective else "mst",
        single_root,
        constraints,
    )
    fixed = {} if constraints is None else constraints.labels
    strings = scorer.vocab.labels.strings
    ranked = []
    for heads, log_probs in zip(best, scorer.label([selection] * len(best), best), strict=True):
        chosen = enumerate(log_probs.argmax(1).tolist(), start=1)
        labels = tuple(fixed.get(word, strings[label]) for word, label in chosen)
        probability = min(1.0, float(np.exp(distribution.log_prob(heads))))
        ranked.append(RankedTree(tuple(heads[1:].tolist()), labels, probability))
    return replace(parse, trees=tuple(ranked))
