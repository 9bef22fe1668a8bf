"""The three phases of a run: what each trains, with which optimiser, and how dev scores it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from torch import Tensor, nn

from headwise.learn.compute import Compute
from headwise.learn.data.on_device import put_on_device
from headwise.learn.data.treebanks import Data
from headwise.learn.distil.soft_targets import SoftTargets
from headwise.learn.fit.checkpoint import CheckpointWriter, Progress
from headwise.learn.fit.dev_scores import (
    DevScores,
    best_heads,
    score_dev,
    score_heads,
    score_labels,
)
from headwise.learn.fit.loop import Draw, collect_arcs, train_heads, train_labels
from headwise.learn.fit.loss import batch_loss
from headwise.learn.fit.reports import Phase, StepReport, TakenReport
from headwise.learn.fit.step import (
    MovingAverage,
    RecordedStep,
    TrainingStep,
    cosine_rate,
    slow_down,
)
from headwise.learn.scorer import TorchScorer
from headwise.network.network import Network
from headwise.settings.recipe import Recipe


@dataclass(slots=True)
class Run:
    """A run under way: what is fixed, and what changes.

    `kept` is the network that is scored and kept: a moving average of `network` if the recipe asks
    for one, and `network` itself otherwise.
    """

    recipe: Recipe
    data: Data
    compute: Compute
    folder: Path
    network: Network
    kept: Network
    best: dict[str, Tensor]
    progress: Progress
    soft_targets: SoftTargets | None = None
    taken: TakenReport | None = None
    """What the network has of the one that it starts from, until the run is resumed."""
    checkpoints: CheckpointWriter = field(default_factory=CheckpointWriter)

    def scorer(self) -> TorchScorer:
        """Score with the network that is kept."""
        return TorchScorer(self.kept, self.data.vocab, self.compute.device)


@dataclass(frozen=True, slots=True)
class PhasePlan:
    """One phase: its optimiser, what an epoch does, and how dev is scored.

    LAS chooses the best epoch if `score` has one, UAS otherwise.
    """

    name: Phase
    n_epochs: int
    patience: int
    optimiser: torch.optim.Optimizer
    train_epoch: Callable[[int], Iterator[StepReport]]
    score: Callable[[], DevScores]
    scores_start: bool = False
    """The network that the phase starts with competes for the best, as if it were an epoch."""


def plan_adam(state: Run) -> PhasePlan:
    """Plan the first phase: heads by Adam."""
    train = state.recipe.train
    on_gpu = state.compute.device.type == "cuda"
    adam_rate = train.adam_rate * _rate_scale(state)
    rate = torch.tensor(adam_rate, device="cuda") if on_gpu else adam_rate
    optimiser = torch.optim.Adam(_groups(state, rate), capturable=on_gpu, fused=True)

    def rate_at(epochs: float) -> float:
        if train.schedule == "constant":
            return adam_rate
        warmed_up = epochs / train.warmup if train.warmup else 1.0
        return cosine_rate(adam_rate, warmed_up, epochs / train.adam_epochs)

    return _plan_heads(state, "adam", train.adam_epochs, optimiser, rate_at)


def plan_sgd(state: Run) -> PhasePlan:
    """Plan the second phase: heads by plain SGD, from the best epoch of the first."""
    train = state.recipe.train
    rate = train.sgd_rate * _rate_scale(state)
    optimiser = torch.optim.SGD(_groups(state, rate))
    return _plan_heads(state, "sgd", train.sgd_epochs, optimiser, lambda _: rate)


def _rate_scale(state: Run) -> float:
    """Slow down if the network was trained before."""
    return 1.0 if state.recipe.start is None else state.recipe.start.rate


def _draw(state: Run) -> Draw:
    start, main_share = state.recipe.start, state.recipe.train.main_share
    if start is not None and start.replay:
        return Draw(state.data.drawn, start.replay_share)
    return Draw(state.data.drawn, 1 - main_share if main_share else 0.0)


def _head_parameters(state: Run) -> list[nn.Parameter]:
    return state.network.parameters_of("all" if state.recipe.label.joint else "heads")


def _groups(state: Run, rate: float | Tensor) -> list[dict[str, Any]]:
    train, encoder = state.recipe.train, state.network.encoder
    scale = train.encoder_rate / train.adam_rate
    depths = {} if encoder is None else encoder.depths()
    scales = {weight: scale * train.layer_decay**depth for weight, depth in depths.items()}
    return slow_down(_head_parameters(state), scales, rate)


def _plan_heads(
    state: Run,
    name: Phase,
    n_epochs: int,
    optimiser: torch.optim.Optimizer,
    rate_at: Callable[[float], float],
) -> PhasePlan:
    recipe, compute, network = state.recipe, state.compute, state.network
    group, config = compute.group, recipe.train
    treebank = put_on_device(state.data.train, compute.device)
    loss_of = partial(
        batch_loss,
        network,
        treebank,
        compute,
        with_labels=recipe.label.joint,
        tag_weight=config.tag_weight,
        soft_targets=state.soft_targets,
    )
    draw = _draw(state)
    average = MovingAverage(network, state.kept, config.average, state.progress.n_steps)
    step = RecordedStep(
        TrainingStep(optimiser, _head_parameters(state), config.clip, group),
        loss_of,
        average.update,
        can_record=network.encoder is None or network.encoder.is_plain,
    )

    def train_epoch(epoch: int) -> Iterator[StepReport]:
        network.train()
        yield from train_heads(step, treebank, config, name, epoch, n_epochs, rate_at, group, draw)
        state.progress = msgspec.structs.replace(state.progress, n_steps=average.n_steps)

    def score() -> DevScores:
        has_labels = recipe.label.joint and not recipe.label.epochs
        decode = recipe.decode if has_labels else None
        return score_dev(state.scorer(), state.data.dev.part(group.own), decode, group)

    return PhasePlan(name, n_epochs, config.patience, optimiser, train_epoch, score)


def plan_label(state: Run) -> PhasePlan:
    """Plan the last phase: labels of gold arcs, on features that stay as they are."""
    recipe, compute, network = state.recipe, state.compute, state.network
    group, config = compute.group, recipe.label
    train = state.data.train
    drawn = _draw(state).of_epoch(len(train.encoded), np.random.default_rng(recipe.train.seed))
    arcs = collect_arcs(network, train.chosen(drawn), compute.device)
    dev = state.data.dev.part(group.own)
    scorer = TorchScorer(network, state.data.vocab, compute.device)
    selections = scorer.select_encoded(dev.encoded)
    uas, tree_rate = score_heads(selections, dev, group)
    heads = best_heads(selections, recipe.decode)
    parameters = network.parameters_of("labels")
    config = msgspec.structs.replace(config, rate=config.rate * _rate_scale(state))
    optimiser = torch.optim.Adagrad(parameters, lr=config.rate)
    step = TrainingStep(optimiser, parameters, group=group)

    def train_epoch(epoch: int) -> Iterator[StepReport]:
        return train_labels(step, network, arcs, config, recipe.train.seed, epoch, group)

    def score() -> DevScores:
        return DevScores(uas, tree_rate, score_labels(scorer, selections, heads, dev, group))

    n_epochs = config.epochs
    return PhasePlan("label", n_epochs, n_epochs, optimiser, train_epoch, score, config.joint)
