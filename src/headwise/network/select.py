"""Every word selects its head, Eq. 5-7.

A selector first projects the representation of each word, once as a head and once as a dependent,
and then scores pairs; between the two the runtime can cut long sentences into blocks of rows.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from headwise.network.pairs import pair_scores


class AdditiveSelector(nn.Module):
    """g(a_j, a_i) = v_a . tanh(U_a a_j + W_a a_i), Eq. 6."""

    def __init__(self, size: int, pair_size: int) -> None:
        """Make U_a, W_a (with biases, as in the authors' code) and v_a.

        `size` is 2d, and `pair_size` too in the paper; a smaller one makes pairs cheaper.
        """
        super().__init__()
        self.U_a = nn.Linear(size, pair_size)
        self.W_a = nn.Linear(size, pair_size)
        self.v_a = nn.Linear(pair_size, 1, bias=False)

    def project(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Give U_a a_j and W_a a_i of every word: [B, N+1, k] each."""
        return self.U_a(states), self.W_a(states)

    def forward(self, dependents: Tensor, heads: Tensor, rows: Tensor) -> Tensor:
        """Score `dependents` [B, n, k], which stand in `rows`, with all `heads`: [B, n, N+1]."""
        pairs = torch.tanh(dependents[:, :, None] + heads[:, None, :])  # [B, n, N+1, k]
        scores: Tensor = self.v_a(pairs).squeeze(-1)
        return scores

    def score(self, dependents: Tensor, heads: Tensor, rows: Tensor) -> Tensor:
        """Score as `forward` does, without an array of pairs; `forward` is the form to export."""
        return pair_scores(dependents, heads, self.v_a.weight[0])

    def divide_scores(self, temperature: float) -> None:
        """Divide all scores by a temperature, by changing weights."""
        with torch.no_grad():
            self.v_a.weight.div_(temperature)


def head_distribution(scores: Tensor, lengths: Tensor | None) -> Tensor:
    """Give log P_head(w_j | w_i, S), Eq. 5, from scores [B, n, N+1]; padding is never a head."""
    if lengths is not None:
        slots = torch.arange(scores.shape[-1], device=scores.device)
        padding = slots >= lengths[:, None]  # [B, N+1]
        scores = scores.masked_fill(padding[:, None], -torch.inf)
    return functional.log_softmax(scores.float(), dim=-1)


def head_loss(log_probs: Tensor, gold_heads: Tensor) -> Tensor:
    """J(theta) of Eq. 7: summed over words, divided by sentences.

    `log_probs` [B, N+1, N+1]; `gold_heads` [B, N+1] is -1 for ROOT, padding, and words without one.
    """
    flat = log_probs.flatten(0, 1)  # [B * (N+1), N+1]
    total = functional.nll_loss(flat, gold_heads.flatten().long(), ignore_index=-1, reduction="sum")
    return total / len(gold_heads)
