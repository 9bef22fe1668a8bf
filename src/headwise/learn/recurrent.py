"""An LSTM layer with recurrent dropout (Semeniuta et al. 2016), with its gradient written out.

The candidate of the cell is dropped, so that the cell itself never forgets by chance:

    i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of W x_t + R h_(t-1)
    c_t = f c_(t-1) + i (g keep_t)
    h_t = o tanh(c_t)

No library has this layer. Left to autograd, each step would cost some thirty small operations and
a gradient of R of its own; written out, R's gradient is one product for the whole sentence, and
what remains of a step are two functions of arrays that a GPU compiles into one kernel each. Tests
hold it to `nn.LSTM` without dropout and to finite differences with it.
"""

from typing import Any

import torch
from torch import Tensor

from headwise.learn.fused import fused


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
        step = fused(projected.device, _step)
        projected = projected + bias[:, None]
        hidden = projected.new_zeros(*projected.shape[1:3], recurrent.shape[1])  # [g, B, d]
        cells = [torch.zeros_like(hidden, dtype=torch.float32)]
        gates, shown = [], []
        for t in range(len(projected)):
            summed = torch.baddbmm(projected[t], hidden, recurrent)
            activated, cell, hidden = step(summed, cells[-1], keep[t])
            gates.append(activated)
            cells.append(cell)
            shown.append(hidden)
        stacked = torch.stack(shown)
        # Step by step as they are: to put them together would cost as much as to make them.
        ctx.save_for_backward(stacked, recurrent, keep, *gates, *cells)
        return stacked

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """Step back through the sentence; R's gradient is one product at the end.

        So is that of the biases: a plain sum over so many steps is not the same each time on a GPU.
        """
        hidden, recurrent, keep, *steps = ctx.saved_tensors
        gates, cells = steps[: len(hidden)], steps[len(hidden) :]
        step_back = fused(hidden.device, _step_back)
        to_hidden = recurrent.transpose(1, 2)  # [g, 4d, d]
        from_later = torch.zeros_like(hidden[0])
        from_cell = torch.zeros_like(cells[0])
        sums = []
        for t in range(len(gates) - 1, -1, -1):
            summed, from_cell = step_back(
                gates[t], cells[t], cells[t + 1], keep[t], gradients[0][t], from_later, from_cell
            )
            summed = summed.to(hidden.dtype)
            from_later = torch.bmm(summed, to_hidden)
            sums.append(summed)
        projected = torch.stack(sums[::-1])  # [T, g, B, 4d]
        before = hidden[:-1].permute(1, 3, 0, 2).flatten(2)  # [g, d, (T - 1) * B]; h_0 is zero
        after = projected.transpose(0, 1)  # [g, T, B, 4d]
        every = after.flatten(1, 2)
        ones = every.new_ones(len(every), 1, every.shape[1])
        of_recurrent = torch.bmm(before, after[:, 1:].flatten(1, 2))
        return projected, torch.bmm(ones, every)[:, 0], of_recurrent, None


def _step(summed: Tensor, cell: Tensor, keep: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Give the gates after their activation [g, B, 4d], c_t and h_t."""
    i, f, g, o = summed.float().chunk(4, dim=-1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    new_cell = f * cell + i * g * keep
    shown = (o * new_cell.tanh()).to(summed.dtype)
    return torch.cat([i, f, g, o], dim=-1), new_cell, shown


def _step_back(
    gates: Tensor,
    cell: Tensor,
    new_cell: Tensor,
    keep: Tensor,
    from_above: Tensor,
    from_later: Tensor,
    from_cell: Tensor,
) -> tuple[Tensor, Tensor]:
    """Give the gradients of the summed gates [g, B, 4d] and of c_(t-1)."""
    i, f, g, o = gates.chunk(4, dim=-1)
    shown = from_above.float() + from_later.float()
    squashed = new_cell.tanh()
    inner = from_cell + shown * o * (1 - squashed * squashed)
    summed = torch.cat(
        [
            inner * g * keep * i * (1 - i),
            inner * cell * f * (1 - f),
            inner * i * keep * (1 - g * g),
            shown * squashed * o * (1 - o),
        ],
        dim=-1,
    )
    return summed, inner * f
