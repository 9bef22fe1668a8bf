"""The scores of Sec. 4: UAS, LAS, exact match, and scores by relation and by length.

The scores of a treebank are shares of its words or of its sentences, never means over sentences.
`pairs` decides which sentences are compared, and a punctuation rule which words are left out.
Scores of tags, features and lemmas, and those that combine them with trees, follow `metrics`.
"""

import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from headwise.arrays import IntArray
from headwise.errors import DataError
from headwise.evaluate.metrics import (
    WORD_METRICS,
    Annotation,
    Verdict,
    annotate,
    count_right,
    judge,
    share_in_percent,
)
from headwise.evaluate.pairs import pair_sentences
from headwise.settings.choices import Punctuation
from headwise.treebank.sentence import Sentence, Word
from headwise.trees.tree import is_projective, is_tree, n_roots
from headwise.vocabulary.encode import heads_array

_Outcome: TypeAlias = tuple[str, str, bool]
"""The gold label and the predicted label of a scored word, and whether its head is right."""
_Scored: TypeAlias = tuple[Annotation, Annotation, Verdict]
"""A gold word that is scored, the predicted word, and what is right in it."""

N_SCORED, N_CONTENT, N_PREDICTED_CONTENT = range(3)
RIGHT = {name: column for column, name in enumerate(WORD_METRICS, 3)}
"""Columns of `Scores.per_sentence`: the words, and for each metric those that are right."""
_RIGHT_LABELS, _LENGTH, _TREE, _PROJECTIVE, _SINGLE_ROOT = range(3 + len(RIGHT), 8 + len(RIGHT))
_PTB_TAGS = frozenset(["``", "''", ".", ",", ":", "PU"])
"""Quotes, full stops, commas and colons of the Penn Treebank, and PU of the Chinese one."""


@dataclass(frozen=True, slots=True)
class RelationScore:
    """The scores of the words with one gold label, in percent.

    `las` is the recall of the label with the right head; `precision` is the share of the words
    with this predicted label that have the right head and label; `f1` is their harmonic mean.
    """

    label: str
    count: int
    uas: float
    las: float
    precision: float
    f1: float


@dataclass(frozen=True, slots=True)
class LengthScore:
    """The scores of the sentences in one bin of Figure 3, in percent; None without scored words.

    `last_length` is the length of the longest sentence in the bin, counting all words.
    """

    last_length: int
    n_sentences: int
    n_words: int
    uas: float | None
    las: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The result of `score`: counts, and shares in percent.

    `n_words` counts scored words. CLAS, MLAS and BLEX are F1 over content words, None without any.
    The three rates describe the predicted heads of all words. `per_sentence` is int32
    [n_sentences, 13]: scored words, gold and predicted content words among them, and for each
    metric the words that are right (`RIGHT`). Compared by identity, because of the array.
    """

    n_sentences: int
    n_words: int
    punctuation: Punctuation
    universal_labels: bool
    uas: float
    las: float
    label_accuracy: float
    uem: float
    lem: float
    upos: float
    xpos: float
    ufeats: float
    alltags: float
    lemmas: float
    clas: float | None
    mlas: float | None
    blex: float | None
    tree_rate: float
    projective_rate: float
    single_root_rate: float
    relations: tuple[RelationScore, ...]
    lengths: tuple[LengthScore, ...]
    per_sentence: IntArray


def score(
    gold: Iterable[Sentence],
    predicted: Iterable[Sentence],
    rule: Punctuation = "none",
    universal_labels: bool = False,
    n_bins: int = 10,
) -> Scores:
    """Compare predicted trees with gold ones.

    Blocks of lines without a word (blank lines, comments) are skipped. A sentence without scored
    words counts as an exact match.

    Args:
        gold: sentences with HEAD and DEPREL; they decide which words are punctuation.
        predicted: the same sentences in the same order.
        rule: which words to leave out.
        universal_labels: compare labels up to the first `:` only, `nmod` for `nmod:poss`.
        n_bins: bins for the scores by length, fewer if there are fewer sentences.
    """
    if n_bins < 1:
        raise ValueError(f"n_bins is {n_bins}; at least 1 is needed")
    cells = array("i")
    outcomes: Counter[_Outcome] = Counter()
    for gold_sentence, predicted_sentence in pair_sentences(gold, predicted):
        scored = _compare(gold_sentence, predicted_sentence, rule, universal_labels)
        outcomes.update((one.label, other.label, verdict.uas) for one, other, verdict in scored)
        cells.extend(_row(scored, predicted_sentence))
    table = np.array(cells, np.int32).reshape(-1, _SINGLE_ROOT + 1)  # [n_sentences, 18]
    n_sentences = len(table)
    sums = table.sum(axis=0, dtype=np.int64).tolist()
    n_words = sums[N_SCORED]
    if n_sentences == 0:
        raise DataError("no sentences to score", "the gold file", hint="is the file empty?")
    if n_words == 0:
        what = f"no words to score: all are punctuation under the rule '{rule}'"
        raise DataError(what, "the gold file", hint="choose another rule, or none")
    right = {name: sums[column] for name, column in RIGHT.items()}
    n_content = sums[N_CONTENT] + sums[N_PREDICTED_CONTENT]
    all_heads = int(np.count_nonzero(table[:, RIGHT["uas"]] == table[:, N_SCORED]))
    all_right = int(np.count_nonzero(table[:, RIGHT["las"]] == table[:, N_SCORED]))
    return Scores(
        n_sentences=n_sentences,
        n_words=n_words,
        punctuation=rule,
        universal_labels=universal_labels,
        uas=_percent(right["uas"], n_words),
        las=_percent(right["las"], n_words),
        label_accuracy=_percent(sums[_RIGHT_LABELS], n_words),
        uem=_percent(all_heads, n_sentences),
        lem=_percent(all_right, n_sentences),
        upos=_percent(right["upos"], n_words),
        xpos=_percent(right["xpos"], n_words),
        ufeats=_percent(right["ufeats"], n_words),
        alltags=_percent(right["alltags"], n_words),
        lemmas=_percent(right["lemmas"], n_words),
        clas=share_in_percent(2 * right["clas"], n_content),
        mlas=share_in_percent(2 * right["mlas"], n_content),
        blex=share_in_percent(2 * right["blex"], n_content),
        tree_rate=_percent(sums[_TREE], n_sentences),
        projective_rate=_percent(sums[_PROJECTIVE], n_sentences),
        single_root_rate=_percent(sums[_SINGLE_ROOT], n_sentences),
        relations=_relations(outcomes),
        lengths=_lengths(table, n_bins),
        per_sentence=table[:, :_RIGHT_LABELS].copy(),
    )


def is_punctuation(word: Word, rule: Punctuation) -> bool:
    """Return whether `rule` leaves out a word of a gold sentence (Sec. 4).

    The paper follows its predecessors: for English and Chinese, words are left out by their gold
    tag (`ptb`), for Czech and German by the characters of the form, as in the CoNLL-X shared task
    (`conllx`): `--` is punctuation, and `a.`, which has a letter, is not. The shared tasks on
    Universal Dependencies score every word (`none`); `ud` leaves out the tag PUNCT.
    """
    match rule:
        case "none":
            return False
        case "ptb":
            return word.xpos in _PTB_TAGS
        case "conllx":
            return all(unicodedata.category(character)[0] == "P" for character in word.form)
        case "ud":
            return word.upos == "PUNCT"


def _compare(
    gold: Sentence, predicted: Sentence, rule: Punctuation, universal_labels: bool
) -> list[_Scored]:
    """Compare each scored word, in order."""
    ours, theirs = (
        annotate(one.words, [head - 1 for head in one.gold_heads()], universal_labels)
        for one in (gold, predicted)
    )
    verdicts = judge(ours, theirs, {i: i for i in range(len(gold))})
    return [
        (one, other, verdict)
        for one, other, verdict in zip(ours, theirs, verdicts, strict=True)
        if not is_punctuation(one.word, rule)
    ]


def _row(scored: list[_Scored], predicted: Sentence) -> tuple[int, ...]:
    """Count what is right; tell whether the heads are a tree, projective, and with one root."""
    heads = heads_array(predicted)  # [N+1]
    tree = is_tree(heads)
    return (
        len(scored),
        sum(one.is_content for one, _, _ in scored),
        sum(other.is_content for _, other, _ in scored),
        *count_right(verdict for _, _, verdict in scored).values(),
        sum(one.label == other.label for one, other, _ in scored),
        len(predicted),
        tree,
        tree and is_projective(heads),
        tree and n_roots(heads) == 1,
    )


def _relations(outcomes: Counter[_Outcome]) -> tuple[RelationScore, ...]:
    """Score each gold label, the most frequent first and ties in alphabetical order."""
    gold, predicted, heads, both = (Counter[str]() for _ in range(4))
    for (label, predicted_label, head_is_right), n in outcomes.items():
        gold[label] += n
        predicted[predicted_label] += n
        heads[label] += n * head_is_right
        both[label] += n * (head_is_right and label == predicted_label)
    return tuple(
        RelationScore(
            label=label,
            count=count,
            uas=_percent(heads[label], count),
            las=_percent(both[label], count),
            precision=_percent(both[label], predicted[label]) if predicted[label] else 0.0,
            f1=_percent(2 * both[label], count + predicted[label]),
        )
        for label, count in sorted(gold.items(), key=lambda item: (-item[1], item[0]))
    )


def _lengths(table: IntArray, n_bins: int) -> tuple[LengthScore, ...]:
    """Sort sentences by length and cut them into bins of (nearly) equal count, as in Figure 3."""
    order = np.argsort(table[:, _LENGTH], kind="stable")
    bins = []
    for chosen in np.array_split(order, min(n_bins, len(table))):
        columns = [N_SCORED, RIGHT["uas"], RIGHT["las"]]
        n_words, heads, both = table[chosen][:, columns].sum(axis=0, dtype=np.int64).tolist()
        bins.append(
            LengthScore(
                last_length=int(table[chosen[-1], _LENGTH]),
                n_sentences=len(chosen),
                n_words=n_words,
                uas=_percent(heads, n_words) if n_words else None,
                las=_percent(both, n_words) if n_words else None,
            )
        )
    return tuple(bins)


def _percent(part: int, whole: int) -> float:
    return 100.0 * (part / whole)
