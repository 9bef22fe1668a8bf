"""What else a word could be: its next best heads, labels, tags, features and lemmas."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.arrays import FloatArray
from headwise.runtime.scorer import Selection
from headwise.treebank.sentence import Word
from headwise.vocabulary.lemma_rules import apply_rule
from headwise.vocabulary.vocab import Vocab

N_ALTERNATIVES = 9
"""Values of each column that are listed: as many as there are keys for them."""
_N_RULES = 30
"""Lemma rules that are tried."""
_SMALLEST = 1e-4
_DECIMALS = 4
Ranked = list[tuple[str, float]]


def rank_heads(probabilities: NDArray[Any]) -> list[list[tuple[int, float]]]:
    """List for each word its most probable heads; rows of `[N+1, N+1]`, row 0 unread."""
    best = np.argsort(-probabilities[1:], axis=1, kind="stable")[:, :N_ALTERNATIVES]
    return [
        [(head, round(float(row[head]), _DECIMALS)) for head in heads if row[head] >= _SMALLEST]
        for heads, row in zip(best.tolist(), probabilities[1:], strict=True)
    ]


def rank(log_probs: FloatArray, strings: Sequence[str]) -> list[Ranked]:
    """List for each word the most probable strings; log-probabilities are `[N, strings]`."""
    best = np.argsort(-log_probs, axis=1, kind="stable")[:, :N_ALTERNATIVES]
    probs = np.exp(np.minimum(np.take_along_axis(log_probs, best, axis=1), 0.0))
    return [
        [(strings[i], round(p, _DECIMALS)) for i, p in zip(*row, strict=True) if p >= _SMALLEST]
        for row in zip(best.tolist(), probs.tolist(), strict=True)
    ]


def rank_columns(
    words: Sequence[Word], selection: Selection, vocab: Vocab
) -> list[dict[str, Ranked]]:
    """List the most probable tags, features and lemmas of each word, as far as they are predicted.

    Features and lemmas follow the UPOS that the word has.
    """
    columns: list[dict[str, Ranked]] = [
        {"upos": [], "xpos": [], "feats": [], "lemma": []} for _ in words
    ]
    for column, log_probs in zip(vocab.outputs, selection.tag_log_probs, strict=True):
        rows = log_probs[1:]
        if column == "feats":
            found = [_rank_feats(*pair, vocab) for pair in zip(words, rows, strict=True)]
        elif column == "lemma":
            found = [_rank_lemmas(*pair, vocab) for pair in zip(words, rows, strict=True)]
        else:
            found = rank(rows, vocab.predicted[column].strings)
        for ranked, of_word in zip(columns, found, strict=True):
            ranked[column] = of_word
    return columns


def _rank_feats(word: Word, log_probs: FloatArray, vocab: Vocab) -> Ranked:
    """Take the best value of each feature, then change the least certain ones, one at a time.

    `log_probs` are `[features, values]`.
    """
    features = vocab.features
    assert features is not None
    chosen = log_probs.argmax(axis=1) * features.goes_with(word.upos)
    rows = np.arange(len(chosen))
    total = float(log_probs[rows, chosen].sum())
    others = log_probs.copy()
    others[rows, chosen] = -np.inf
    others[~features.goes_with(word.upos)] = -np.inf
    second = others.argmax(axis=1)
    gains = others[rows, second] - log_probs[rows, chosen]
    found = {features.write(chosen.tolist()): total}
    for row in np.argsort(-gains)[: N_ALTERNATIVES - 1].tolist():
        if np.isfinite(gains[row]):
            changed = chosen.copy()
            changed[row] = second[row]
            found.setdefault(features.write(changed.tolist()), total + float(gains[row]))
    return _as_ranked(found)


def _rank_lemmas(word: Word, log_probs: FloatArray, vocab: Vocab) -> Ranked:
    """Apply the most probable rules; what the lexicon knows for the form comes first."""
    assert vocab.rules is not None
    found: dict[str, float] = {}
    if vocab.lexicon is not None:
        known = vocab.lexicon.lemma_of(word.form, word.upos, word.feats)
        if known is not None:
            found[known] = 0.0
    for rule in np.argsort(-log_probs)[:_N_RULES].tolist():
        lemma = apply_rule(word.form, vocab.rules.strings[rule])
        if lemma is not None:
            found.setdefault(lemma, float(log_probs[rule]))
    return _as_ranked(found)


def _as_ranked(log_probs: dict[str, float]) -> Ranked:
    probs = {value: float(np.exp(min(one, 0.0))) for value, one in log_probs.items()}
    best = sorted(probs.items(), key=lambda pair: -pair[1])[:N_ALTERNATIVES]
    listed = [pair for i, pair in enumerate(best) if not i or pair[1] >= _SMALLEST]
    return [(value, round(p, _DECIMALS)) for value, p in listed]
