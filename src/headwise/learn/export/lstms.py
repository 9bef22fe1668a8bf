"""LSTMs as nodes of ONNX, whose int8 form does not depend on what runs beside a word or sentence.

In int8 a product is scaled by its largest input, over everything that runs together. So the inputs
of these LSTMs have two more columns, which hold the bounds of all values, and each LSTM has two
more units, which are always 1 and -1, the bounds of a unit. Their weights are zero: they only fix
the scale.
"""

import copy

import torch
from torch import Tensor, nn

from headwise.learn.export.graphs import OPSET
from headwise.network.inputs import Inputs
from headwise.network.letters import LetterReader
from headwise.vocabulary.letters import PAD_LETTER

N_BOUNDS = 2
_SATURATED = 40.0
"""An input that opens a gate fully, and a cell value at which tanh is 1."""


class BoundedLstm(nn.Module):
    """LSTMs of one layer, one or both directions, as one node of ONNX, with units for bounds."""

    def __init__(self, lstms: list[nn.LSTM], direction: str, n_parts: int) -> None:
        """Join LSTMs of one size; bounds come after each of `n_parts` of their inputs."""
        super().__init__()
        self.size = lstms[0].hidden_size + N_BOUNDS
        self.direction = direction
        over_inputs, over_hidden, *biases = (
            torch.stack([torch.stack(gates_for_onnx(weights)) for weights in parts])
            for parts in zip(*(lstm.parameters() for lstm in lstms), strict=True)
        )  # [directions, 4, d, k], [directions, 4, d, d], [directions, 4, d] twice
        self.over_inputs = nn.Parameter(_with_more_units(over_inputs, n_parts))
        self.over_hidden = nn.Parameter(_with_more_units(over_hidden, 1))
        open_gates = torch.full((len(lstms), 4, N_BOUNDS), _SATURATED)
        open_gates[:, 3] *= torch.tensor([1.0, -1.0])
        bias = torch.cat([biases[0], open_gates], dim=-1).flatten(1)
        more = torch.cat([biases[1], torch.zeros_like(open_gates)], dim=-1).flatten(1)
        self.bias = nn.Parameter(torch.cat([bias, more], dim=-1))  # [directions, 8 (d + 2)]
        cells = torch.zeros(len(lstms), 1, self.size)
        cells[:, :, -N_BOUNDS:] = torch.tensor([_SATURATED, -_SATURATED])
        self.register_buffer("cells", cells)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """Run over inputs [T, B, k]: states [T, B, directions (d + 2)]."""
        n_slots, n_sentences, _ = inputs.shape
        cells = self.get_buffer("cells").expand(-1, n_sentences, -1)
        outputs = torch.onnx.ops.symbolic(
            "LSTM",
            [inputs, self.over_inputs, self.over_hidden, self.bias, lengths, None, cells],
            {"hidden_size": self.size, "direction": self.direction},
            dtype=inputs.dtype,
            shape=[n_slots, cells.shape[0], n_sentences, self.size],
            version=OPSET,
        )  # [T, directions, B, d + 2]
        return outputs.transpose(1, 2).flatten(2)


def gates_for_onnx(weights: Tensor) -> list[Tensor]:
    """Cut weights of an LSTM into gates: input, forget, cell, output become i, o, f, c in ONNX."""
    gates = weights.detach().chunk(4)
    return [gates[gate] for gate in (0, 3, 1, 2)]


def ignore_bounds(weights: Tensor, n_parts: int) -> Tensor:
    """Add zero weights for the bounds after each of `n_parts` of the last axis."""
    zeros = torch.zeros(*weights.shape[:-1], N_BOUNDS)
    parts = weights.detach().chunk(n_parts, dim=-1)
    return torch.cat([torch.cat([part, zeros], dim=-1) for part in parts], dim=-1)


def _with_more_units(weights: Tensor, n_parts: int) -> Tensor:
    """Add two units to each gate, [directions, 4, d, k], and join gates; bounds have no weight."""
    wide = ignore_bounds(weights, n_parts)
    return torch.cat([wide, torch.zeros_like(wide[:, :, :N_BOUNDS])], dim=2).flatten(1, 2)


class _OnnxLetters(nn.Module):
    """`LetterReader` with one LSTM node for both directions."""

    def __init__(self, reader: LetterReader) -> None:
        super().__init__()
        self.table = reader.table
        self.lstm = BoundedLstm([reader.ahead, reader.back], "bidirectional", 1)
        largest = float(reader.table.weight.detach().abs().max())
        self.register_buffer("bounds", torch.tensor([[[largest, -largest]]]))
        weight = ignore_bounds(reader.out.weight, 4)
        self.out = nn.Linear(weight.shape[1], len(weight))
        self.out.weight, self.out.bias = nn.Parameter(weight), reader.out.bias

    def forward(self, ids: Tensor) -> Tensor:
        """Read letters [1, n, k]: float [1, n, size]."""
        by_place = ids[0].T  # [k, n]
        is_letter = by_place != PAD_LETTER
        lengths = is_letter.sum(dim=0).clamp(min=1)  # [n]
        letters = self.table(by_place)  # [k, n, letter_size]
        bounds = 0 * letters[:, :, :1] + self.get_buffer("bounds")
        states = self.lstm(torch.cat([letters, bounds], dim=-1), lengths.to(torch.int32))
        tops = states.masked_fill(~is_letter[:, :, None], -1.0).amax(dim=0)  # [n, 2 (units + 2)]
        ahead = states[:, :, : states.shape[-1] // 2]
        last = (lengths - 1)[None, :, None].expand(-1, -1, ahead.shape[-1])
        ends = [ahead.gather(0, last)[0], states[0, :, states.shape[-1] // 2 :]]
        return torch.tanh(self.out(torch.cat([tops, *ends], dim=-1)[None]))


def with_onnx_letters(inputs: Inputs) -> Inputs:
    """Copy the inputs of a network with letters in the form to export."""
    if not isinstance(inputs.letters, LetterReader):
        return inputs
    copied = copy.copy(inputs)
    copied._modules = dict(inputs._modules)
    copied._modules["letters"] = _OnnxLetters(inputs.letters)
    return copied
