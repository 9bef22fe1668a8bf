"""The weights of a network, read back from its graphs in int8.

Models inside headwise and in packages have graphs to parse with and no weights. Each number of a
graph is an 8-bit integer times a scale, so the weights come back rounded, as the graphs use them.
This page undoes what `learn.export` does: the order of gates, the units that hold bounds, the
layers that were joined into one product.

    W [out, in] = scale [out] (whole [in, out] - zero point [out]).T
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor

from headwise.errors import ModelError
from headwise.learn.export.lstms import N_BOUNDS
from headwise.learn.scorer import load_network
from headwise.model.bundle import COLUMNS, INPUTS, WEIGHTS, Bundle
from headwise.model.graph import check_onnx
from headwise.network.network import Network
from headwise.network.represent import BiLstm
from headwise.runtime.scorer import read_pair_weights
from headwise.vocabulary.lexicon import N_COUNTS

_INT8 = "int8"
_DRAWN = 0.1
"""Weights of new rectifiers are drawn from [-0.1, 0.1], like all weights before training."""
_Tensors = dict[str, Tensor]


def load_trained(bundle: Bundle) -> Network:
    """Load a trained network from its weights, or else from its graphs."""
    if WEIGHTS in bundle.contents:
        return load_network(bundle, torch.device("cpu"))
    network = Network(bundle.manifest.model, bundle.vocab)
    network.load_state_dict(read_weights(bundle, network))
    return network.eval()


def read_weights(bundle: Bundle, network: Network) -> _Tensors:
    """Read the weights of a model without a transformer from its graphs, by their names.

    `network` is one of its settings and vocabulary. Older models have one layer for tags, without a
    hidden one. Both layers are then made such that they give the same scores.
    """
    try:
        weights = {
            **_read_inputs(_Graph.of(bundle, INPUTS), network),
            **_read_represent(_Graph.of(bundle, "represent.{}.onnx"), network),
            **_read_label(_Graph.of(bundle, "label.{}.onnx")),
            "select.v_a.weight": torch.from_numpy(read_pair_weights(bundle))[None],
        }
        if COLUMNS.format(_INT8) in bundle.contents:
            weights |= _read_columns(_Graph.of(bundle, COLUMNS), network)
    except (KeyError, ValueError, RuntimeError) as error:
        raise _unknown(bundle, str(error)) from error
    for name, weight in weights.items():
        if weight.shape != network.get_parameter(name).shape:
            raise _unknown(bundle, f"{name} has the shape {list(weight.shape)}")
    return weights


def _unknown(bundle: Bundle, why: str) -> ModelError:
    return ModelError(
        f"{bundle.path}: training cannot start from these graphs: {why}",
        "start from the folder of a run, or from a package made with headwise package --weights",
    )


@dataclass(frozen=True, slots=True)
class _Product:
    """A product of a graph: its weights [out, in], and whether it reads the input `x` itself."""

    weight: Tensor
    reads_x: bool


class _Graph:
    """Constants by name, and the node that makes a value or reads it."""

    def __init__(self, model: onnx.ModelProto) -> None:
        graph = model.graph
        self.constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
        self.nodes = list(graph.node)
        self.makers = {name: node for node in graph.node for name in node.output}

    @classmethod
    def of(cls, bundle: Bundle, name: str) -> "_Graph":
        """Read a graph of a model in int8; a damaged one is refused first."""
        data = bundle.read(name.format(_INT8))
        check_onnx(data, str(bundle.path / name.format(_INT8)))
        return cls(onnx.load_from_string(data))

    def tensor(self, name: str) -> Tensor:
        """Give a constant in float32."""
        return torch.from_numpy(self.constants[name].astype(np.float32))

    def table(self, name: str) -> Tensor:
        """Give a table [ids, size], in int8 with a scale for each row or in float32."""
        if f"{name}.values" in self.constants:
            return self.tensor(f"{name}.values") * self.tensor(f"{name}.scale")
        return self.tensor(f"{name}.weight")

    def rows_layer(self, name: str) -> Tensor:
        """Give the weights [out, in] of a layer whose rows have a scale each."""
        whole = self.tensor(f"{name}.weight_quantized")  # [in, out]
        return (whole * self.tensor(f"{name}.weight_scale")).T

    def products(self, bias: str) -> list[_Product]:
        """Find the products of the sum that a bias is part of."""
        (adder,) = (node for node in self.nodes if bias in node.input)
        found = [*self._back_to_products(adder, bias)]
        for node in self.nodes:  # the product of x has no bias; it is added to the others
            if node.op_type == "Add" and adder.output[0] in node.input:
                found += self._back_to_products(node, adder.output[0])
        return found

    def _back_to_products(self, node: onnx.NodeProto, skipped: str) -> Iterator[_Product]:
        for name in node.input:
            maker = self.makers.get(name)
            if name == skipped or maker is None:
                continue
            if maker.op_type == "MatMulInteger":
                yield self._product(maker)
            elif maker.op_type in ("Add", "Mul", "Cast"):
                yield from self._back_to_products(maker, skipped)

    def _product(self, node: onnx.NodeProto) -> _Product:
        whole = node.input[1]
        base = whole.removesuffix("_quantized")
        numbers = self.tensor(whole) - self.tensor(f"{base}_zero_point")  # [in, out]
        quantiser = self.makers[node.input[0]]
        return _Product((numbers * self.tensor(f"{base}_scale")).T, quantiser.input[0] == "x")

    def product(self, bias: str, of_x: bool = False) -> Tensor:
        """Give the weights [out, in] of the one product of states, or of x, beside a bias."""
        (found,) = (one.weight for one in self.products(bias) if one.reads_x == of_x)
        return found

    def added_factors(self, bias: str, n: int) -> list[Tensor]:
        """Give the constants of the `n` products of one number that are added after a bias."""
        (node,) = (node for node in self.nodes if bias in node.input)
        factors = []
        for _ in range(n):
            before = node.output[0]
            (node,) = (one for one in self.nodes if before in one.input)
            (added,) = (self.makers[name] for name in node.input if name != before)
            factors += [self.tensor(name) for name in added.input if name in self.constants]
        return factors

    def lstm(self, name: str, sizes: list[int]) -> list[_Tensors]:
        """Give the weights of an LSTM in each direction, whose input has parts of these sizes.

        They have the names that one layer of PyTorch's has.
        """
        over_inputs, over_hidden = (
            (self.tensor(f"{name}.{part}_quantized") - self._zero_point(name, part))
            * self.tensor(f"{name}.{part}_scale")[:, None]
            for part in ("over_inputs", "over_hidden")
        )  # [directions, k, 4 (d + 2)], [directions, d + 2, 4 (d + 2)]
        units = over_hidden.shape[1] - N_BOUNDS
        bias = self.tensor(f"{name}.bias").chunk(2, dim=-1)  # [directions, 4 (d + 2)] twice
        return [
            {
                "weight_ih_l0": _gates(_without_bounds(over_inputs[i].T, sizes), units),
                "weight_hh_l0": _gates(_without_bounds(over_hidden[i].T, [units]), units),
                "bias_ih_l0": _gates(bias[0][i], units),
                "bias_hh_l0": _gates(bias[1][i], units),
            }
            for i in range(len(over_hidden))
        ]

    def _zero_point(self, name: str, part: str) -> Tensor:
        return self.tensor(f"{name}.{part}_zero_point")[:, None]


def _gates(weights: Tensor, units: int) -> Tensor:
    """Put the gates i, o, f, c of ONNX [4 (d + 2), .] in PyTorch's order, without bounds."""
    gates = [gate[:units] for gate in weights.chunk(4)]
    return torch.cat([gates[gate] for gate in (0, 2, 3, 1)])


def _without_bounds(weights: Tensor, sizes: list[int]) -> Tensor:
    """Remove the columns of the bounds, which stand after each part of the input."""
    parts = torch.split(weights, [size + N_BOUNDS for size in sizes], dim=1)
    return torch.cat([part[:, :-N_BOUNDS] for part in parts], dim=1)


def _read_inputs(graph: _Graph, network: Network) -> _Tensors:
    inputs = network.inputs
    weights = {"inputs.word.weight": graph.table("inputs.word")}
    parts = {"tag": inputs.tag, "vector": inputs.vector}
    tables = [f"inputs.{name}" for name, part in parts.items() if part is not None]
    bags = {"mark": inputs.mark, "spelling": inputs.spelling}
    tables += [f"inputs.{name}.table" for name, part in bags.items() if part is not None]
    weights |= {f"{name}.weight": graph.table(name) for name in tables}
    if inputs.letters is not None:
        reader = inputs.letters
        ahead, back = graph.lstm("inputs.letters.lstm", [reader.ahead.input_size])
        weights |= {f"inputs.letters.ahead.{name}": weight for name, weight in ahead.items()}
        weights |= {f"inputs.letters.back.{name}": weight for name, weight in back.items()}
        out = graph.product("inputs.letters.out.bias")
        weights["inputs.letters.out.weight"] = _without_bounds(out, [reader.ahead.hidden_size] * 4)
        weights["inputs.letters.out.bias"] = graph.tensor("inputs.letters.out.bias")
        weights["inputs.letters.table.weight"] = graph.table("inputs.letters.table")
    if inputs.prior is not None:
        name = "inputs.prior"
        of_counts = torch.stack(graph.added_factors(f"{name}.of_shares.bias", N_COUNTS), dim=1)
        of_shares = graph.rows_layer(f"{name}.of_shares")
        weights |= {
            f"{name}.hidden.weight": torch.cat([of_shares, of_counts], dim=1),
            f"{name}.hidden.bias": graph.tensor(f"{name}.of_shares.bias"),
            f"{name}.out.weight": graph.rows_layer(f"{name}.out"),
            f"{name}.out.bias": graph.tensor(f"{name}.out.bias"),
        }
    return weights


def _read_represent(graph: _Graph, network: Network) -> _Tensors:
    represent = network.represent
    if not isinstance(represent, BiLstm):
        raise ValueError("they have no LSTMs")
    weights: _Tensors = {}
    stacks = ("forward_stack", "backward_stack")
    d, s = represent.size // 2, network.inputs.size
    for i in range(len(represent.forward_stack)):
        sizes = [s] if i == 0 else [d, d] if represent.interleaved else [d]
        nodes = [0] if represent.interleaved else [0, 1]
        lstms = [
            lstm for node in nodes for lstm in graph.lstm(f"represent.layers.{i}.{node}", sizes)
        ]
        for stack, lstm in zip(stacks, lstms, strict=True):
            weights |= {f"represent.{stack}.{i}.{name}": part for name, part in lstm.items()}
    # Twice U_a, and -2 W_a: see `learn.export.batches`.
    heads, dependents = _without_bounds(graph.product("pairs.bias"), [d, d]).chunk(2)
    head_bias, dependent_bias = graph.tensor("pairs.bias").chunk(2)
    weights |= {"select.U_a.weight": heads / 2, "select.U_a.bias": head_bias / 2}
    weights |= {"select.W_a.weight": dependents / -2, "select.W_a.bias": dependent_bias / -2}
    of_states = _without_bounds(graph.product("arcs.bias"), [d, d]).chunk(2)
    of_inputs = _without_bounds(graph.product("arcs.bias", of_x=True), [s]).chunk(2)
    weights["label.first.weight"] = torch.cat([*of_states, *of_inputs], dim=1)
    weights["label.first.bias"] = graph.tensor("arcs.bias").chunk(2)[0]
    if "hidden.bias" in graph.constants:
        columns = list(network.tag.hidden)
        layers = (
            _without_bounds(graph.product("hidden.bias"), [d, d]).chunk(len(columns)),
            _without_bounds(graph.product("hidden.bias", of_x=True), [s]).chunk(len(columns)),
            graph.tensor("hidden.bias").chunk(len(columns)),
        )
        for column, states, inputs, bias in zip(columns, *layers, strict=True):
            weights[f"tag.hidden.{column}.weight"] = torch.cat([states, inputs], dim=1)
            weights[f"tag.hidden.{column}.bias"] = bias
        return weights
    for i, column in enumerate(network.tag.last):
        layer = _without_bounds(graph.product(f"tags.{i}.bias"), [d, d])
        weights |= _as_two_layers(column, layer, graph.tensor(f"tags.{i}.bias"), network)
    return weights


def _as_two_layers(column: str, layer: Tensor, bias: Tensor, network: Network) -> _Tensors:
    """Write a layer of tags on states as one of rectifiers and one on top, with the same scores.

    A score z is relu(z) - relu(-z). The other rectifiers count for nothing yet, but can learn.
    """
    first, last = f"tag.hidden.{column}", f"tag.last.{column}"
    n_tags, n_units = len(layer), network.get_parameter(f"{first}.bias").shape[0]
    if 2 * n_tags > n_units:
        raise ValueError(f"model.column_size is {n_units}, but {column} needs {2 * n_tags}")
    generator = torch.Generator().manual_seed(0)
    shape = network.get_parameter(f"{first}.weight").shape  # [units, 2d + s]
    hidden = (2 * torch.rand(shape, generator=generator) - 1) * _DRAWN
    hidden[: 2 * n_tags] = 0
    hidden[: 2 * n_tags, : layer.shape[1]] = torch.cat([layer, -layer])
    top = torch.zeros(n_tags, n_units)
    top[:, : 2 * n_tags] = torch.cat([torch.eye(n_tags), -torch.eye(n_tags)], dim=1)
    rest = torch.zeros(n_units - 2 * n_tags)
    return {
        f"{first}.weight": hidden,
        f"{first}.bias": torch.cat([bias, -bias, rest]),
        f"{last}.weight": top,
        f"{last}.bias": torch.zeros(n_tags),
    }


def _read_label(graph: _Graph) -> _Tensors:
    weights: _Tensors = {}
    for layer in ("second", "last"):
        weights[f"label.{layer}.weight"] = graph.rows_layer(f"label.{layer}")
        weights[f"label.{layer}.bias"] = graph.tensor(f"label.{layer}.bias")
    return weights


def _read_columns(graph: _Graph, network: Network) -> _Tensors:
    weights: _Tensors = {}
    for i, column in enumerate(network.tag.last):
        weights[f"tag.last.{column}.weight"] = graph.rows_layer(f"last.{i}")
        weights[f"tag.last.{column}.bias"] = graph.tensor(f"last.{i}.bias")
    return weights
