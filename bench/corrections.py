r"""Corrections to the gold tree: how much work re-decoding saves an annotator.

    python -m bench.corrections en=UD_English-EWT/dev.conllu.xz \
        ./models/pt=UD_Portuguese-Bosque/dev.conllu.xz ./models/de=MIX_German/dev.conllu.xz \
        --out bench/results/corrections.json

A simulated annotator looks at the words of a parsed sentence one by one, from left to right or the
least certain first (probability of the arc over all trees, times that of its label), and corrects
each word that is wrong: a correction sets its head and its label, which then stay. Without
re-decoding every wrong word costs one correction. With re-decoding the tree around the fixed arcs
is found anew after each correction, so that other words may become right, or wrong:

    none        nothing changes but the corrected word
    tree        the best tree around the corrections, as `headwise parse --keep heads` finds it
    projective  the best projective tree around them, if there is one
    joint       the best tree by heads and labels together
    learned     the best projective tree by scores that know of the corrections (`bench.rescoring`)

With `accept`, words that the annotator looked at and left alone stay fixed, too. The weights of
`learned` come from the other half of the first file, for that file, and from the whole of it, for
the others. Corrections and words looked at, until the tree is gold, are per 100 words.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import headwise
from bench.experiment.tables import Table, markdown_table
from bench.rescoring import (
    FEATURES,
    FirstTree,
    Floats,
    Ints,
    State,
    features_of,
    fit_weights,
    rescore,
)
from headwise.runtime.kept import decode_around
from headwise.settings.choices import Decoder
from headwise.settings.parsing import DecodeConfig
from headwise.treebank.sentence import Sentence
from headwise.trees.constraints import Constraints
from headwise.trees.distribution import distribution_of_trees

Order = Literal["left to right", "least certain first"]
Redecoding = Literal["none", "tree", "projective", "joint", "learned"]
PROJECTIVE: frozenset[Redecoding] = frozenset(["projective", "learned"])
PUNCTUATION = "punct"
UNIQUE = frozenset(
    ["nsubj", "csubj", "obj", "iobj", "expl", "cop", "mark", "det", "ccomp", "xcomp"]
)
AT_A_TIME = 64
N_ROUNDS = 2
"""Of learning: the corrections of the second are those that the weights of the first ask for."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """How an annotator works, and what the parser does with it."""

    order: Order
    redecoding: Redecoding
    accept: bool = False


ORDERS: tuple[Order, ...] = ("left to right", "least certain first")
VARIANTS: tuple[tuple[Redecoding, bool], ...] = (
    ("none", False),
    ("tree", False),
    ("tree", True),
    ("projective", False),
    ("projective", True),
    ("joint", True),
    ("learned", True),
)
STRATEGIES = [Strategy(order, *variant) for order in ORDERS for variant in VARIANTS]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A sentence: what the parser thinks of it, and what is right.

    Slot 0 is ROOT. `log_probs` are `[N+1, N+1]`; `labels` and `label_log_probs` are the best label
    of each arc, `[N+1, N+1]`; gold heads and labels are `[N+1]`, -1 for a label the model lacks.
    """

    log_probs: Floats
    labels: Ints
    label_log_probs: Floats
    gold_heads: Ints
    gold_labels: Ints
    first: FirstTree


@dataclass(frozen=True, slots=True)
class Effort:
    """What it took to get the gold trees of some sentences."""

    n_words: int
    n_corrections: int
    n_looked_at: int


def read_cases(model: str, path: Path, n_sentences: int | None) -> list[Case]:
    """Score the sentences of a treebank, with the label of every arc they could have."""
    parser = headwise.load(model)
    sentences = [s for s in headwise.read_sentences(path) if len(s)][:n_sentences]
    names = parser.vocab.labels.strings
    masks = (
        np.array([name == PUNCTUATION for name in names]),
        np.array([name.partition(":")[0] in UNIQUE for name in names]),
    )
    position = {name: i for i, name in enumerate(names)}
    cases = []
    for start in range(0, len(sentences), AT_A_TIME):
        chunk = sentences[start : start + AT_A_TIME]
        for sentence, selection in zip(chunk, parser.scorer.select(chunk), strict=True):
            n_slots = len(sentence) + 1
            heads = [np.full(n_slots, head, np.int32) for head in range(n_slots)]
            of_heads = parser.scorer.label([selection] * n_slots, heads)
            labels = np.zeros((n_slots, n_slots), np.int32)
            label_log_probs = np.zeros((n_slots, n_slots))
            for head, of_head in enumerate(of_heads):  # [N, R]
                labels[1:, head] = of_head.argmax(axis=1)
                label_log_probs[1:, head] = of_head.max(axis=1)
            log_probs = selection.head_log_probs.astype(np.float64)
            first = best_tree_around({}, log_probs)
            tree = FirstTree(first, labels_of(labels, first), *masks)
            cases.append(
                Case(
                    log_probs,
                    labels,
                    label_log_probs,
                    np.array([0, *sentence.gold_heads()], np.int32),
                    np.array([-1, *gold_labels(sentence, position)], np.int32),
                    tree,
                )
            )
    return [case for case in cases if np.count_nonzero(case.gold_heads[1:] == 0) == 1]


def gold_labels(sentence: Sentence, position: dict[str, int]) -> list[int]:
    """Number the labels of the words as the model does; -1 if it does not know one."""
    return [position.get(word.deprel, -1) for word in sentence.words]


def best_tree_around(fixed: Mapping[int, int], scores: Floats, decoder: Decoder = "mst") -> Ints:
    """Return the heads `[N+1]` of the best tree with one root and the fixed heads."""
    how = DecodeConfig(decoder=decoder, single_root=True)
    asked = Constraints(heads=fixed) if fixed else None
    (tree,) = decode_around([scores.astype(np.float32)], [asked], how)
    return tree.heads


def labels_of(labels: Ints, heads: Ints) -> Ints:
    """Return the best label of each arc, `[N+1]`."""
    return np.asarray(labels[np.arange(len(heads)), heads])


class Annotator:
    """Someone at work on one sentence: what is fixed, and the tree around it."""

    def __init__(self, case: Case, strategy: Strategy, weights: Floats | None) -> None:
        """Start with the tree of the parser; `weights` are for "learned" only."""
        self.case = case
        self.strategy = strategy
        self.weights = weights
        self.fixed: dict[int, int] = {}
        self.fixed_labels: dict[int, int] = {}
        self.looked_at: set[int] = set()
        self.n_looks = self.n_corrections = 0
        self.states: list[State] = []
        self.scores = case.log_probs
        self.heads = case.first.heads
        if strategy.redecoding == "joint":
            self.scores = case.log_probs + case.label_log_probs
            self.scores[1:] -= np.logaddexp.reduce(self.scores[1:], axis=1, keepdims=True)
            self.heads = best_tree_around({}, self.scores)
        self.labels = labels_of(case.labels, self.heads)
        self.order = self.words_in_order()

    def work(self) -> None:
        """Correct one word after the other until all are right."""
        while (wrong := self.find_wrong()).any():
            word = next(word for word in self.order if self.look_at(word, wrong))
            self.n_corrections += 1
            self.fixed[word] = int(self.case.gold_heads[word])
            self.fixed_labels[word] = int(self.case.gold_labels[word])
            if self.strategy.redecoding == "none":
                self.heads, self.labels = self.heads.copy(), self.labels.copy()
                self.heads[word], self.labels[word] = self.fixed[word], self.fixed_labels[word]
            else:
                self.redecode()
                self.order = self.words_in_order()

    def find_wrong(self) -> NDArray[np.bool_]:
        """Tell which words are wrong, `[N+1]`."""
        case = self.case
        wrong: NDArray[np.bool_]
        wrong = (self.heads != case.gold_heads) | (self.labels != case.gold_labels)
        wrong[0] = False
        return wrong

    def look_at(self, word: int, wrong: NDArray[np.bool_]) -> bool:
        """Look at a word, unless it was seen and is right, and tell whether it is wrong."""
        if word in self.looked_at and not wrong[word]:
            return False
        self.looked_at.add(word)
        self.n_looks += 1
        if not wrong[word] and self.strategy.accept:
            self.fixed[word] = int(self.heads[word])
            self.fixed_labels[word] = int(self.labels[word])
        return bool(wrong[word])

    def words_in_order(self) -> list[int]:
        """List the words as the annotator will look at them."""
        n_words = len(self.heads) - 1
        if self.strategy.order == "left to right":
            return list(range(1, n_words + 1))
        distribution = distribution_of_trees(
            self.scores,
            projective=False,
            single_root=True,
            constraints=Constraints(heads=self.fixed),
        )
        arcs = np.arange(1, n_words + 1), self.heads[1:]
        certainty = distribution.marginals[arcs] * np.exp(self.case.label_log_probs[arcs])
        return [int(word) + 1 for word in np.argsort(certainty, kind="stable")]

    def redecode(self) -> None:
        """Find the best tree around what is fixed."""
        case = self.case
        if self.strategy.redecoding == "learned":
            heads = case.first.heads
            moved = {word: head for word, head in self.fixed.items() if heads[word] != head}
            features = features_of(case.log_probs, case.first, moved, self.fixed_labels)
            if moved:
                rows = [word for word in range(1, len(heads)) if word not in self.fixed]
                at = np.array(rows, np.int32)
                self.states.append(State(case.log_probs, features, case.gold_heads, at))
            assert self.weights is not None
            self.scores = rescore(case.log_probs, features, self.weights)
        decoder: Decoder = "eisner" if self.strategy.redecoding in PROJECTIVE else "mst"
        self.heads = best_tree_around(self.fixed, self.scores, decoder)
        self.labels = labels_of(case.labels, self.heads)
        for word, label in self.fixed_labels.items():
            self.labels[word] = label


def measure(cases: Sequence[Case], strategy: Strategy, weights: Floats | None) -> Effort:
    """Count what it takes to correct all sentences."""
    n_corrections = n_looks = 0
    for case in cases:
        annotator = Annotator(case, strategy, weights)
        annotator.work()
        n_corrections += annotator.n_corrections
        n_looks += annotator.n_looks
    return Effort(sum(len(case.gold_heads) - 1 for case in cases), n_corrections, n_looks)


def learn(cases: Sequence[Case], order: Order) -> Floats:
    """Learn weights from the corrections of some sentences, made with the weights so far."""
    weights = np.zeros(len(FEATURES))
    for _ in range(N_ROUNDS):
        states: list[State] = []
        for case in cases:
            annotator = Annotator(case, Strategy(order, "learned", accept=True), weights)
            annotator.work()
            states += annotator.states
        weights = fit_weights(states, weights)
    return weights


def measure_crossed(cases: Sequence[Case], strategy: Strategy, halves: Sequence[Floats]) -> Effort:
    """Measure both halves of the cases, each with the weights of the other."""
    efforts = [measure(cases[i::2], strategy, halves[1 - i]) for i in (0, 1)]
    return Effort(*(sum(counts) for counts in zip(*map(_counts, efforts), strict=True)))


def _counts(effort: Effort) -> tuple[int, int, int]:
    return effort.n_words, effort.n_corrections, effort.n_looked_at


def report(title: str, efforts: Sequence[tuple[Strategy, Effort]]) -> Table:
    """Make a table of one treebank: corrections and looks per 100 words, and what is saved."""
    without = {how.order: effort for how, effort in efforts if how.redecoding == "none"}
    rows = tuple(
        (
            strategy.order,
            f"{strategy.redecoding}{', accept' * strategy.accept}",
            100 * effort.n_corrections / effort.n_words,
            100 * (1 - effort.n_corrections / without[strategy.order].n_corrections),
            100 * effort.n_looked_at / effort.n_words,
        )
        for strategy, effort in efforts
    )
    columns = ("order", "re-decoding", "corrections", "saved, %", "looked at")
    return Table(title, "", columns, rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for each treebank."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("pairs", nargs="+", metavar="MODEL=FILE")
    options.add_argument("--sentences", type=int, help="of each file, at most")
    options.add_argument("--out", type=Path, help="where to write the counts as JSON")
    given = options.parse_args(arguments)
    found: list[dict[str, object]] = []
    halves: dict[Order, list[Floats]] = {}
    whole: dict[Order, Floats] = {}
    for pair in given.pairs:
        model, _, path = pair.partition("=")
        cases = read_cases(model, Path(path), given.sentences)
        if not whole:
            halves = {order: [learn(cases[i::2], order) for i in (0, 1)] for order in ORDERS}
            whole = {order: learn(cases, order) for order in ORDERS}
        efforts = []
        for strategy in STRATEGIES:
            if strategy.redecoding == "learned" and not found:
                effort = measure_crossed(cases, strategy, halves[strategy.order])
            else:
                effort = measure(cases, strategy, whole[strategy.order])
            efforts.append((strategy, effort))
            print(strategy, effort, file=sys.stderr, flush=True)
        name = f"{Path(model).name}, {Path(path).parent.name}"
        title = f"{name}, {len(cases):,} sentences"
        print(f"{title}\n\n{markdown_table(report(title, efforts))}\n", flush=True)
        results = [asdict(strategy) | asdict(effort) for strategy, effort in efforts]
        found.append({"name": name, "sentences": len(cases), "results": results})
    if given.out is not None:
        weights = {
            order: dict(zip(FEATURES, np.round(of_order, 3).tolist(), strict=True))
            for order, of_order in whole.items()
        }
        data = json.dumps({"treebanks": found, "weights": weights}, indent=1)
        given.out.write_text(data + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
