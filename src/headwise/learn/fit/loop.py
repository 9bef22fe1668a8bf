"""Epochs as generators: they train, and report every few batches.

Each epoch seeds PyTorch and draws its order from (seed, phase, epoch) alone. That is what makes a
run the same whether or not it was interrupted, and lets checkpoints do without generator states.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headwise.arrays import BoolArray, IntArray
from headwise.grouping import shuffled_batches
from headwise.learn.data.on_device import Treebank
from headwise.learn.data.treebanks import Examples
from headwise.learn.distil.soft_targets import NO_LESSON, Lessons
from headwise.learn.fit.checkpoint import Phase
from headwise.learn.fit.distributed import ALONE, Gradients, Group
from headwise.learn.fit.step import Stepper
from headwise.learn.scorer import TorchScorer
from headwise.network.inputs import to_device
from headwise.network.label import arc_features, label_loss
from headwise.network.network import Network
from headwise.network.select import head_loss
from headwise.network.tag import tag_loss
from headwise.runtime.scorer import Selection
from headwise.settings.choices import Dtype
from headwise.settings.training import LabelConfig, TrainConfig
from headwise.trees.decode import greedy
from headwise.trees.tree import is_tree
from headwise.vocabulary.vocab import N_SPECIALS, PAD

REPORT_EVERY = 20
"""Batches between two reports; a report waits for the GPU."""


@dataclass(frozen=True, slots=True)
class StartReport:
    """What a run learns from; sentences over `train.max_length` words are not among them."""

    n_sentences: int
    n_words: int
    n_too_long: int
    n_dev_sentences: int
    n_teachers: int = 0


@dataclass(frozen=True, slots=True)
class StepReport:
    """How far an epoch has come."""

    phase: Phase
    epoch: int
    n_done: int
    n_batches: int
    loss: float
    n_epochs: int = 0
    """Epochs that this phase has at most."""


@dataclass(frozen=True, slots=True)
class Device:
    """Where to compute, in which precision, and with which other processes."""

    where: torch.device
    dtype: Dtype = "float32"
    group: Group = ALONE

    def autocast(self) -> torch.autocast:
        """Compute in bfloat16 where that is asked for."""
        enabled = self.dtype == "bfloat16"
        return torch.autocast(self.where.type, torch.bfloat16, enabled=enabled)


@dataclass(frozen=True, slots=True)
class Weights:
    """What a loss is made of: heads always; labels with weight 1 if `joint`; tags.

    With `lessons` each of them is learned from teachers too.
    """

    device: Device
    joint: bool
    tags: float
    lessons: Lessons | None = None


def make_deterministic(device: torch.device) -> None:
    """Ask a GPU for the same sums each time; on a CPU they are so anyway."""
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True, warn_only=True)
        # Or each new array would be filled before it is written, by a kernel of its own.
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def seed_epoch(seed: int, phase: Phase, epoch: int, rank: int = 0) -> np.random.Generator:
    """Seed everything that this epoch draws: one order for all processes, dropout for each."""
    sequence = np.random.SeedSequence([seed, ("adam", "sgd", "label").index(phase), epoch])
    torch.manual_seed(int(sequence.generate_state(rank + 1)[rank]))
    return np.random.default_rng(sequence)


def train_heads(
    stepper: Stepper,
    treebank: Treebank,
    config: TrainConfig,
    at: tuple[Phase, int],
    rate_at: Callable[[float], float],
    group: Group = ALONE,
) -> Iterator[StepReport]:
    """Train for one epoch, Eq. 7; `at` is the phase and the epoch.

    `rate_at` gives the learning rate after so many epochs, counted in fractions. The batches are
    those of one process, whatever the group; `stepper` sees this process's part of each.
    """
    rng = seed_epoch(config.seed, *at, group.rank)
    lengths = treebank.host_lengths
    batches = list(shuffled_batches(lengths, config.batch_size, config.window, rng))
    parts = [batch[group.own] for batch in batches]
    numbers = [i for part in parts for i in part]
    order = torch.tensor(numbers, dtype=torch.long, device=treebank.lengths.device)
    total: Tensor | float = 0.0
    for n_done, (batch, part, chosen) in enumerate(
        zip(batches, parts, torch.split(order, [len(part) for part in parts]), strict=True), 1
    ):
        rate = rate_at(at[1] - 1 + n_done / len(batches))
        longest = max((lengths[i] for i in part), default=0)
        total = total + stepper(chosen, longest, rate, len(part) / len(batch))
        if n_done % REPORT_EVERY == 0 or n_done == len(batches):
            yield StepReport(*at, n_done, len(batches), float(total) / n_done)


def batch_loss(
    network: Network, treebank: Treebank, weigh: Weights, chosen: Tensor, longest: int
) -> Tensor:
    """Give the loss of a batch, Eq. 7; that of gold arcs' labels and of tags where asked for."""
    heads = treebank.heads[chosen, :longest]
    longest = heads.shape[1]  # no longer than the longest sentence, however it was rounded up
    lesson = weigh.lessons.of(chosen, longest) if weigh.lessons else NO_LESSON
    with weigh.device.autocast():
        log_probs, states, inputs = network(*treebank.batch(chosen, longest))
        loss = lesson.mix(head_loss(log_probs, heads), log_probs, lesson.heads)
        if weigh.joint:
            named = _name_arcs(network, states, inputs, heads)
            of_labels = _labels_loss(named, heads, treebank.labels[chosen, :longest])
            loss = loss + lesson.mix(of_labels, named, lesson.labels)
        if treebank.gold_tags and weigh.tags:
            for i, (scores, ids) in enumerate(
                zip(network.tag(states), treebank.gold_tags, strict=True)
            ):
                of_tags = tag_loss([scores], [ids[chosen, :longest]])
                loss = loss + weigh.tags * lesson.mix(of_tags, scores, lesson.tag(i))
    return loss


def _name_arcs(network: Network, states: Tensor, inputs: Tensor, heads: Tensor) -> Tensor:
    """Name gold arcs: log-probabilities [B, N+1, R]; those of words without a head are not read."""
    n_sentences, n_slots = heads.shape
    starts = torch.arange(n_sentences, device=heads.device)[:, None] * n_slots
    dependents = (starts + torch.arange(n_slots, device=heads.device)).flatten()
    of = (starts + heads.clamp(min=0)).flatten()
    arcs = arc_features(states.flatten(0, 1), inputs.flatten(0, 1), dependents, of)
    log_probs: Tensor = network.label(arcs)
    return log_probs.view(n_sentences, n_slots, -1)


def _labels_loss(log_probs: Tensor, heads: Tensor, labels: Tensor) -> Tensor:
    """Give the loss of the labels of gold arcs, summed over words and divided by sentences."""
    targets = torch.where(heads < 0, PAD, labels).flatten()
    return label_loss(log_probs.flatten(0, 1), targets) / len(heads)


@dataclass(frozen=True, slots=True)
class Arcs:
    """All arcs of a treebank with frozen features.

    `states` [K, 2d] and `inputs` [K, s+q] of all slots; `dependents`, `heads` and `labels` [M].
    """

    states: Tensor
    inputs: Tensor
    dependents: Tensor
    heads: Tensor
    labels: Tensor


def collect_arcs(scorer: TorchScorer, examples: Examples, device: torch.device) -> Arcs:
    """Run the trained network over a treebank once and keep what the label network reads."""
    selections = scorer.select_encoded(examples.encoded)
    starts = np.cumsum([0, *(len(sentence) for sentence in examples.encoded)])[:-1]
    dependents = [
        start + np.arange(1, len(s)) for start, s in zip(starts, examples.encoded, strict=True)
    ]
    heads = [start + gold.heads[1:] for start, gold in zip(starts, examples.gold, strict=True)]
    labels = [gold.labels[1:] for gold in examples.gold]
    return Arcs(
        torch.cat([selection.features[0] for selection in selections]),
        torch.cat([selection.features[1] for selection in selections]),
        *(to_device(np.concatenate(part), device) for part in (dependents, heads, labels)),
    )


def train_labels(
    network: Network,
    optimiser: torch.optim.Optimizer,
    arcs: Arcs,
    config: LabelConfig,
    at: tuple[int, int],
    group: Group = ALONE,
) -> Iterator[StepReport]:
    """Train the label network for one epoch on gold arcs; `at` is the seed and the epoch."""
    seed, epoch = at
    rng = seed_epoch(seed, "label", epoch, group.rank)
    gradients = Gradients(network.parameters_of("labels"), group)
    order = torch.from_numpy(rng.permutation(len(arcs.labels))).to(arcs.labels.device)
    batches = torch.split(order, config.batch_size)
    total: Tensor | float = 0.0
    network.train()
    for n_done, batch in enumerate(batches, 1):
        chosen = batch[group.own]
        features = arc_features(
            arcs.states, arcs.inputs, arcs.dependents[chosen], arcs.heads[chosen]
        )
        loss = label_loss(network.label(features), arcs.labels[chosen]) / max(1, len(chosen))
        gradients.clear()
        loss.backward()  # type: ignore[no-untyped-call]
        total = total + gradients.sum(loss.detach(), len(chosen) / len(batch))
        optimiser.step()
        if n_done % (REPORT_EVERY * 10) == 0 or n_done == len(batches):
            yield StepReport("label", epoch, n_done, len(batches), float(total) / n_done)


def score_heads(
    selections: Sequence[Selection], examples: Examples, group: Group = ALONE
) -> tuple[float, float]:
    """Score greedy heads: UAS of the words that count, and the share of trees, in percent.

    This and the other scores are those of the examples of all processes together.
    """
    chosen = [greedy(selection.head_log_probs) for selection in selections]
    right = [
        (heads == gold.heads)[scored]
        for heads, gold, scored in zip(chosen, examples.gold, examples.scored, strict=True)
    ]
    trees = np.array([is_tree(heads) for heads in chosen], np.bool_)
    return _percent(right, group), _percent([trees], group)


def score_labels(
    scorer: TorchScorer,
    selections: Sequence[Selection],
    heads: Sequence[IntArray],
    examples: Examples,
    group: Group = ALONE,
) -> float:
    """Score labelled arcs of given trees: LAS of the words that count, in percent."""
    right = []
    for log_probs, chosen, gold, scored in zip(
        scorer.label(selections, heads), heads, examples.gold, examples.scored, strict=True
    ):
        labels = log_probs.argmax(1) + N_SPECIALS
        both = (chosen[1:] == gold.heads[1:]) & (labels == gold.labels[1:])
        right.append(both[scored[1:]])
    return _percent(right, group)


def score_tags(
    selections: Sequence[Selection],
    examples: Examples,
    columns: Sequence[str],
    group: Group = ALONE,
) -> dict[str, float]:
    """Score predicted tags, every word: accuracy of each column, in percent."""
    scores = {}
    for i, column in enumerate(columns):
        right = [
            selection.tags[i][1:] + N_SPECIALS == gold.tags[i][1:]
            for selection, gold in zip(selections, examples.gold, strict=True)
        ]
        scores[column] = _percent(right, group)
    return scores


def _percent(right: Sequence[BoolArray], group: Group) -> float:
    n_right, n = group.total(sum(int(part.sum()) for part in right), sum(map(len, right)))
    return 100 * n_right / n if n else 0.0
