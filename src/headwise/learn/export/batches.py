"""The network as graphs that take sentences side by side, and words only once.

    inputs      words, tags, vectors [n], pieces, marks [n, k] -> x [n, s]               (Eq. 3)
    represent   x [T, B, s], lengths [B] -> pairs [T, B, 2k], arcs [T, B, 2l],
                predicted tags [T, B], log-probabilities of these [T, B, tags]
    label       arcs or rows [M, l] -> log-probabilities [M, R]

x_i depends on the word (and its tag) alone, so `inputs` is a graph of its own, which runs only for
new words. `pairs` are 2 U_a a_j and -2 W_a a_i, from which `runtime.pairs` computes Eq. 6. `arcs`
are the first layer of the label network, the dependent's part and the head's; the layer is linear
before its activation, so that an arc is the sum of two.

In int8 a product is scaled by its largest input, over everything that runs together. So a parse
would depend on the other sentences of its batch. To prevent that, x has two more columns, which
hold the bounds of all its values, and each LSTM has two more units, which are always 1 and -1, the
bounds of a unit. Their weights are zero, so that they only fix the scale.

In the int8 `label` graph each arc has a scale of its own, that of its largest value. Products are
then whole numbers, exact whatever runs with them, and the arcs of many sentences take one call. Its
input is named `rows`, so that the runtime can tell.
"""

import msgspec
import torch
from torch import Tensor, nn
from torch.export import Dim

from headwise.learn.export.graphs import HALF, OPSET, TracedFunction, example_ids, quantise, trace
from headwise.model.bundle import INPUTS, PAIR_WEIGHTS
from headwise.network.inputs import Inputs
from headwise.network.label import Labeller
from headwise.network.network import Network
from headwise.network.represent import BiLstm
from headwise.network.select import AdditiveSelector
from headwise.vocabulary.encode import WordIds

N_BOUNDS = 2
MARKS_AT_ONCE = 4
"""Marks of a word that may all have the largest value in one column without being clipped."""
_SATURATED = 40.0
"""An input that opens a gate fully, and a cell value at which tanh is 1."""
_MAX_UINT8 = 255
"""The largest 8-bit number without a sign: the output of a rectifier is never negative."""
_SMALLEST_SCALE = 1e-20


def batch_graphs(network: Network, int8_inputs: Inputs) -> dict[str, bytes]:
    """Trace all graphs of a network with LSTMs; `int8_inputs` are its inputs with int8 tables."""
    assert isinstance(network.select, AdditiveSelector)
    bound = bound_of(network.inputs)
    files = {
        INPUTS.format("float32"): export_inputs(network.inputs, bound, is_int8=False),
        INPUTS.format("int8"): export_inputs(int8_inputs, bound, is_int8=True),
        "represent.float32.onnx": export_represent(network),
        "label.float32.onnx": export_label(network.label, is_int8=False),
        "label.int8.onnx": export_label(network.label, is_int8=True),
        PAIR_WEIGHTS: msgspec.json.encode({"v_a": network.select.v_a.weight.detach()[0].tolist()}),
    }
    files["represent.int8.onnx"] = quantise(files["represent.float32.onnx"])
    return files


class _Inputs(nn.Module):
    def __init__(self, inputs: Inputs, bound: float, is_int8: bool) -> None:
        super().__init__()
        self.inputs = inputs
        self.clip_at = bound if is_int8 and inputs.mark is not None else None
        self.register_buffer("bounds", torch.tensor([[bound, -bound]]))

    def forward(
        self, words: Tensor, tags: Tensor, pieces: Tensor, vectors: Tensor, marks: Tensor
    ) -> Tensor:
        ids = WordIds(words, tags, pieces, vectors, marks).map(lambda array: array[None])
        x = self.inputs(ids)[0]
        if self.clip_at is not None:
            x = x.clamp(-self.clip_at, self.clip_at)
        # With `expand` the graph would ask for ids that it does not read, just for their number.
        bounds = 0 * x[:, :1] + self.get_buffer("bounds")  # [n, 2]
        return torch.cat([x, bounds], dim=-1)


def bound_of(inputs: Inputs) -> float:
    """Give a bound of the values of x: the largest of the tables; a mean of rows is not larger.

    A sum of marks may be. It gets some room, and in int8 it is clipped beyond that.
    """
    tables = {part for part in inputs.modules() if isinstance(part, nn.Embedding)}
    largest = {table: float(table.weight.detach().abs().max()) for table in tables}
    if inputs.mark is not None:
        largest[inputs.mark.table] *= MARKS_AT_ONCE
    return max(largest.values())


class _BoundedLstm(nn.Module):
    """LSTMs of one layer, one or both directions, as one node of ONNX, with units for bounds."""

    def __init__(self, lstms: list[nn.LSTM], direction: str, n_parts: int) -> None:
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


def _ignore_bounds(weights: Tensor, n_parts: int) -> Tensor:
    """Add zero weights for the bounds after each of `n_parts` of the last axis."""
    zeros = torch.zeros(*weights.shape[:-1], N_BOUNDS)
    parts = weights.detach().chunk(n_parts, dim=-1)
    return torch.cat([torch.cat([part, zeros], dim=-1) for part in parts], dim=-1)


def _with_more_units(weights: Tensor, n_parts: int) -> Tensor:
    """Add two units to each gate, [directions, 4, d, k], and join gates; bounds have no weight."""
    wide = _ignore_bounds(weights, n_parts)
    return torch.cat([wide, torch.zeros_like(wide[:, :, :N_BOUNDS])], dim=2).flatten(1, 2)


class _BoundedBiLstm(nn.Module):
    """Eq. 1, 2 and 4: x [T, B, s + 2] to a [T, B, 2 (d + 2)], with bounds."""

    def __init__(self, lstm: BiLstm) -> None:
        super().__init__()
        self.interleaved = lstm.interleaved
        self.layers = nn.ModuleList()
        for i, pair in enumerate(zip(lstm.forward_stack, lstm.backward_stack, strict=True)):
            both: list[nn.LSTM] = [part for part in pair if isinstance(part, nn.LSTM)]
            n_parts = 2 if i and lstm.interleaved else 1
            if lstm.interleaved:
                nodes = [_BoundedLstm(both, "bidirectional", n_parts)]
            else:
                nodes = [
                    _BoundedLstm([one], direction, n_parts)
                    for one, direction in zip(both, ("forward", "reverse"), strict=True)
                ]
            self.layers.append(nn.ModuleList(nodes))

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        streams = [inputs] if self.interleaved else [inputs, inputs]
        for layer in self.layers:
            assert isinstance(layer, nn.ModuleList)
            nodes = zip(layer, streams, strict=True)
            streams = [node(stream, lengths) for node, stream in nodes]
        return torch.cat(streams, dim=-1)


class _Represent(nn.Module):
    """Everything that is computed once for each word."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        assert isinstance(network.represent, BiLstm)
        assert isinstance(network.select, AdditiveSelector)
        self.represent = _BoundedBiLstm(network.represent)
        head, dependent = network.select.U_a, network.select.W_a
        # Twice, because tanh(z) is computed from exp(2 z) in runtime.pairs.
        self.pairs = _linear(
            torch.cat([2 * head.weight, -2 * dependent.weight]),
            torch.cat([2 * head.bias, -2 * dependent.bias]),
            2,
        )
        first = network.label.first
        d, s = network.represent.size, network.inputs.size
        a_i, a_j, x_i, x_j = torch.split(first.weight.detach(), [d, d, s, s], dim=1)
        self.arcs = _linear(
            torch.cat([a_i, a_j]), torch.cat([first.bias, torch.zeros_like(first.bias)]), 2
        )
        self.arcs_of_inputs = _linear(torch.cat([x_i, x_j]), None, 1)
        self.tags = nn.ModuleList(
            _linear(layer.weight, layer.bias, 2)  # type: ignore[arg-type]
            for layer in network.tag.columns.values()
        )

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        states = self.represent(x, lengths)  # [T, B, 2 (d + 2)]
        scores = [torch.log_softmax(layer(states), dim=-1) for layer in self.tags]
        predicted = [column.argmax(dim=-1).to(torch.int32) for column in scores]
        pairs = self.pairs(states)
        arcs = self.arcs(states) + self.arcs_of_inputs(x)
        return pairs, arcs, *predicted, *scores


def _linear(weight: Tensor, bias: Tensor | None, n_parts: int) -> nn.Linear:
    """Make a layer that ignores the bounds after each of `n_parts` of its inputs."""
    wide = _ignore_bounds(weight, n_parts)
    layer = nn.Linear(wide.shape[1], len(wide), bias=bias is not None)
    layer.weight = nn.Parameter(wide)
    if bias is not None:
        layer.bias = nn.Parameter(bias.detach())
    return layer


def export_inputs(inputs: Inputs, bound: float, is_int8: bool) -> bytes:
    """Trace Eq. 3 for any words; their tables may be in int8."""
    return trace(_Inputs(inputs, bound, is_int8), *example_ids(Dim("words")), ["x"])


def export_represent(network: Network) -> bytes:
    """Trace Eq. 1, 2 and 4, and all products of a_i."""
    slots, sentences = Dim("slots"), Dim("sentences")
    x = torch.zeros(7, 3, network.inputs.size + N_BOUNDS)
    tags = list(network.tag.columns)
    return trace(
        _Represent(network),
        {"x": x, "lengths": torch.full((3,), 7, dtype=torch.int32)},
        {"x": {0: slots, 1: sentences}, "lengths": {0: sentences}},
        ["pairs", "arcs", *tags, *(f"{column}_scores" for column in tags)],
    )


def _label_arcs(second: nn.Module, last: nn.Module, arcs: Tensor) -> Tensor:
    hidden = torch.relu(second(torch.relu(arcs)))
    return torch.log_softmax(last(hidden), dim=-1)


def _label_rows(label: nn.Module, rows: Tensor) -> Tensor:
    """Do the same; an input of the graph has the name that it has here."""
    log_probs: Tensor = label(rows)
    return log_probs


class _RowsLinear(nn.Module):
    """A layer of which each row [k], and each column of the weights, has a scale of its own."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach()  # [out, k]
        scale = weight.abs().amax(dim=1).clamp(min=_SMALLEST_SCALE) / HALF
        whole = torch.round(weight / scale[:, None]).to(torch.int8)
        self.weight_quantized = nn.Parameter(whole.T.contiguous(), requires_grad=False)
        self.register_buffer("weight_scale", scale)
        self.register_buffer("bias", layer.bias.detach())

    def forward(self, rows: Tensor) -> Tensor:
        step = rows.amax(dim=1, keepdim=True).clamp(min=_SMALLEST_SCALE) / _MAX_UINT8
        sums = torch.onnx.ops.symbolic(
            "MatMulInteger",
            [torch.round(rows / step).to(torch.uint8), self.weight_quantized],
            dtype=torch.int32,
            shape=[rows.shape[0], self.weight_quantized.shape[1]],
            version=OPSET,
        )
        # One scale after the other: ONNX Runtime takes a product of two for one of all rows.
        return sums.float() * step * self.get_buffer("weight_scale") + self.get_buffer("bias")


def export_label(label: Labeller, is_int8: bool) -> bytes:
    """Trace it for any number of arcs, in int8 also of different sentences."""
    name, network = "arcs", TracedFunction(_label_arcs, second=label.second, last=label.last)
    if is_int8:
        second, last = _RowsLinear(label.second), _RowsLinear(label.last)
        name, network = (
            "rows",
            TracedFunction(
                _label_rows, label=TracedFunction(_label_arcs, second=second, last=last)
            ),
        )
    return trace(
        network,
        {name: torch.zeros(5, label.first.out_features)},
        {name: {0: Dim("n_arcs")}},
        ["label_log_probs"],
    )
