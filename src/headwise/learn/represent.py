"""From words to representations, Eq. 1-4.

`Inputs` is x_i (Eq. 3), `BiLstm` makes a_i of it (Eq. 1, 2, 4). The two directions are stacks of
their own, joined only at the top; `interleaved` joins them after every layer instead, as most
libraries do. `learn.pei` has the other representation.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from headwise.config import ModelConfig
from headwise.learn.recurrent import run_layer


class Inputs(nn.Module):
    """x_i = [W_e e(w_i); W_t e(t_i)], Eq. 3; without the second half for a parser without tags."""

    def __init__(self, config: ModelConfig, n_words: int, n_tags: int) -> None:
        """Make the embedding tables, one row for each id."""
        super().__init__()
        self.word = nn.Embedding(n_words, config.word_size)
        self.tag = None if config.tag_column == "none" else nn.Embedding(n_tags, config.tag_size)
        self.size = config.word_size + (config.tag_size if self.tag else 0)

    def forward(self, words: Tensor, tags: Tensor) -> Tensor:
        """Look up ids [B, N+1]: float [B, N+1, s+q]."""
        embedded: Tensor = self.word(words)
        if self.tag is None:
            return embedded
        return torch.cat([embedded, self.tag(tags)], dim=-1)


class BiLstm(nn.Module):
    """a_i = [h_i^F; h_i^B], Eq. 1, 2 and 4."""

    def __init__(self, config: ModelConfig, input_size: int) -> None:
        """Make one LSTM for each layer and direction; each gate has two biases."""
        super().__init__()
        self.interleaved = config.stacks == "interleaved"
        d = config.hidden_size
        above = 2 * d if self.interleaved else d
        sizes = [input_size] + [above] * (config.layers - 1)
        self.forward_stack = nn.ModuleList(nn.LSTM(n, d, batch_first=True) for n in sizes)
        self.backward_stack = nn.ModuleList(nn.LSTM(n, d, batch_first=True) for n in sizes)
        self.size = 2 * d
        self.dropout = 0.0
        self.recurrent_dropout = 0.0

    def forward(self, inputs: Tensor, lengths: Tensor | None) -> Tensor:
        """Read sentences in both directions: x [B, N+1, s+q] to a [B, N+1, 2d].

        `lengths` [B] keep padding out of the backward direction; None where there is none.
        """
        ahead, back = inputs, reverse(inputs, lengths)
        for one, other in zip(self.forward_stack, self.backward_stack, strict=True):
            ahead, back = self._run_layer(one, other, ahead, back)
            if self.interleaved:
                ahead = torch.cat([ahead, reverse(back, lengths)], dim=-1)
                back = reverse(ahead, lengths)
        if self.interleaved:
            return ahead
        return torch.cat([ahead, reverse(back, lengths)], dim=-1)  # [B, N+1, 2d]

    def _run_layer(
        self, one: nn.Module, other: nn.Module, ahead: Tensor, back: Tensor
    ) -> tuple[Tensor, Tensor]:
        if not self.training:
            return one(ahead)[0], other(back)[0]
        both = torch.stack([ahead, back])  # [2, B, N+1, s+q or d]
        both = functional.dropout(both, self.dropout)
        states = run_with_dropout(both, (one, other), self.recurrent_dropout)
        return states[0], states[1]


def run_with_dropout(inputs: Tensor, lstms: tuple[nn.Module, nn.Module], share: float) -> Tensor:
    """Run one layer of both directions at once, with dropout: [2, B, T, k] to [2, B, T, d]."""
    weight_ih, weight_hh, bias_ih, bias_hh = (
        torch.stack([getattr(lstm, f"{name}_l0") for lstm in lstms])
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    projected = torch.einsum("gbtk,gdk->tgbd", inputs, weight_ih)  # [T, 2, B, 4d]
    bias = (bias_ih + bias_hh).to(projected.dtype)  # [2, 4d]
    recurrent = weight_hh.transpose(1, 2).to(projected.dtype)  # [2, d, 4d]
    n_steps, _, n_sentences, _ = projected.shape
    ones = torch.ones(n_steps, 2, n_sentences, recurrent.shape[1], device=inputs.device)
    hidden = run_layer(projected.contiguous(), bias, recurrent, functional.dropout(ones, share))
    return hidden.permute(1, 2, 0, 3)


def reverse(values: Tensor, lengths: Tensor | None) -> Tensor:
    """Turn each sentence [B, N+1, k] around within its length, so that padding stays at the end."""
    if lengths is None:
        return values.flip(1)
    positions = torch.arange(values.shape[1], device=values.device)
    turned = lengths[:, None] - 1 - positions  # [B, N+1]
    turned = torch.where(turned < 0, positions, turned)
    return torch.take_along_dim(values, turned[:, :, None], dim=1)
