"""Labels of arcs and tags of words: distributions over strings, with one loss.

Labels, the end of Sec. 3.2, come from a two-layer rectifier network on [a_i; a_j; x_i; x_j].
Tags, features and lemma rules come from one rectifier layer for each column on [a_i; x_i].
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from headwise.vocabulary.vocab import N_SPECIALS, Vocab


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

    def divide_scores(self, temperature: float) -> None:
        """Divide all scores by a temperature, by changing weights."""
        _divide(self.last, temperature)


def _divide(layer: nn.Module, temperature: float) -> None:
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.div_(temperature)


def arc_features(states: Tensor, inputs: Tensor, dependents: Tensor, heads: Tensor) -> Tensor:
    """Gather [a_i; a_j; x_i; x_j] of the arcs j -> i: [M, 2 (2d + s + q)].

    `states` [K, 2d] and `inputs` [K, s+q] are of all slots; `dependents` and `heads` [M] are
    slots among them.
    """
    parts = [part.index_select(0, at) for part in (states, inputs) for at in (dependents, heads)]
    return torch.cat(parts, dim=-1)


class Tagger(nn.Module):
    """A hidden layer for each column; PAD, UNK and ROOT are never predicted."""

    def __init__(self, size: int, hidden_size: int, vocab: Vocab) -> None:
        """Make the layers; `size` is that of [a_i; x_i]."""
        super().__init__()
        columns = vocab.outputs
        n_scores = {column: math.prod(shape) for column, shape in columns.items()}
        if vocab.features is not None:
            n_scores["feats"] = vocab.features.n_scores
            layout = torch.from_numpy(vocab.features.layout).long()
            # Where a feature has no more values, the score is that of the column after the last.
            self.register_buffer("layout", layout % (n_scores["feats"] + 1), persistent=False)
        self.hidden = nn.ModuleDict({column: nn.Linear(size, hidden_size) for column in columns})
        self.last = nn.ModuleDict(
            {column: nn.Linear(hidden_size, n) for column, n in n_scores.items()}
        )
        self.dropout = 0.0

    def forward(self, states: Tensor, inputs: Tensor) -> list[Tensor]:
        """Give log-probabilities for states [..., 2d] and inputs [..., s+q], a tensor a column.

        They are [..., tags] or [..., rules], and for FEATS [..., features, values].
        """
        both = torch.cat([states, inputs], dim=-1)
        scores = []
        for column, layer in self.hidden.items():
            hidden = functional.relu(layer(both))
            hidden = functional.dropout(hidden, self.dropout, self.training)
            scores.append(self.distribution(column, self.last[column](hidden).float()))
        return scores

    def distribution(self, column: str, scores: Tensor) -> Tensor:
        """Turn the scores of a column [..., n] into log-probabilities."""
        if column == "feats":
            layout = self.get_buffer("layout")
            padded = functional.pad(scores, (0, 1), value=-torch.inf)
            scores = padded[..., layout.flatten()].view(*scores.shape[:-1], *layout.shape)
        return functional.log_softmax(scores, dim=-1)

    def divide_scores(self, column: str, temperature: float) -> None:
        """Divide the scores of a column by a temperature, by changing weights."""
        _divide(self.last[column], temperature)


def label_loss(log_probs: Tensor, gold: Tensor) -> Tensor:
    """Sum the negative log-likelihood of labels or tags, divided by the rows of the batch.

    `log_probs` [B, ..., R]; of the `gold` ids [B, ...] specials (ROOT, PAD, UNK) do not count.
    """
    targets = (gold.long() - N_SPECIALS).clamp(min=-1).flatten()
    flat = log_probs.flatten(0, -2)
    total = functional.nll_loss(flat, targets, ignore_index=-1, reduction="sum")
    return total / len(gold)
