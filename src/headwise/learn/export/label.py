"""The label network after the sum of its first layer, as a graph: in float32, and in int8.

    arcs or rows [M, l] -> log-probabilities [M, R]

Where all that goes into a product in int8 has one scale, arcs that run together change one another.
So here each arc has its own, that of its largest value; products are then whole numbers, exact in
any company, and the arcs of many sentences take one call. The input is named `rows` to tell.
"""

import torch
from torch import Tensor, nn
from torch.export import Dim

from headwise.learn.export.graphs import HALF, OPSET, trace
from headwise.network.label import Labeller

ALL = 255
"""The largest of eight bits without a sign: what comes out of a rectifier is never negative."""
SMALLEST = 1e-20


class _Label(nn.Module):
    def __init__(self, second: nn.Module, last: nn.Module) -> None:
        super().__init__()
        self.second, self.last = second, last

    def forward(self, arcs: Tensor) -> Tensor:
        hidden = torch.relu(self.second(torch.relu(arcs)))
        return torch.log_softmax(self.last(hidden), dim=-1)


class _RowsLabel(nn.Module):
    """The same; an input of the graph has the name that it has here."""

    def __init__(self, label: _Label) -> None:
        super().__init__()
        self.label = label

    def forward(self, rows: Tensor) -> Tensor:
        scores: Tensor = self.label(rows)
        return scores


class _RowsLinear(nn.Module):
    """A layer of which each row [k], and each column of the weights, has a scale of its own."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach()  # [out, k]
        scale = weight.abs().amax(dim=1).clamp(min=SMALLEST) / HALF
        whole = torch.round(weight / scale[:, None]).to(torch.int8)
        self.weight_quantized = nn.Parameter(whole.T.contiguous(), requires_grad=False)
        self.register_buffer("weight_scale", scale)
        self.register_buffer("bias", layer.bias.detach())

    def forward(self, rows: Tensor) -> Tensor:
        step = rows.amax(dim=1, keepdim=True).clamp(min=SMALLEST) / ALL
        sums = torch.onnx.ops.symbolic(
            "MatMulInteger",
            [torch.round(rows / step).to(torch.uint8), self.weight_quantized],
            dtype=torch.int32,
            shape=[rows.shape[0], self.weight_quantized.shape[1]],
            version=OPSET,
        )
        # One scale after the other: ONNX Runtime takes a product of two for one of all rows.
        return sums.float() * step * self.get_buffer("weight_scale") + self.get_buffer("bias")


def export_label(label: Labeller) -> bytes:
    """Trace it in float32, for any number of arcs."""
    return _export(_Label(label.second, label.last), "arcs", label.first.out_features)


def export_label_in_int8(label: Labeller) -> bytes:
    """Trace it in int8, for arcs of any sentences."""
    network = _Label(_RowsLinear(label.second), _RowsLinear(label.last))
    return _export(_RowsLabel(network), "rows", label.first.out_features)


def _export(network: nn.Module, name: str, size: int) -> bytes:
    return trace(
        network, {name: torch.zeros(5, size)}, {name: {0: Dim("n_arcs")}}, ["label_log_probs"]
    )
