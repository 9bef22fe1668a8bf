"""Labels of arcs and tags of words: distributions over strings, with one loss.

Labels, the end of Sec. 3.2, come from a two-layer rectifier network on [a_i; a_j; x_i; x_j].
Tags come from a_i, in the same pass as heads.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from headwise.settings.choices import PredictedTag
from headwise.vocabulary.vocab import N_SPECIALS, Index


class Labeller(nn.Module):
    """Two hidden layers of rectifiers; PAD, UNK and ROOT are never predicted."""

    def __init__(self, feature_size: int, hidden_size: int, n_labels: int) -> None:
        """Make the layers; `feature_size` is that of [a_i; x_i], `n_labels` counts all ids."""
        super().__init__()
        self.first = nn.Linear(2 * feature_size, hidden_size)
        self.second = nn.Linear(hidden_size, hidden_size)
        self.last = nn.Linear(hidden_size, n_labels - N_SPECIALS)
        self.input_dropout = 0.0
        self.hidden_dropout = 0.0

    def forward(self, arcs: Tensor) -> Tensor:
        """Give log-probabilities of labels [M, R], no specials, for arcs [M, 2 (2d + s + q)]."""
        hidden = functional.dropout(arcs, self.input_dropout, self.training)
        for layer in (self.first, self.second):
            hidden = functional.relu(layer(hidden))
            hidden = functional.dropout(hidden, self.hidden_dropout, self.training)
        return functional.log_softmax(self.last(hidden).float(), dim=-1)


def arc_features(states: Tensor, inputs: Tensor, dependents: Tensor, heads: Tensor) -> Tensor:
    """Gather [a_i; a_j; x_i; x_j] of the arcs j -> i: [M, 2 (2d + s + q)].

    `states` [K, 2d] and `inputs` [K, s+q] are of all slots; `dependents` and `heads` [M] are
    slots among them.
    """
    parts = [part.index_select(0, at) for part in (states, inputs) for at in (dependents, heads)]
    return torch.cat(parts, dim=-1)


class Tagger(nn.Module):
    """One linear layer for each column; PAD, UNK and ROOT are never predicted."""

    def __init__(self, size: int, predicted: Mapping[PredictedTag, Index]) -> None:
        """Make the layers; `size` is that of a_i."""
        super().__init__()
        self.columns = nn.ModuleDict(
            {column: nn.Linear(size, len(index.strings)) for column, index in predicted.items()}
        )

    def forward(self, states: Tensor) -> list[Tensor]:
        """Give log-probabilities [..., tags] for states [..., 2d], a tensor for each column."""
        return [
            functional.log_softmax(layer(states).float(), dim=-1) for layer in self.columns.values()
        ]


def label_loss(log_probs: Tensor, gold: Tensor) -> Tensor:
    """Sum the negative log-likelihood of labels or tags, divided by the rows of the batch.

    `log_probs` [B, ..., R]; of the `gold` ids [B, ...] specials (ROOT, PAD, UNK) do not count.
    """
    targets = (gold.long() - N_SPECIALS).clamp(min=-1).flatten()
    flat = log_probs.flatten(0, -2)
    total = functional.nll_loss(flat, targets, ignore_index=-1, reduction="sum")
    return total / len(gold)
