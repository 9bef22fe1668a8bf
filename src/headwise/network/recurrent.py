"""An LSTM layer with recurrent dropout (Semeniuta et al. 2016), with its gradient written out.

The candidate of the cell is dropped, so that the cell itself never forgets by chance:

    i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of W x_t + R h_(t-1)
    c_t = f c_(t-1) + i (g keep_t)
    h_t = o tanh(c_t)

No library has this layer. Left to autograd, each step would cost some thirty small operations and a
gradient of R of its own; written out, R's gradient is one product for the whole sentence. On a GPU
a step is one kernel (`network.kernels.launch`). Tests hold it to `nn.LSTM` without dropout and to
finite differences with it.
"""

from typing import Any

import torch
from torch import Tensor

from headwise.network.kernels.launch import (
    Layer,
    kernels_on,
    steps_back_by_kernels,
    steps_by_kernels,
)


def run_layer(projected: Tensor, bias: Tensor, recurrent: Tensor, keep: Tensor) -> Tensor:
    """Run the steps of a layer, several directions g at once: h [T, g, B, d].

    Args:
        projected: W x_t, [T, g, B, 4d].
        bias: both biases of a gate as one, [g, 4d].
        recurrent: R transposed, [g, d, 4d].
        keep: 0 for what is dropped, 1 / (1 - share) for what is kept, float32 [T, g, B, d].
    """
    hidden: Tensor = _Layer.apply(projected, bias, recurrent, keep)  # type: ignore[no-untyped-call]
    return hidden


class _Layer(torch.autograd.Function):
    """`run_layer` and its gradient."""

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, bias: Tensor, recurrent: Tensor, keep: Tensor
    ) -> Tensor:
        """Step through the sentence and keep what the gradient needs."""
        kernels = kernels_on(projected.device)
        if kernels:
            recurrent = recurrent.contiguous()
            layer = steps_by_kernels(kernels, projected, bias, recurrent, keep)
        else:
            layer = _run_steps(projected + bias[:, None], recurrent, keep)
        ctx.save_for_backward(recurrent, keep, *layer)
        return layer[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """Step back through the sentence; R's gradient is one product at the end.

        So is that of the biases: a plain sum over so many steps is not the same each time on a GPU.
        """
        recurrent, keep, *layer = ctx.saved_tensors
        hidden = layer[0]
        given = (gradients[0].contiguous(), layer, recurrent, keep)
        kernels = kernels_on(hidden.device)
        sums = steps_back_by_kernels(kernels, *given) if kernels else _run_steps_back(*given)
        before = hidden[:-1].permute(1, 3, 0, 2).flatten(2)  # [g, d, (T - 1) * B]; h_0 is zero
        after = sums.transpose(0, 1)  # [g, T, B, 4d]
        every = after.flatten(1, 2)
        ones = every.new_ones(len(every), 1, every.shape[1])
        of_recurrent = torch.bmm(before, after[:, 1:].flatten(1, 2))
        return sums, torch.bmm(ones, every)[:, 0], of_recurrent, None


def _run_steps(summed: Tensor, recurrent: Tensor, keep: Tensor) -> Layer:
    """Give h, the gates after their activation and c of every step; `summed` is W x_t + bias."""
    hidden = summed.new_zeros(*summed.shape[1:3], recurrent.shape[1])  # [g, B, d]
    cell = torch.zeros_like(hidden, dtype=torch.float32)
    steps = []
    for t in range(len(summed)):
        gates = torch.baddbmm(summed[t], hidden, recurrent).float()  # [g, B, 4d]
        i, f, g, o = gates.chunk(4, dim=-1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        cell = f * cell + i * g * keep[t]
        hidden = (o * cell.tanh()).to(summed.dtype)
        steps.append((hidden, torch.cat([i, f, g, o], dim=-1), cell))
    shown, activated, cells = (torch.stack(part) for part in zip(*steps, strict=True))
    return shown, activated, cells


def _run_steps_back(gradient: Tensor, layer: Layer, recurrent: Tensor, keep: Tensor) -> Tensor:
    """Give the gradient of the summed gates, [T, g, B, 4d], for that of h."""
    hidden, gates, cells = layer
    to_hidden = recurrent.transpose(1, 2)  # [g, 4d, d]
    from_later, from_cell = torch.zeros_like(hidden[0]), torch.zeros_like(cells[0])
    sums = []
    for t in range(len(gates) - 1, -1, -1):
        before = cells[t - 1] if t else torch.zeros_like(from_cell)
        shown = gradient[t].float() + from_later.float()
        i, f, g, o = gates[t].chunk(4, dim=-1)
        squashed = cells[t].tanh()
        inner = from_cell + shown * o * (1 - squashed * squashed)
        of_gates = [
            inner * g * keep[t] * i * (1 - i),
            inner * before * f * (1 - f),
            inner * i * keep[t] * (1 - g * g),
            shown * squashed * o * (1 - o),
        ]
        from_cell = inner * f
        sums.append(torch.cat(of_gates, dim=-1).to(hidden.dtype))
        from_later = torch.bmm(sums[-1], to_hidden)
    return torch.stack(sums[::-1])
