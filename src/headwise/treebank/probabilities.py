"""Probabilities of what a parser filled in, in MISC: `HeadProb=0.9712|LabelProb=0.9981`.

They are written with as many decimals as in JSON. A value that was kept from the input has none,
except a head: the model gives every head a probability.
"""

import math
from collections.abc import Sequence

from headwise.settings.choices import Column
from headwise.treebank.sentence import BLANK, Parse, Sentence

DECIMALS = 4
"""Of a probability, here and in JSON: enough to tell 0.999 from 0.9999."""
MISC_KEYS: dict[Column, str] = {
    "feats": "FeatsProb",
    "heads": "HeadProb",
    "labels": "LabelProb",
    "lemma": "LemmaProb",
    "upos": "UposProb",
    "xpos": "XposProb",
}
"""In alphabetical order, as MISC has them."""
_OURS = tuple(f"{key}=" for key in MISC_KEYS.values())


def with_probabilities(sentence: Sentence, parse: Parse) -> Sentence:
    """Copy a sentence with the probabilities of a parse in MISC; those of an earlier run go.

    What else is in MISC stays. If it is in alphabetical order, the whole is.
    """
    probs = {**parse.column_probs, "heads": parse.probabilities}
    columns = [(key, probs[name]) for name, key in MISC_KEYS.items() if name in probs]
    rows = zip(*(values for _, values in columns), strict=True)
    keys = [key for key, _ in columns]
    words = [
        word._replace(misc=_merge(word.misc, keys, row))
        for word, row in zip(sentence.words, rows, strict=True)
    ]
    return sentence.with_words(words)


def _merge(misc: str, keys: Sequence[str], probs: Sequence[float]) -> str:
    parts = [] if misc == BLANK else [p for p in misc.split("|") if not p.startswith(_OURS)]
    is_sorted = parts == sorted(parts, key=_order)
    pairs = zip(keys, probs, strict=True)
    parts += [f"{key}={prob:.{DECIMALS}f}" for key, prob in pairs if not math.isnan(prob)]
    return "|".join(sorted(parts, key=_order) if is_sorted else parts) or BLANK


def _order(part: str) -> str:
    return part.partition("=")[0].lower()
