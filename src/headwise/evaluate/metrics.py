"""What has to be right in a word for each metric, by the rules of the CoNLL shared tasks.

`scores` compares files with the same words and `raw` files with words of their own, but a pair of
words is judged here, by the rules of Zeman et al. (2018):

- UPOS, XPOS and UFeats compare one column each, UFeats the universal features only; AllTags asks
  for all three. If the gold file has no lemma, any lemma is right for Lemmas and BLEX.
- UAS asks for the head, LAS for head and label.
- CLAS is LAS over content words, that is, without function words and punctuation. MLAS also asks
  for UPOS, universal features and the function words of the word, BLEX for its lemma.

The shared tasks compare labels up to the first `:`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from headwise.treebank.sentence import BLANK, Word

ROOT_INDEX = -1
"""The head of a word that depends on ROOT; the heads of other words are indices of words."""
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


class Verdict(NamedTuple):
    """Whether a word is right, for each metric."""

    upos: bool
    xpos: bool
    ufeats: bool
    alltags: bool
    lemmas: bool
    uas: bool
    las: bool
    clas: bool
    mlas: bool
    blex: bool


_NAMES = ("UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "CLAS", "MLAS", "BLEX")
WORD_METRICS = dict(zip(Verdict._fields, _NAMES, strict=True))
"""The fields of a `Verdict`, and their names in tables."""
CONTENT_METRICS = frozenset(["clas", "mlas", "blex"])
"""Those over content words. Gold and predicted words may differ in which are content words."""


class Annotation(NamedTuple):
    """The values of a word that are compared; `kind` is its relation without the subtype."""

    word: Word
    head: int
    kind: str
    label: str
    ufeats: tuple[str, ...]

    @property
    def is_content(self) -> bool:
        """Whether the word counts for CLAS, MLAS and BLEX."""
        return self.kind in CONTENT_RELATIONS


def annotate(
    words: Sequence[Word], heads: Sequence[int], universal_labels: bool
) -> list[Annotation]:
    """Take the values to compare from words; `heads` are indices of `words`, or `ROOT_INDEX`."""
    annotations = []
    for word, head in zip(words, heads, strict=True):
        kind = word.deprel.partition(":")[0]
        label = kind if universal_labels else word.deprel
        annotations.append(Annotation(word, head, kind, label, universal_features(word.feats)))
    return annotations


def universal_features(feats: str) -> tuple[str, ...]:
    """List the universal features of FEATS in order: `Number=Sing|Typo=Yes` has one."""
    if feats == BLANK:
        return ()
    features = feats.split("|")
    return tuple(sorted(f for f in features if f.partition("=")[0] in UNIVERSAL_FEATURES))


def judge(
    gold: Sequence[Annotation], predicted: Sequence[Annotation], aligned: Mapping[int, int]
) -> Iterator[Verdict]:
    """Judge aligned words; `aligned` maps the indices of predicted words to those of gold words."""
    gold_function_words = _function_words(gold, {i: i for i in range(len(gold))})
    function_words = _function_words(predicted, aligned)
    for index, gold_index in aligned.items():
        one, other = gold[gold_index], predicted[index]
        head = other.head if other.head == ROOT_INDEX else aligned.get(other.head)
        has_head = head == one.head
        has_label = has_head and one.label == other.label
        has_upos = one.word.upos == other.word.upos
        has_xpos = one.word.xpos == other.word.xpos
        has_feats = one.ufeats == other.ufeats
        has_lemma = one.word.lemma in (BLANK, other.word.lemma)
        is_right = has_label and one.is_content
        has_function_words = gold_function_words.get(gold_index) == function_words.get(index)
        yield Verdict(
            upos=has_upos,
            xpos=has_xpos,
            ufeats=has_feats,
            alltags=has_upos and has_xpos and has_feats,
            lemmas=has_lemma,
            uas=has_head,
            las=has_label,
            clas=is_right,
            mlas=is_right and has_upos and has_feats and has_function_words,
            blex=is_right and has_lemma,
        )


def count_right(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Count the words that are right, for each metric."""
    columns = [*zip(*verdicts, strict=True)] or [()] * len(Verdict._fields)
    return dict(zip(Verdict._fields, map(sum, columns), strict=True))


def _function_words(
    words: Sequence[Annotation], gold_indices: Mapping[int, int]
) -> dict[int, list[tuple[object, ...]]]:
    """List the function words of each word: the gold word aligned with them, and their values."""
    found: defaultdict[int, list[tuple[object, ...]]] = defaultdict(list)
    for index, (word, head, kind, label, ufeats) in enumerate(words):
        if kind in FUNCTION_RELATIONS:
            found[head].append((gold_indices.get(index), label, word.upos, ufeats))
    return found


def share_in_percent(part: int, whole: int) -> float | None:
    """Return a share in percent, None of nothing; rounded as the official scorer does."""
    return 100.0 * (part / whole) if whole else None
