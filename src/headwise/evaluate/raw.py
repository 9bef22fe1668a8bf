"""Scores of output made from raw text, whose words and sentences differ from the gold ones.

The metrics are those of the CoNLL shared tasks of 2017 and 2018 (Zeman et al.). Precision is
relative to the predicted file, recall to the gold file, and F1 is their harmonic mean. Aligned
accuracy is relative to the words that are in both files, so it ignores errors of the tokeniser. A
head is right if the two head words are aligned, or if both words depend on ROOT.

- Tokens and Sentences are right if they cover the same characters, Words if they are aligned.
- UFeats compares the universal features only. If the gold file has no lemma, any lemma is right.
- CLAS is LAS over content words, that is, without function words and punctuation.
- MLAS is CLAS that also requires the right UPOS, features and function words.

The shared tasks compare labels up to the first `:`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from headwise.errors import DataError
from headwise.evaluate.align import align_words
from headwise.evaluate.passages import ROOT_INDEX, Side, pair_passages
from headwise.treebank.sentence import BLANK, Sentence, Word

METRICS = {
    "tokens": "Tokens",
    "sentences": "Sentences",
    "words": "Words",
    "upos": "UPOS",
    "xpos": "XPOS",
    "ufeats": "UFeats",
    "lemmas": "Lemmas",
    "uas": "UAS",
    "las": "LAS",
    "clas": "CLAS",
    "mlas": "MLAS",
}
"""Fields of `RawScores`, and their names in tables."""
# fmt: off
CONTENT_RELATIONS = frozenset([
    "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl",
    "dislocated", "advcl", "advmod", "discourse", "nmod", "appos", "nummod", "acl", "amod",
    "conj", "fixed", "flat", "compound", "list", "parataxis", "orphan", "goeswith",
    "reparandum", "root", "dep",
])
FUNCTION_RELATIONS = frozenset(["aux", "cop", "mark", "det", "clf", "case", "cc"])
UNIVERSAL_FEATURES = frozenset([
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number",
    "Case", "Definite", "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident",
    "Polarity", "Person", "Polite",
])
"""Those of the shared task of 2018; features that were added to UD later are not compared."""
# fmt: on

_Key: TypeAlias = tuple[str, str]
"""What is counted: the name of a metric, and one of the four below."""
_GOLD, _PREDICTED, _RIGHT, _ALIGNED = "gold", "predicted", "right", "aligned"
_WORD_METRICS = tuple(METRICS)[3:]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: counts, and shares in percent, None if there is nothing to count.

    Only metrics of aligned words have an `aligned_accuracy`.
    """

    n_gold: int
    n_predicted: int
    n_right: int
    precision: float | None
    recall: float | None
    f1: float | None
    aligned_accuracy: float | None


@dataclass(frozen=True, slots=True)
class RawScores:
    """The result of `score_raw`; the module docstring explains the metrics."""

    universal_labels: bool
    tokens: Metric
    sentences: Metric
    words: Metric
    upos: Metric
    xpos: Metric
    ufeats: Metric
    lemmas: Metric
    uas: Metric
    las: Metric
    clas: Metric
    mlas: Metric


class _Annotation(NamedTuple):
    """The values of a word that are compared; `kind` is its relation without the subtype."""

    word: Word
    kind: str
    label: str
    ufeats: tuple[str, ...]


class _View(NamedTuple):
    """One side of a passage; `function_words` are those of each word that has any, in order."""

    side: Side
    annotations: list[_Annotation]
    function_words: dict[int, list[int]]


def score_raw(
    gold: Iterable[Sentence], predicted: Iterable[Sentence], universal_labels: bool = False
) -> RawScores:
    """Compare predicted trees with gold ones over the same characters.

    Args:
        gold: sentences with HEAD and DEPREL.
        predicted: sentences of the same text, possibly with other words and sentences.
        universal_labels: compare labels up to the first `:` only, as the shared tasks do.
    """
    counts: Counter[_Key] = Counter()
    for sides in pair_passages(gold, predicted):
        gold_view, predicted_view = (_view(side, universal_labels) for side in sides)
        counts.update(_count_totals(gold_view, _GOLD))
        counts.update(_count_totals(predicted_view, _PREDICTED))
        counts.update(_count_right(gold_view, predicted_view))
    if not counts["tokens", _GOLD]:
        raise DataError("no sentences to score", "the gold file", hint="is the file empty?")
    metrics = {name: _metric(counts, name) for name in METRICS}
    return RawScores(universal_labels=universal_labels, **metrics)


def _view(side: Side, universal_labels: bool) -> _View:
    annotations = []
    function_words: dict[int, list[int]] = {}
    for index, (word, head) in enumerate(zip(side.words, side.heads, strict=True)):
        kind = word.deprel.partition(":")[0]
        label = kind if universal_labels else word.deprel
        annotations.append(_Annotation(word, kind, label, _universal_features(word.feats)))
        if kind in FUNCTION_RELATIONS and head != ROOT_INDEX:
            function_words.setdefault(head, []).append(index)
    return _View(side, annotations, function_words)


def _universal_features(feats: str) -> tuple[str, ...]:
    kept = [item for item in feats.split("|") if item.partition("=")[0] in UNIVERSAL_FEATURES]
    return tuple(sorted(kept))


def _count_totals(view: _View, which: str) -> Counter[_Key]:
    """Count the tokens, sentences, words and content words of one side."""
    n_content = sum(word.kind in CONTENT_RELATIONS for word in view.annotations)
    counts: Counter[_Key] = Counter({(name, which): len(view.side.words) for name in METRICS})
    counts["tokens", which] = len(view.side.tokens)
    counts["sentences", which] = len(view.side.sentences)
    counts["clas", which] = counts["mlas", which] = n_content
    return counts


def _count_right(gold: _View, predicted: _View) -> Counter[_Key]:
    """Count what is the same on both sides."""
    aligned = align_words(gold.side, predicted.side)
    n_content = sum(gold.annotations[i].kind in CONTENT_RELATIONS for i in aligned.values())
    counts: Counter[_Key] = Counter({(name, _ALIGNED): len(aligned) for name in _WORD_METRICS})
    counts["clas", _ALIGNED] = counts["mlas", _ALIGNED] = n_content
    counts["words", _RIGHT] = len(aligned)
    counts["sentences", _RIGHT] = len({*gold.side.sentences} & {*predicted.side.sentences})
    tokens = [
        {(token.start, token.end) for token in view.side.tokens} for view in (gold, predicted)
    ]
    counts["tokens", _RIGHT] = len(tokens[0] & tokens[1])
    gold_words = aligned | {ROOT_INDEX: ROOT_INDEX}
    for index, gold_index in aligned.items():
        verdicts = _judge(gold, predicted, (gold_index, index), gold_words)
        counts.update((name, _RIGHT) for name, is_right in verdicts.items() if is_right)
    return counts


def _judge(
    gold: _View, predicted: _View, pair: tuple[int, int], gold_words: Mapping[int, int]
) -> dict[str, bool]:
    """Decide for two aligned words which metrics count them as right."""
    one, other = gold.annotations[pair[0]], predicted.annotations[pair[1]]
    has_head = gold_words.get(predicted.side.heads[pair[1]]) == gold.side.heads[pair[0]]
    has_label = has_head and one.label == other.label
    has_upos = one.word.upos == other.word.upos
    has_feats = one.ufeats == other.ufeats
    is_content = has_label and one.kind in CONTENT_RELATIONS
    return {
        "upos": has_upos,
        "xpos": one.word.xpos == other.word.xpos,
        "ufeats": has_feats,
        "lemmas": one.word.lemma in (BLANK, other.word.lemma),
        "uas": has_head,
        "las": has_label,
        "clas": is_content,
        "mlas": is_content
        and has_upos
        and has_feats
        and _has_function_words(gold, predicted, pair, gold_words),
    }


def _has_function_words(
    gold: _View, predicted: _View, pair: tuple[int, int], gold_words: Mapping[int, int]
) -> bool:
    """Tell whether two words have the same function words with the same annotation."""
    ours = gold.function_words.get(pair[0], [])
    theirs = predicted.function_words.get(pair[1], [])
    if ours != [gold_words.get(index) for index in theirs]:
        return False
    pairs = (
        (gold.annotations[i], predicted.annotations[j]) for i, j in zip(ours, theirs, strict=True)
    )
    return all(
        (one.label, one.word.upos, one.ufeats) == (other.label, other.word.upos, other.ufeats)
        for one, other in pairs
    )


def _metric(counts: Counter[_Key], name: str) -> Metric:
    n_gold, n_predicted = counts[name, _GOLD], counts[name, _PREDICTED]
    n_right = counts[name, _RIGHT]
    return Metric(
        n_gold=n_gold,
        n_predicted=n_predicted,
        n_right=n_right,
        precision=_percent(n_right, n_predicted),
        recall=_percent(n_right, n_gold),
        f1=_percent(2 * n_right, n_gold + n_predicted),
        aligned_accuracy=_percent(n_right, counts[name, _ALIGNED]),
    )


def _percent(part: int, whole: int) -> float | None:
    return 100.0 * part / whole if whole else None
