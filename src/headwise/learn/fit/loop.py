"""Epochs as generators: they train, and report every few batches.

Each epoch seeds PyTorch and draws its order from (seed, phase, epoch) alone. So a run gives the
same model whether or not it was interrupted, and checkpoints need no generator states.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import get_args

import numpy as np
import torch
from torch import Tensor

from headwise.grouping import shuffled_batches
from headwise.learn.data.on_device import Treebank
from headwise.learn.data.treebanks import Examples
from headwise.learn.fit.distributed import ALONE, Group
from headwise.learn.fit.reports import Phase, StepReport
from headwise.learn.fit.step import RecordedStep, TrainingStep
from headwise.learn.scorer import PAIRS_PER_BATCH, arc_slots, batches_by_length, put_batch
from headwise.network.inputs import to_device
from headwise.network.label import arc_features, label_loss
from headwise.network.network import Network
from headwise.settings.training import LabelConfig, TrainConfig
from headwise.vocabulary.encode import NO_HEAD
from headwise.vocabulary.vocab import N_SPECIALS

REPORT_EVERY = 20
"""Batches between two reports; a report waits for the GPU."""


def seed_epoch(seed: int, phase: Phase, epoch: int, rank: int = 0) -> np.random.Generator:
    """Seed all that this epoch draws: one order for all processes, dropout for each."""
    sequence = np.random.SeedSequence([seed, get_args(Phase).index(phase), epoch])
    torch.manual_seed(int(sequence.generate_state(rank + 1)[rank]))
    return np.random.default_rng(sequence)


@dataclass(frozen=True, slots=True)
class Draw:
    """Sentences from which each epoch draws some, `share` of the epoch; it has all others."""

    sentences: range = range(0)
    share: float = 0.0

    def of_epoch(self, n_sentences: int, rng: np.random.Generator) -> list[int]:
        """Give the numbers of the sentences of an epoch: all others, and some of these."""
        some = self.sentences
        if not some:
            return list(range(n_sentences))
        others = [*range(some.start), *range(some.stop, n_sentences)]
        n_drawn = min(len(some), round(len(others) * self.share / (1 - self.share)))
        return others + [some[i] for i in rng.choice(len(some), n_drawn, replace=False)]


NO_DRAW = Draw()


def train_heads(
    step: RecordedStep,
    treebank: Treebank,
    config: TrainConfig,
    phase: Phase,
    epoch: int,
    n_epochs: int,
    rate_at: Callable[[float], float],
    group: Group = ALONE,
    draw: Draw = NO_DRAW,
) -> Iterator[StepReport]:
    """Train for one epoch, Eq. 7.

    `rate_at` gives the learning rate after a number of epochs, which may be fractional. Batches do
    not depend on the group; `step` gets this process's part of each.
    """
    rng = seed_epoch(config.seed, phase, epoch, group.rank)
    sizes = treebank.sizes
    batches: list[list[int]] = []
    while len(batches) < max(1, config.steps):
        drawn = draw.of_epoch(len(sizes), rng)
        drawn_sizes = [sizes[i] for i in drawn]
        shuffled = shuffled_batches(drawn_sizes, config.batch_size, config.window, rng)
        batches += [[drawn[i] for i in batch] for batch in shuffled]
    parts = [batch[group.own] for batch in batches]
    numbers = [i for part in parts for i in part]
    order = torch.tensor(numbers, dtype=torch.long, device=treebank.lengths.device)
    total: Tensor | float = 0.0
    for n_done, (batch, part, chosen) in enumerate(
        zip(batches, parts, torch.split(order, [len(part) for part in parts]), strict=True), 1
    ):
        rate = rate_at(epoch - 1 + n_done / len(batches))
        largest = max((sizes[i] for i in part), default=0)
        total = total + step(chosen, largest, rate, len(part) / len(batch))
        if n_done % REPORT_EVERY == 0 or n_done == len(batches):
            mean = float(total) / n_done
            yield StepReport(phase, epoch, n_epochs, n_done, len(batches), mean)


@dataclass(frozen=True, slots=True)
class Arcs:
    """All gold arcs of a treebank that have a label, with features that no longer change.

    `states` [K, 2d] and `inputs` [K, s+q] of all slots; `dependents`, `heads` and `labels` [M].
    """

    states: Tensor
    inputs: Tensor
    dependents: Tensor
    heads: Tensor
    labels: Tensor

    def loss(self, network: Network, chosen: Tensor) -> Tensor:
        """Give the mean loss of the labels of the arcs `chosen`."""
        dependents, heads = self.dependents[chosen], self.heads[chosen]
        features = arc_features(self.states, self.inputs, dependents, heads)
        return label_loss(network.label(features), self.labels[chosen])


def collect_arcs(
    network: Network,
    examples: Examples,
    device: torch.device,
    pairs_per_batch: int = PAIRS_PER_BATCH,
) -> Arcs:
    """Run the trained network over a treebank once and keep what the label network reads.

    Each batch is written to its place at once: features of a whole treebank may be gigabytes, and a
    device need not have room for them twice.
    """
    lengths = np.array([len(sentence) for sentence in examples.encoded])
    starts = np.cumsum(lengths) - lengths
    states = torch.empty(int(lengths.sum()), network.represent.size, device=device)
    inputs = torch.empty(len(states), network.inputs.size, device=device)
    network.eval()
    with torch.no_grad():
        for numbers in batches_by_length(lengths.tolist(), pairs_per_batch):
            batch = put_batch([examples.encoded[i] for i in numbers], device)
            batch_states, batch_inputs = network.represent_words(*batch)
            for k, i in enumerate(numbers):
                rows = slice(starts[i], starts[i] + lengths[i])
                states[rows] = batch_states[k, : lengths[i]]
                inputs[rows] = batch_inputs[k, : lengths[i]]
    dependents, heads = arc_slots([gold.heads for gold in examples.gold], device)
    labels = to_device(np.concatenate([gold.labels[1:] for gold in examples.gold]), device)
    has_head = np.concatenate([gold.heads[1:] != NO_HEAD for gold in examples.gold])
    known = torch.from_numpy(has_head).to(device) & (labels >= N_SPECIALS)
    return Arcs(states, inputs, dependents[known], heads[known], labels[known])


def train_labels(
    step: TrainingStep,
    network: Network,
    arcs: Arcs,
    config: LabelConfig,
    seed: int,
    epoch: int,
    group: Group = ALONE,
) -> Iterator[StepReport]:
    """Train the label network for one epoch on gold arcs."""
    rng = seed_epoch(seed, "label", epoch, group.rank)
    order = torch.from_numpy(rng.permutation(len(arcs.labels))).to(arcs.labels.device)
    batches = torch.split(order, config.batch_size)
    total: Tensor | float = 0.0
    network.train()
    for n_done, batch in enumerate(batches, 1):
        chosen = batch[group.own]
        share = len(chosen) / len(batch)
        total = total + step(partial(arcs.loss, network, chosen), config.rate, share)
        if n_done % (REPORT_EVERY * 10) == 0 or n_done == len(batches):
            mean = float(total) / n_done
            yield StepReport("label", epoch, config.epochs, n_done, len(batches), mean)
