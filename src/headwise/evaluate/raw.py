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

from collections import Counter, defaultdict
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
    head: int
    kind: str
    label: str
    ufeats: tuple[str, ...]

    @property
    def is_content(self) -> bool:
        return self.kind in CONTENT_RELATIONS


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
    for gold_side, predicted_side in pair_passages(gold, predicted):
        ours = _annotate(gold_side, universal_labels)
        theirs = _annotate(predicted_side, universal_labels)
        aligned = align_words(gold_side, predicted_side)
        counts.update(_count_totals(gold_side, ours, _GOLD))
        counts.update(_count_totals(predicted_side, theirs, _PREDICTED))
        counts.update(_count_same_spans(gold_side, predicted_side))
        counts.update(_count_right(ours, theirs, aligned))
    if not counts["tokens", _GOLD]:
        raise DataError("no sentences to score", "the gold file", hint="is the file empty?")
    metrics = {name: _metric(counts, name) for name in METRICS}
    return RawScores(universal_labels=universal_labels, **metrics)


def _annotate(side: Side, universal_labels: bool) -> list[_Annotation]:
    annotations = []
    for word, head in zip(side.words, side.heads, strict=True):
        kind = word.deprel.partition(":")[0]
        feats = [f for f in word.feats.split("|") if f.partition("=")[0] in UNIVERSAL_FEATURES]
        label = kind if universal_labels else word.deprel
        annotations.append(_Annotation(word, head, kind, label, tuple(sorted(feats))))
    return annotations


def _count_totals(side: Side, words: list[_Annotation], which: str) -> Counter[_Key]:
    """Count the tokens, sentences, words and content words of one side."""
    counts: Counter[_Key] = Counter({(name, which): len(words) for name in METRICS})
    counts["tokens", which] = len(side.tokens)
    counts["sentences", which] = len(side.sentences)
    counts["clas", which] = counts["mlas", which] = sum(word.is_content for word in words)
    return counts


def _count_same_spans(gold: Side, predicted: Side) -> Counter[_Key]:
    """Count the tokens and sentences that cover the same characters."""
    ours, theirs = ({token[:2] for token in side.tokens} for side in (gold, predicted))
    n_sentences = len({*gold.sentences} & {*predicted.sentences})
    return Counter({("tokens", _RIGHT): len(ours & theirs), ("sentences", _RIGHT): n_sentences})


def _count_right(
    gold: list[_Annotation], predicted: list[_Annotation], aligned: dict[int, int]
) -> Counter[_Key]:
    """Count aligned words, and those of them that each metric counts as right."""
    n_content = sum(gold[index].is_content for index in aligned.values())
    counts: Counter[_Key] = Counter({(name, _ALIGNED): len(aligned) for name in _WORD_METRICS})
    counts["clas", _ALIGNED] = counts["mlas", _ALIGNED] = n_content
    counts["words", _RIGHT] = len(aligned)
    gold_function_words = _function_words(gold, {i: i for i in range(len(gold))})
    function_words = _function_words(predicted, aligned)
    gold_heads = aligned | {ROOT_INDEX: ROOT_INDEX}
    for index, gold_index in aligned.items():
        one, other = gold[gold_index], predicted[index]
        has_head = gold_heads.get(other.head) == one.head
        has_label = has_head and one.label == other.label
        has_upos = one.word.upos == other.word.upos
        has_feats = one.ufeats == other.ufeats
        has_content = has_label and one.is_content
        has_function_words = gold_function_words[gold_index] == function_words[index]
        verdicts = {
            "upos": has_upos,
            "xpos": one.word.xpos == other.word.xpos,
            "ufeats": has_feats,
            "lemmas": one.word.lemma in (BLANK, other.word.lemma),
            "uas": has_head,
            "las": has_label,
            "clas": has_content,
            "mlas": has_content and has_upos and has_feats and has_function_words,
        }
        counts.update((name, _RIGHT) for name, is_right in verdicts.items() if is_right)
    return counts


def _function_words(
    words: list[_Annotation], gold_indices: Mapping[int, int]
) -> defaultdict[int, list[tuple[object, ...]]]:
    """List the function words of each word: the gold word aligned with them, and their values."""
    found: defaultdict[int, list[tuple[object, ...]]] = defaultdict(list)
    for index, (word, head, kind, label, ufeats) in enumerate(words):
        if kind in FUNCTION_RELATIONS:
            found[head].append((gold_indices.get(index), label, word.upos, ufeats))
    return found


def _metric(counts: Counter[_Key], name: str) -> Metric:
    n_gold, n_predicted, n_right, n_aligned = (
        counts[name, which] for which in (_GOLD, _PREDICTED, _RIGHT, _ALIGNED)
    )
    return Metric(
        n_gold=n_gold,
        n_predicted=n_predicted,
        n_right=n_right,
        precision=_percent(n_right, n_predicted),
        recall=_percent(n_right, n_gold),
        f1=_percent(2 * n_right, n_gold + n_predicted),
        aligned_accuracy=_percent(n_right, n_aligned),
    )


def _percent(part: int, whole: int) -> float | None:
    return 100.0 * part / whole if whole else None
