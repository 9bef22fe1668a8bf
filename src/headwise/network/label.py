"""Labels of arcs, the end of Sec. 3.2: a two-layer rectifier network on [a_i; a_j; x_i; x_j]."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from headwise.vocabulary.vocab import N_SPECIALS


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
        hidden = functional.dropout(
            functional.relu(self.first(hidden)), self.hidden_dropout, self.training
        )
        hidden = functional.dropout(
            functional.relu(self.second(hidden)), self.hidden_dropout, self.training
        )
        return functional.log_softmax(self.last(hidden).float(), dim=-1)


def arc_features(states: Tensor, inputs: Tensor, dependents: Tensor, heads: Tensor) -> Tensor:
    """Gather [a_i; a_j; x_i; x_j] of the arcs j -> i: [M, 2 (2d + s + q)].

    `states` [K, 2d] and `inputs` [K, s+q] are of all slots; `dependents` and `heads` [M] are
    slots among them.
    """
    parts = [part.index_select(0, at) for part in (states, inputs) for at in (dependents, heads)]
    return torch.cat(parts, dim=-1)


def label_loss(log_probs: Tensor, gold_labels: Tensor) -> Tensor:
    """Sum the negative log-likelihood; arcs whose label id is a special one (UNK) do not count."""
    targets = (gold_labels.long() - N_SPECIALS).clamp(min=-1)
    return functional.nll_loss(log_probs, targets, ignore_index=-1, reduction="sum")
