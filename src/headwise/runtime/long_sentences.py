"""Sentences that are too long for the memory budget: split, parsed in parts, and joined.

A head distribution has N+1 numbers for each of N words, and repair needs several times that. A
sentence that would exceed the budget is parsed in parts of equal length, each as a sentence of its
own. If a sentence must have one root, the roots of the other parts are then attached to the root of
the first. So the output is a tree, every word has its line, and memory stays bounded; but no word
can select a head in another part.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

from headwise.settings.choices import Column
from headwise.treebank.sentence import Parse, Sentence

JOINED_LABELS = ("parataxis", "dep")
"""What Universal Dependencies calls clauses side by side in one sentence."""


def split_sentence(sentence: Sentence, limit: int) -> list[Sentence]:
    """Split a sentence into parts of at most `limit` words and nearly equal length."""
    n_parts = -(-len(sentence) // limit)
    bounds = [len(sentence) * part // n_parts for part in range(n_parts + 1)]
    return [
        Sentence(sentence.words[start:end], (), (), sentence.source, sentence.first_line)
        for start, end in pairwise(bounds)
    ]


def join_parses(parts: Sequence[Parse], single_root: bool, labels: Sequence[str]) -> Parse:
    """Join the parses of the parts of a sentence; `labels` are those that the model knows.

    Example: `[2, 0]` and `[0, 1]` become `[2, 0, 2, 3]` with one root: 3 is attached to 2, the root
    of the first part.
    """
    heads: list[int] = []
    names: list[str] = []
    joined = next((label for label in JOINED_LABELS if label in labels), None)
    root = parts[0].heads.index(0) + 1 if single_root and 0 in parts[0].heads else 0
    for part in parts:
        start = len(heads)
        moves = bool(start) and root > 0
        heads += [head + start if head else root * moves for head in part.heads]
        names += [
            joined if joined and moves and not head else label
            for head, label in zip(part.heads, part.labels, strict=True)
        ]
    return Parse(
        tuple(heads),
        tuple(names),
        tuple(value for part in parts for value in part.head_log_probs),
        next((part.how for part in parts if part.how != "greedy"), "greedy"),
        tuple(tag for part in parts for tag in part.upos),
        tuple(tag for part in parts for tag in part.xpos),
        tuple(feats for part in parts for feats in part.feats),
        tuple(lemma for part in parts for lemma in part.lemmas),
        _join_probs(parts, names),
    )


def _join_probs(parts: Sequence[Parse], labels: Sequence[str]) -> dict[Column, tuple[float, ...]]:
    """Join the probabilities of columns; `labels` that no part has, come from joining: NaN."""
    joined = {
        column: tuple(prob for part in parts for prob in part.column_probs[column])
        for column in parts[0].column_probs
    }
    if "labels" in joined:
        old = (label for part in parts for label in part.labels)
        rows = zip(old, labels, joined["labels"], strict=True)
        joined["labels"] = tuple(prob if a == b else math.nan for a, b, prob in rows)
    return joined
