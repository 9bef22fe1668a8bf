"""The three phases of a run: what each trains, with which optimiser, and how dev scores it."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor, nn

from headwise.learn.data.on_device import put_on_device
from headwise.learn.data.treebanks import Data, Examples
from headwise.learn.distil.soft_targets import Lessons
from headwise.learn.fit.checkpoint import Phase, Progress, Saving
from headwise.learn.fit.distributed import ALONE, Group
from headwise.learn.fit.loop import (
    Device,
    StepReport,
    Weights,
    batch_loss,
    collect_arcs,
    score_heads,
    score_labels,
    score_tags,
    train_heads,
    train_labels,
)
from headwise.learn.fit.step import MovingAverage, Stepper, slow_down
from headwise.learn.scorer import TorchScorer
from headwise.network.network import Network
from headwise.settings.recipe import Recipe
from headwise.trees.decode import decode_batch

Steps = Callable[[torch.optim.Optimizer, int], Iterator[StepReport]]


@dataclass(frozen=True, slots=True)
class DevScores:
    """What dev says of a network, in percent; no LAS where labels are not trained yet."""

    uas: float
    tree_rate: float
    las: float | None = None
    tags: Mapping[str, float] = field(default_factory=dict)


Score = Callable[[], DevScores]


@dataclass(slots=True)
class Run:
    """A run under way: what is fixed, and what changes.

    `kept` is the network that is scored and kept: a moving average of `network` where the recipe
    asks for one, and `network` itself otherwise.
    """

    recipe: Recipe
    data: Data
    device: Device
    folder: Path
    network: Network
    kept: Network
    best: dict[str, Tensor]
    progress: Progress
    lessons: Lessons | None = None
    saving: Saving = field(default_factory=Saving)


@dataclass(frozen=True, slots=True)
class PhasePlan:
    """One phase: its optimiser, what an epoch does, and how dev is scored.

    The phase is driven by LAS where `score` has one, by UAS otherwise.
    """

    name: Phase
    n_epochs: int
    patience: int
    optimiser: torch.optim.Optimizer
    steps: Steps
    score: Score
    starts_scored: bool = False
    """The network that the phase starts with is a candidate too, as if it were an epoch."""


def plan_adam(state: Run) -> PhasePlan:
    """Plan the first phase: heads by Adam."""
    train = state.recipe.train
    on_gpu = state.device.where.type == "cuda"
    rate = torch.tensor(train.adam_rate, device="cuda") if on_gpu else train.adam_rate
    optimiser = torch.optim.Adam(_groups(state, rate), capturable=on_gpu, fused=on_gpu)

    def rate_at(epochs: float) -> float:
        if train.schedule == "constant":
            return train.adam_rate
        falling = 0.5 * (1 + math.cos(math.pi * min(1.0, epochs / train.adam_epochs)))
        rising = min(1.0, epochs / train.warmup) if train.warmup else 1.0
        return train.adam_rate * rising * falling

    return _plan_heads(state, "adam", train.adam_epochs, optimiser, rate_at)


def plan_sgd(state: Run) -> PhasePlan:
    """Plan the second phase: heads by plain SGD, from the best epoch of the first."""
    train = state.recipe.train
    optimiser = torch.optim.SGD(_groups(state, train.sgd_rate))
    return _plan_heads(state, "sgd", train.sgd_epochs, optimiser, lambda _: train.sgd_rate)


def _trained_with_heads(state: Run) -> list[nn.Parameter]:
    return state.network.parameters_of("all" if state.recipe.label.joint else "heads")


def _groups(state: Run, rate: float | Tensor) -> list[dict[str, Any]]:
    train = state.recipe.train
    scale = train.encoder_rate / train.adam_rate
    return slow_down(_trained_with_heads(state), state.network.encoder, scale, rate)


def _plan_heads(
    state: Run,
    name: Phase,
    n_epochs: int,
    optimiser: torch.optim.Optimizer,
    rate_at: Callable[[float], float],
) -> PhasePlan:
    recipe = state.recipe
    treebank = put_on_device(state.data.train, state.device.where)
    weigh = Weights(state.device, recipe.label.joint, recipe.train.tag_weight, state.lessons)
    loss_of = partial(batch_loss, state.network, treebank, weigh)
    average = MovingAverage(state.network, state.kept, recipe.train.average, state.progress.n_steps)
    parameters, group = _trained_with_heads(state), state.device.group
    stepper = Stepper(loss_of, optimiser, parameters, recipe.train.clip, average.update, group)
    if state.network.encoder is not None and not state.network.encoder.is_plain:
        stepper.never_record()

    def steps(optimiser: torch.optim.Optimizer, epoch: int) -> Iterator[StepReport]:
        state.network.train()
        yield from train_heads(stepper, treebank, recipe.train, (name, epoch), rate_at, group)
        state.progress = msgspec.structs.replace(state.progress, n_steps=average.n_steps)

    def score() -> DevScores:
        with_labels = recipe.label.joint and not recipe.label.epochs
        return score_on(state, state.data.dev.part(group.own), with_labels, group)

    return PhasePlan(name, n_epochs, recipe.train.patience, optimiser, steps, score)


def score_on(
    state: Run, dev: Examples, with_labels: bool = True, group: Group = ALONE
) -> DevScores:
    """Score the network that is kept: greedy heads, tags, and labels of repaired trees if asked.

    `dev` is the part of this process, and the scores are those of the whole `group`.
    """
    decode = state.recipe.decode
    scorer = TorchScorer(state.kept, state.data.vocab, state.device.where)
    selections = scorer.select_encoded(dev.encoded)
    uas, tree_rate = score_heads(selections, dev, group)
    las = None
    if with_labels:
        matrices = [selection.head_log_probs for selection in selections]
        trees = decode_batch(matrices, decode.decoder, decode.single_root, decode.weights)
        las = score_labels(scorer, selections, [tree.heads for tree in trees], dev, group)
    tags = score_tags(selections, dev, list(state.data.vocab.predicted), group)
    return DevScores(uas, tree_rate, las, tags)


def score_others(state: Run) -> dict[str, float]:
    """Score further dev treebanks, each by itself: `dev_las NAME`."""
    scores: dict[str, float] = {}
    for name, examples in state.data.others.items():
        found = score_on(state, examples)
        scores |= {f"dev_uas {name}": found.uas, f"dev_las {name}": found.las or 0.0}
    return scores


def plan_label(state: Run) -> PhasePlan:
    """Plan the last phase: labels of gold arcs, on features that stay as they are."""
    recipe, group = state.recipe, state.device.group
    dev = state.data.dev.part(group.own)
    scorer = TorchScorer(state.network, state.data.vocab, state.device.where)
    arcs = collect_arcs(scorer, state.data.train, state.device.where)
    selections = scorer.select_encoded(dev.encoded)
    uas, tree_rate = score_heads(selections, dev, group)
    matrices = [selection.head_log_probs for selection in selections]
    decode = recipe.decode
    trees = decode_batch(matrices, decode.decoder, decode.single_root, decode.weights)
    heads = [tree.heads for tree in trees]

    def steps(optimiser: torch.optim.Optimizer, epoch: int) -> Iterator[StepReport]:
        return train_labels(
            state.network, optimiser, arcs, recipe.label, (recipe.train.seed, epoch), group
        )

    def score() -> DevScores:
        return DevScores(uas, tree_rate, score_labels(scorer, selections, heads, dev, group))

    optimiser = torch.optim.Adagrad(state.network.parameters_of("labels"), lr=recipe.label.rate)
    n_epochs = recipe.label.epochs
    return PhasePlan("label", n_epochs, n_epochs, optimiser, steps, score, recipe.label.joint)
