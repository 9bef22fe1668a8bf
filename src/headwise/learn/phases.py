"""The three phases of a run: what each trains, with which optimiser, and how dev scores it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from headwise.config import Recipe
from headwise.learn.checkpoint import Phase, Progress
from headwise.learn.data import Data
from headwise.learn.loop import (
    Device,
    StepReport,
    collect_arcs,
    heads_loss,
    put_on_device,
    score_heads,
    score_labels,
    train_heads,
    train_labels,
)
from headwise.learn.network import Network
from headwise.learn.scorer import TorchScorer
from headwise.learn.step import Stepper
from headwise.trees.decode import decode_batch

Steps = Callable[[torch.optim.Optimizer, int], Iterator[StepReport]]
Score = Callable[[], tuple[float, float | None, float]]


@dataclass(slots=True)
class Run:
    """A run under way: what is fixed, and the three things that change."""

    recipe: Recipe
    data: Data
    device: Device
    folder: Path
    network: Network
    best: dict[str, Tensor]
    progress: Progress


@dataclass(frozen=True, slots=True)
class PhasePlan:
    """One phase: its optimiser, what an epoch does, and how dev is scored.

    `score` gives UAS, LAS (None before labels) and the tree rate; the phase is driven by LAS where
    there is one, by UAS otherwise.
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
    rate = state.recipe.train.adam_rate
    on_gpu = state.device.where.type == "cuda"
    optimiser = torch.optim.Adam(
        _trained_with_heads(state), lr=rate, capturable=on_gpu, fused=on_gpu
    )
    return _plan_heads(state, "adam", state.recipe.train.adam_epochs, optimiser)


def plan_sgd(state: Run) -> PhasePlan:
    """Plan the second phase: heads by plain SGD, from the best epoch of the first."""
    rate = state.recipe.train.sgd_rate
    optimiser = torch.optim.SGD(_trained_with_heads(state), lr=rate)
    return _plan_heads(state, "sgd", state.recipe.train.sgd_epochs, optimiser)


def _trained_with_heads(state: Run) -> list[nn.Parameter]:
    return state.network.parameters_of("all" if state.recipe.label.joint else "heads")


def _plan_heads(
    state: Run, name: Phase, n_epochs: int, optimiser: torch.optim.Optimizer
) -> PhasePlan:
    recipe, dev = state.recipe, state.data.dev
    scorer = TorchScorer(state.network, state.device.where)
    treebank = put_on_device(state.data.train, state.device.where)

    loss_of = partial(heads_loss, state.network, treebank, state.device, recipe.label.joint)
    stepper = Stepper(loss_of, optimiser, _trained_with_heads(state), recipe.train.clip)

    def steps(optimiser: torch.optim.Optimizer, epoch: int) -> Iterator[StepReport]:
        state.network.train()
        return train_heads(stepper, treebank, recipe.train, (name, epoch))

    def score() -> tuple[float, float | None, float]:
        uas, tree_rate = score_heads(scorer.select(dev.encoded), dev)
        return uas, None, tree_rate

    return PhasePlan(name, n_epochs, recipe.train.patience, optimiser, steps, score)


def plan_label(state: Run) -> PhasePlan:
    """Plan the last phase: labels of gold arcs, on features that stay as they are."""
    recipe, dev = state.recipe, state.data.dev
    arcs = collect_arcs(state.network, state.data.train, state.device.where)
    scorer = TorchScorer(state.network, state.device.where)
    selections = scorer.select(dev.encoded)
    uas, tree_rate = score_heads(selections, dev)
    matrices = [selection.head_log_probs for selection in selections]
    decode = recipe.decode
    trees = decode_batch(matrices, decode.decoder, decode.single_root, decode.weights)
    heads = [tree.heads for tree in trees]

    def steps(optimiser: torch.optim.Optimizer, epoch: int) -> Iterator[StepReport]:
        return train_labels(
            state.network, optimiser, arcs, recipe.label, (recipe.train.seed, epoch)
        )

    def score() -> tuple[float, float | None, float]:
        return uas, score_labels(scorer, selections, heads, dev), tree_rate

    optimiser = torch.optim.Adagrad(state.network.parameters_of("labels"), lr=recipe.label.rate)
    n_epochs = recipe.label.epochs
    return PhasePlan("label", n_epochs, n_epochs, optimiser, steps, score, recipe.label.joint)
