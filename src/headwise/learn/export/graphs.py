"""From a module of PyTorch to an ONNX graph, in float32 or int8."""

import logging
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import onnx
import onnxruntime as ort
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn
from torch.export import Dim

from headwise.network.inputs import Inputs
from headwise.vocabulary.encode import GRAPH_INPUTS

OPSET = 20
HALF = 64
"""The largest weight in int8 (see `quantise`)."""
_MAX_UINT8 = 255
"""The largest 8-bit number without a sign."""
_SMALLEST_SCALE = 1e-20


def example_ids(axis: Dim, inputs: Inputs) -> tuple[dict[str, Tensor], dict[str, dict[int, Dim]]]:
    """Give the inputs of a graph that reads `WordIds`, and their free axes, the first one `axis`.

    Each input is a tensor of its own: the exporter would merge one that is given twice.
    """
    more_axes = {
        "pieces": {1: Dim("width")},
        "marks": {1: Dim("n_marks")},
        "letters": {1: Dim("n_letters")},
    }
    shapes = {"pieces": (7, 5), "marks": (7, 3), "letters": (7, 6)}
    example = {name: torch.ones(shapes.get(name, (7,)), dtype=torch.int32) for name in GRAPH_INPUTS}
    if inputs.prior:
        example["prior"] = torch.ones(7, inputs.prior.n_values)
    else:  # a graph may still ask for it, just for the number of words
        example["prior"], more_axes["prior"] = torch.ones(7, 4), {1: Dim("n_values")}
    free = {name: {0: axis} | more_axes.get(name, {}) for name in GRAPH_INPUTS}
    return example, free


class TracedFunction(nn.Module):
    """A function of modules and of tensors, as a module to trace."""

    def __init__(self, function: Callable[..., Any], **modules: nn.Module) -> None:
        """Take a function of these modules, in this order, and of the inputs of a graph."""
        super().__init__()
        for name, module in modules.items():
            self.add_module(name, module)
        self.forward = partial(function, *modules.values())


class RowsLinear(nn.Module):
    """A layer in int8 of which each row, and each output of the weights, has a scale of its own.

    ONNX Runtime's own way has one scale for all rows. In a transformer a few subwords have values
    that are many times larger than those of all others, which would then be rounded to nothing.
    """

    def __init__(self, layer: nn.Linear, signed: bool = False) -> None:
        """Round the weights of a layer, to half of the range (see `quantise`).

        Rows that are not `signed` have no negative values.
        """
        super().__init__()
        weight = layer.weight.detach()  # [out, k]
        scale = weight.abs().amax(dim=1).clamp(min=_SMALLEST_SCALE) / HALF
        whole = torch.round(weight / scale[:, None]).to(torch.int8)
        self.weight_quantized = nn.Parameter(whole.T.contiguous(), requires_grad=False)
        self.signed = signed
        self.register_buffer("weight_scale", scale)
        bias = layer.bias
        self.register_buffer("bias", torch.zeros(len(weight)) if bias is None else bias.detach())
        self.register_buffer("weight_sums", whole.sum(dim=1) * scale)

    def forward(self, rows: Tensor) -> Tensor:
        """Apply the layer to rows [..., k]: float [..., out]."""
        bias = self.get_buffer("bias")
        if self.signed:  # counted from the lowest value of each row, nothing is negative
            lowest = rows.amin(dim=-1, keepdim=True)
            bias = bias + lowest * self.get_buffer("weight_sums")  # [..., out]
            rows = rows - lowest
        step = rows.amax(dim=-1, keepdim=True).clamp(min=_SMALLEST_SCALE) / _MAX_UINT8
        sums = torch.onnx.ops.symbolic(
            "MatMulInteger",
            [torch.round(rows / step).to(torch.uint8), self.weight_quantized],
            dtype=torch.int32,
            shape=[*rows.shape[:-1], self.weight_quantized.shape[1]],
            version=OPSET,
        )
        # One scale after the other: ONNX Runtime takes a product of two for one of all rows.
        return sums.float() * step * self.get_buffer("weight_scale") + bias


def int8_rows(module: nn.Module) -> None:
    """Replace all linear layers inside a module by `RowsLinear`."""
    for name, part in module.named_children():
        if type(part) is nn.Linear:
            setattr(module, name, RowsLinear(part, signed=True))
        else:
            int8_rows(part)


def trace(
    module: nn.Module,
    example: dict[str, Tensor],
    free: dict[str, dict[int, Dim]],
    outputs: list[str],
) -> bytes:
    """Turn a module into an ONNX graph; `free` names the axes of its inputs that may vary."""
    with _quiet():
        program = torch.onnx.export(
            module.eval(),
            kwargs=example,
            dynamic_shapes=free,
            input_names=list(example),
            output_names=outputs,
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    return _fold_constants(program.model_proto.SerializeToString())


def _fold_constants(graph: bytes) -> bytes:
    """Fold constant expressions, which quantisation needs, and remove inputs that are not read."""
    with tempfile.TemporaryDirectory() as folder:
        folded = Path(folder) / "folded.onnx"
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(folded)
        options.log_severity_level = 3
        ort.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        model = onnx.load(folded)
    read = {name for node in model.graph.node for name in node.input}
    for given in list(model.graph.input):
        if given.name not in read:  # such as tags
            model.graph.input.remove(given)
    slimmer: bytes = without_remarks(model).SerializeToString()
    return slimmer


def without_remarks(model: onnx.ModelProto) -> onnx.ModelProto:
    """Remove the exporter's notes on each node: lines of code, and paths of this machine."""
    graph = model.graph
    values = (*graph.input, *graph.output, *graph.value_info, *graph.initializer)
    for part in (model, graph, *graph.node, *values):
        part.ClearField("doc_string")
        part.ClearField("metadata_props")
    return model


def quantise(graph: bytes) -> bytes:
    """Store the matrices of LSTMs and products as int8, one scale for each output.

    They use half of the range, -64 to 64. A CPU without VNNI adds up two products in 16 bits, which
    larger weights would silently overflow: 2 * 255 * 64 fits, 2 * 255 * 127 does not.
    """
    model = onnx.load_from_string(graph)
    del model.graph.value_info[:]  # shapes that no longer hold once a product is rewritten
    with tempfile.TemporaryDirectory() as folder, _quiet():
        target = Path(folder) / "int8.onnx"
        quantize_dynamic(
            model,
            target,
            op_types_to_quantize=["LSTM", "MatMul"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
        )
        return target.read_bytes()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the exporter's remarks off the user's terminal; errors still come through."""
    previous = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(previous)
