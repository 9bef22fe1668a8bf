"""What `keep` keeps: values of the input stay, and the best tree is made around given heads.

A column that is kept is filled in only where the input has a blank. Heads need more than that: they
must not contradict each other (`check_heads`), and the other words must form a tree with them
(`decode_around`), as with any other constraints.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from headwise.arrays import FloatArray
from headwise.errors import ConfigError, DataError, plural
from headwise.settings.choices import Column
from headwise.settings.parsing import DecodeConfig
from headwise.treebank.sentence import BLANK, VALUE_HINT, Sentence, is_value
from headwise.trees.constraints import Constraints
from headwise.trees.decode import Tree, decode_batch

_SHOWN = 8
"""Words that a message names."""
Values = tuple[tuple[str, ...], tuple[float, ...]]


def keep_values(
    sentence: Sentence,
    column: Literal["lemma", "upos", "xpos", "feats", "deprel"],
    predicted: Sequence[str],
    probs: Sequence[float],
) -> Values:
    """Put the values that a column has in place of predicted ones; their probability is NaN.

    In FEATS a blank also means that a word has no features. So if any word of the sentence has
    some, the whole column stays.
    """
    given: list[str] = [getattr(word, column) for word in sentence.words]
    if column == "feats" and any(value != BLANK for value in given):
        return tuple(given), (math.nan,) * len(given)
    values = tuple(new if old == BLANK else old for old, new in zip(given, predicted, strict=True))
    kept = zip(given, probs, strict=True)
    return values, tuple(prob if old == BLANK else math.nan for old, prob in kept)


def check_labels(sentence: Sentence) -> None:
    """Raise an error if a label that the sentence gives cannot be one."""
    for position, word in enumerate(sentence.words, 1):
        if not is_value(word.deprel):
            what = f"DEPREL of {_name(sentence, [position])} is {word.deprel[:40]!r}"
            raise _refusal(sentence, position, what, VALUE_HINT)


def check_heads(sentence: Sentence, single_root: bool) -> None:
    """Raise an error if no tree has all heads that the sentence gives."""
    for position, (word, head) in enumerate(zip(sentence.words, sentence.heads, strict=True), 1):
        if word.head != BLANK and head is None:
            size = f"the sentence has {plural(len(sentence), 'word')}"
            what = f"HEAD of {_name(sentence, [position])} is {word.head[:40]!r}, but {size}"
            raise _refusal(sentence, position, what)
    heads = given_heads(sentence)
    if cycle := _find_cycle(heads):
        is_loop = len(cycle) == 1
        what = f"the HEAD of {_name(sentence, cycle)}"
        what += " is the word itself" if is_loop else " leads back to the same words: a cycle"
        raise _refusal(sentence, cycle[0], what)
    roots = [word for word, head in heads.items() if head == 0]
    if single_root and len(roots) > 1:
        what = f"{_name(sentence, roots)} have HEAD 0, but a sentence has only one root"
        hint = "leave HEAD blank (_), or allow several roots (--multi-root)"
        raise _refusal(sentence, roots[1], what, hint)


def _refusal(
    sentence: Sentence,
    position: int,
    what: str,
    hint: str = "correct it, or put _ there to let the parser choose",
) -> DataError:
    return DataError(what, sentence.source, sentence.line_of(position), hint)


def _name(sentence: Sentence, positions: Sequence[int]) -> str:
    """Name words: `words 3 ('saw') and 5 ('dog')`."""
    names = [f"{i} ('{sentence.words[i - 1].form[:40]}')" for i in positions[:_SHOWN]]
    names += ["others"] * (len(positions) > _SHOWN)
    if len(names) == 1:
        return f"word {names[0]}"
    return f"words {', '.join(names[:-1])} and {names[-1]}"


def _find_cycle(heads: Mapping[int, int]) -> list[int]:
    """Return the words of a cycle of given heads in order; empty if there is none."""
    seen_from: dict[int, int] = {}
    for start in heads:
        word = start
        while word in heads and word not in seen_from:
            seen_from[word] = start
            word = heads[word]
        if seen_from.get(word) == start:
            cycle = [word]
            while heads[cycle[-1]] != word:
                cycle.append(heads[cycle[-1]])
            return sorted(cycle)
    return []


def given_heads(sentence: Sentence) -> dict[int, int]:
    """Return the heads that a sentence gives, by position of the word."""
    return {i: head for i, head in enumerate(sentence.heads, 1) if head is not None}


def merge_kept(
    sentence: Sentence, keep: Sequence[Column], constraints: Constraints | None
) -> Constraints | None:
    """Add the heads and labels that are kept to the constraints, which win over them."""
    heads = given_heads(sentence) if "heads" in keep else {}
    labels: dict[int, str] = {}
    if "labels" in keep:
        labels = {i: w.deprel for i, w in enumerate(sentence.words, 1) if w.deprel != BLANK}
    if not heads and not labels:
        return constraints
    asked = constraints or Constraints()
    return Constraints(
        heads=heads | dict(asked.heads),
        forbidden=asked.forbidden,
        root=asked.root,
        subtrees=asked.subtrees,
        labels=labels | dict(asked.labels),
    )


def decode_around(
    head_log_probs: Sequence[FloatArray],
    asked: Sequence[Constraints | None],
    decode: DecodeConfig,
) -> list[Tree]:
    """Select the heads of each sentence, those of the best tree that satisfies its constraints.

    If no projective tree does, it is the best one that is not projective.
    """
    trees: list[Tree] = []
    how = (decode.single_root, decode.weights)
    for log_probs, constraints in zip(head_log_probs, asked, strict=True):
        try:
            trees += decode_batch([log_probs], decode.decoder, *how, constraints=[constraints])
        except ConfigError:
            if decode.decoder != "eisner":
                raise
            trees += decode_batch([log_probs], "mst", *how, constraints=[constraints])
    return trees
