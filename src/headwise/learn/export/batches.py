"""The network as graphs that take sentences side by side, and words only once.

    inputs      words, tags, vectors [n], pieces, marks, letters, prior [n, k] -> x [n, s]   (Eq. 3)
    represent   x [T, B, s], lengths [B] -> pairs [T, B, 2k], arcs [T, B, 2l], hidden [T, B, c]
    label       arcs or rows [M, l] -> log-probabilities [M, R]
    columns     hidden or rows [M, c] -> for each predicted column: positions [M] (of FEATS
                [M, features]), then for each: log-probabilities [M, .]

x_i depends on the word (and its tag) alone, so `inputs` is a graph of its own, which runs only for
new words. `pairs` are 2 U_a a_j and -2 W_a a_i, from which `runtime.pairs` computes Eq. 6. `arcs`
are the first layer of the label network, the dependent's part and the head's; the layer is linear
before its activation, so that an arc is the sum of two. `hidden` are the hidden layers of all
predicted columns, side by side.

In int8 a product is scaled by its largest input, over everything that runs together. So a parse
would depend on the other sentences of its batch. To prevent that, x has two more columns, which
hold the bounds of all its values, and each LSTM has two more units, which are always 1 and -1, the
bounds of a unit. Their weights are zero, so that they only fix the scale.

In the int8 `label` and `columns` graphs each row has a scale of its own, that of its largest value.
Products are then whole numbers, exact whatever runs with them, and the rows of many sentences take
one call. Their input is named `rows`, so that the runtime can tell. The layers that read what the
lexicon knows of a word are made like this too.
"""

import msgspec
import torch
from torch import Tensor, nn
from torch.export import Dim

from headwise.learn.export.graphs import RowsLinear, TracedFunction, example_ids, quantise, trace
from headwise.learn.export.lstms import N_BOUNDS, BoundedLstm, ignore_bounds, with_onnx_letters
from headwise.model.bundle import COLUMNS, INPUTS, PAIR_WEIGHTS
from headwise.network.inputs import Inputs
from headwise.network.label import Labeller, Tagger
from headwise.network.network import Network
from headwise.network.represent import BiLstm
from headwise.network.select import AdditiveSelector
from headwise.vocabulary.encode import WordIds

MARKS_AT_ONCE = 4
"""Marks of a word that may all have the largest value in one column without being clipped."""


def batch_graphs(network: Network, int8_inputs: Inputs) -> dict[str, bytes]:
    """Trace all graphs of a network with LSTMs; `int8_inputs` are its inputs in int8."""
    assert isinstance(network.select, AdditiveSelector)
    bound = bound_of(network.inputs)
    files = {
        INPUTS.format("float32"): export_inputs(network.inputs, bound, is_int8=False),
        INPUTS.format("int8"): export_inputs(int8_inputs, bound, is_int8=True),
        "represent.float32.onnx": export_represent(network),
        "label.float32.onnx": export_label(network.label, is_int8=False),
        "label.int8.onnx": export_label(network.label, is_int8=True),
        **_columns_graphs(network.tag),
        PAIR_WEIGHTS: msgspec.json.encode({"v_a": network.select.v_a.weight.detach()[0].tolist()}),
    }
    for name in ("represent.float32.onnx", INPUTS.format("int8")):
        files[name.replace("float32", "int8")] = quantise(files[name])
    return files


class _Inputs(nn.Module):
    def __init__(self, inputs: Inputs, bound: float, is_int8: bool) -> None:
        super().__init__()
        self.inputs = inputs
        self.clip_at = bound if is_int8 and inputs.mark is not None else None
        self.register_buffer("bounds", torch.tensor([[bound, -bound]]))

    def forward(
        self,
        words: Tensor,
        tags: Tensor,
        pieces: Tensor,
        vectors: Tensor,
        marks: Tensor,
        letters: Tensor,
        prior: Tensor,
    ) -> Tensor:
        arrays = (words, tags, pieces, vectors, marks, letters, prior)
        ids = WordIds(*(array[None] for array in arrays))
        x = self.inputs(ids)[0]
        if self.clip_at is not None:
            x = x.clamp(-self.clip_at, self.clip_at)
        # With `expand` the graph would ask for ids that it does not read, just for their number.
        bounds = 0 * x[:, :1] + self.get_buffer("bounds")  # [n, 2]
        return torch.cat([x, bounds], dim=-1)


def bound_of(inputs: Inputs) -> float:
    """Give a bound of the values of x: the largest of the tables; a mean of rows is not larger.

    A sum of marks may be. It gets some room, and in int8 it is clipped beyond that. What is made of
    letters and of the lexicon is at most 1.
    """
    tables = {part for part in inputs.modules() if isinstance(part, nn.Embedding)}
    if inputs.letters is not None:
        tables.remove(inputs.letters.table)
    largest = {table: float(table.weight.detach().abs().max()) for table in tables}
    if inputs.mark is not None:
        largest[inputs.mark.table] *= MARKS_AT_ONCE
    has_more = inputs.letters is not None or inputs.prior is not None
    return max([*largest.values(), float(has_more)])


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
                nodes = [BoundedLstm(both, "bidirectional", n_parts)]
            else:
                nodes = [
                    BoundedLstm([one], direction, n_parts)
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
        layers = [layer for layer in network.tag.hidden.values() if isinstance(layer, nn.Linear)]
        self.hidden = self.hidden_of_inputs = None
        if layers:
            weight = torch.cat([layer.weight.detach() for layer in layers])
            bias = torch.cat([layer.bias for layer in layers])
            self.hidden = _linear(weight[:, :d], bias, 2)
            self.hidden_of_inputs = _linear(weight[:, d:], None, 1)

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        states = self.represent(x, lengths)  # [T, B, 2 (d + 2)]
        pairs = self.pairs(states)
        arcs = self.arcs(states) + self.arcs_of_inputs(x)
        if self.hidden is None or self.hidden_of_inputs is None:
            return pairs, arcs
        return pairs, arcs, self.hidden(states) + self.hidden_of_inputs(x)


def _linear(weight: Tensor, bias: Tensor | None, n_parts: int) -> nn.Linear:
    """Make a layer that ignores the bounds after each of `n_parts` of its inputs."""
    wide = ignore_bounds(weight, n_parts)
    layer = nn.Linear(wide.shape[1], len(wide), bias=bias is not None)
    layer.weight = nn.Parameter(wide)
    if bias is not None:
        layer.bias = nn.Parameter(bias.detach())
    return layer


def export_inputs(inputs: Inputs, bound: float, is_int8: bool) -> bytes:
    """Trace Eq. 3 for any words; their tables may be in int8."""
    example = example_ids(Dim("words"), inputs)
    return trace(_Inputs(with_onnx_letters(inputs), bound, is_int8), *example, ["x"])


def export_represent(network: Network) -> bytes:
    """Trace Eq. 1, 2 and 4, and all products of a_i."""
    slots, sentences = Dim("slots"), Dim("sentences")
    x = torch.zeros(7, 3, network.inputs.size + N_BOUNDS)
    return trace(
        _Represent(network),
        {"x": x, "lengths": torch.full((3,), 7, dtype=torch.int32)},
        {"x": {0: slots, 1: sentences}, "lengths": {0: sentences}},
        ["pairs", "arcs", *(["hidden"] if network.tag.hidden else [])],
    )


def _label_arcs(second: nn.Module, last: nn.Module, arcs: Tensor) -> Tensor:
    hidden = torch.relu(second(torch.relu(arcs)))
    return torch.log_softmax(last(hidden), dim=-1)


def _label_rows(label: nn.Module, rows: Tensor) -> Tensor:
    """Do the same; an input of the graph has the name that it has here."""
    log_probs: Tensor = label(rows)
    return log_probs


def export_label(label: Labeller, is_int8: bool) -> bytes:
    """Trace it for any number of arcs, in int8 also of different sentences."""
    name, network = "arcs", TracedFunction(_label_arcs, second=label.second, last=label.last)
    if is_int8:
        second, last = RowsLinear(label.second), RowsLinear(label.last)
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


def _columns_graphs(tag: Tagger) -> dict[str, bytes]:
    """Trace the last layers of the predicted columns, if there are any, in both precisions."""
    if not tag.last:
        return {}
    columns = list(tag.last)
    outputs = [*columns, *(f"{column}_scores" for column in columns)]
    size = sum(layer.out_features for layer in tag.hidden.values() if isinstance(layer, nn.Linear))
    graphs = {}
    for precision, name in (("float32", "hidden"), ("int8", "rows")):
        graphs[COLUMNS.format(precision)] = trace(
            _Columns(tag, is_int8=precision == "int8"),
            {name: torch.zeros(5, size)},
            {name: {0: Dim("n_words")}},
            outputs,
        )
    return graphs


class _Columns(nn.Module):
    """From the hidden layers of all columns to positions and log-probabilities of each."""

    def __init__(self, tag: Tagger, is_int8: bool) -> None:
        super().__init__()
        self.tag = tag
        layers = [layer for layer in tag.last.values() if isinstance(layer, nn.Linear)]
        self.last = nn.ModuleList([RowsLinear(layer) for layer in layers] if is_int8 else layers)
        # An input of the graph has the name that it has here.
        self.forward = self._from_rows if is_int8 else self._from_hidden

    def _from_rows(self, rows: Tensor) -> tuple[Tensor, ...]:
        return self._from_hidden(rows)

    def _from_hidden(self, hidden: Tensor) -> tuple[Tensor, ...]:
        parts = torch.relu(hidden).chunk(len(self.last), dim=-1)
        scores = [
            self.tag.distribution(column, layer(part))
            for column, layer, part in zip(self.tag.last, self.last, parts, strict=True)
        ]
        return *(column.argmax(dim=-1).to(torch.int32) for column in scores), *scores
