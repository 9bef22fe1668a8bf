"""From inputs to representations, Eq. 1, 2 and 4.

`BiLstm` makes a_i (Eq. 1, 2, 4) of x_i (Eq. 3, `network.inputs`). The two directions are stacks of
their own, joined only at the top; `interleaved` joins them after every layer instead, as most
libraries do. `network.pei` has the other representation.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from headwise.network.kernels.launch import kernels_on
from headwise.network.recurrent import run_layer
from headwise.settings.model import ModelConfig


class BiLstm(nn.Module):
    """a_i = [h_i^F; h_i^B], Eq. 1, 2 and 4."""

    def __init__(self, config: ModelConfig, input_size: int) -> None:
        """Make one LSTM for each layer and direction; each gate has two biases."""
        super().__init__()
        self.interleaved = config.stacks == "interleaved"
        d = config.hidden_size
        above = 2 * d if self.interleaved else d
        sizes = [input_size, *[above] * config.layers][: config.layers]
        self.forward_stack = nn.ModuleList(nn.LSTM(n, d, batch_first=True) for n in sizes)
        self.backward_stack = nn.ModuleList(nn.LSTM(n, d, batch_first=True) for n in sizes)
        self.size = 2 * d if sizes else input_size
        self.dropout = 0.0
        self.recurrent_dropout = 0.0
        self.locked = False

    def forward(self, inputs: Tensor, lengths: Tensor | None) -> Tensor:
        """Read sentences in both directions: x [B, N+1, s+q] to a [B, N+1, 2d].

        `lengths` [B] keep padding out of the backward direction; None where there is none. Without
        layers a_i is x_i.
        """
        if not len(self.forward_stack):
            return self._drop(inputs)
        ahead, back = inputs, reverse(inputs, lengths)
        for one, other in zip(self.forward_stack, self.backward_stack, strict=True):
            ahead, back = self._run_layer(one, other, ahead, back)
            if self.interleaved:
                ahead = torch.cat([ahead, reverse(back, lengths)], dim=-1)
                back = reverse(ahead, lengths)
        if not self.interleaved:
            ahead = torch.cat([ahead, reverse(back, lengths)], dim=-1)
        return self._drop(ahead) if self.locked else ahead  # [B, N+1, 2d]

    def _run_layer(
        self, one: nn.Module, other: nn.Module, ahead: Tensor, back: Tensor
    ) -> tuple[Tensor, Tensor]:
        ahead, back = self._drop(ahead), self._drop(back)
        share = self.recurrent_dropout if self.training else 0.0
        # Kernels of ours run both directions at once, the library one after the other.
        if not share and not (self.training and kernels_on(ahead.device)):
            return one(ahead)[0], other(back)[0]
        both = torch.stack([ahead, back])  # [2, B, N+1, s+q or d]
        weight_ih, weight_hh, bias_ih, bias_hh = (
            torch.stack([getattr(lstm, f"{name}_l0") for lstm in (one, other)])
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        projected = torch.einsum("gbtk,gdk->tgbd", both, weight_ih)  # [N+1, 2, B, 4d]
        bias = (bias_ih + bias_hh).to(projected.dtype)  # [2, 4d]
        recurrent = weight_hh.transpose(1, 2).to(projected.dtype)  # [2, d, 4d]
        ones = torch.ones(*projected.shape[:3], recurrent.shape[1], device=both.device)
        keep = functional.dropout(ones, share)
        hidden = run_layer(projected.contiguous(), bias, recurrent, keep)  # [N+1, 2, B, d]
        ahead, back = hidden.permute(1, 2, 0, 3)
        return ahead, back

    def _drop(self, values: Tensor) -> Tensor:
        """Drop units of values [B, N+1, k]: drawn for each word, or for a whole sentence.

        Departs from the paper where `locked`: the paper draws for each word.
        """
        if not self.training:
            return values
        if not self.locked:
            return functional.dropout(values, self.dropout)
        mask = functional.dropout(torch.ones_like(values[:, :1]), self.dropout)  # [B, 1, k]
        return values * mask


def reverse(values: Tensor, lengths: Tensor | None) -> Tensor:
    """Turn each sentence [B, N+1, k] around within its length, so that padding stays at the end."""
    if lengths is None:
        return values.flip(1)
    positions = torch.arange(values.shape[1], device=values.device)
    turned = lengths[:, None] - 1 - positions  # [B, N+1]
    turned = torch.where(turned < 0, positions, turned)
    return torch.take_along_dim(values, turned[:, :, None], dim=1)
