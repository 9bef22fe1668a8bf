"""ONNX graphs: checked, then opened on one thread of the CPU.

A model folder may come from anywhere. ONNX Runtime would follow a graph to files outside the
folder (external data), and some of its operators do far more than arithmetic. So a graph may only
use operators like those that our exporter writes: no functions, no graphs inside nodes, and
weights that are numbers. The file is a protocol buffer. Only the few messages that matter are
walked, and weights are looked at in place. Field numbers are those of `onnx.proto`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from headwise.arrays import FloatArray
from headwise.errors import ModelError, explain_shortage
from headwise.model.bundle import DAMAGED

ORT_ERRORS = tuple(
    getattr(ort.capi.onnxruntime_pybind11_state, name)
    for name in (
        "Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NotImplemented",
        "RuntimeException",
    )
)  # fmt: skip
"""ONNX Runtime's own exceptions have no common base class."""
_OPERATORS = """
    Abs Add And ArgMax Cast Clip Concat Constant ConstantOfShape Conv Cos Div
    DynamicQuantizeLinear Equal Erf Exp Expand Flatten Gather GatherElements GatherND Gelu Gemm
    Greater GreaterOrEqual Identity LSTM LayerNormalization Less LessOrEqual Log LogSoftmax MatMul
    MatMulInteger Max Min Mul Neg Not Or Pad Pow Range Reciprocal ReduceMax ReduceMean ReduceMin
    ReduceSum Relu Reshape Round Shape Sigmoid Sign Sin Slice Softmax Split Sqrt Squeeze Sub Tanh
    Tile Transpose Unsqueeze Where
"""
_ALLOWED = {"": frozenset(_OPERATORS.split()), "com.microsoft": frozenset(["DynamicQuantizeLSTM"])}
_FLOAT, _DOUBLE, _FLOAT16 = 1, 11, 10
_TYPES = {_FLOAT: "<f4", _DOUBLE: "<f8", _FLOAT16: "<f2", 2: "", 3: "", 6: "", 7: "", 9: ""}
"""Data types of weights, with the layout of floats; the others are integers and truth values."""
_OUTPUT_TYPES = {f"tensor({kind})" for kind in ("float", "int32", "int64")}
_HINT = "it was not written by headwise; do not use it unless you trust its source"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
Field = tuple[int, int | memoryview]


def open_graph(data: bytes, where: str, *, keeps_memory: bool) -> ort.InferenceSession:
    """Open a graph; one that `keeps_memory` is faster, but never returns the memory it took."""
    check_onnx(data, where)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = keeps_memory
    options.log_severity_level = 4  # what fails is raised, and becomes an error of ours
    try:
        return ort.InferenceSession(
            data,
            options,
            providers=["CPUExecutionProvider"],
            enable_fallback=0,  # it would try the same again, and print a complaint to stdout
        )
    except (RuntimeError, ValueError, *ORT_ERRORS) as error:
        raise ModelError(f"{where}: ONNX Runtime refuses it: {error}") from error


class Graph:
    """One graph, ready to run."""

    def __init__(self, data: bytes, where: str, *, keeps_memory: bool = False) -> None:
        """Open a graph from the bytes of its file; `where` names it in messages.

        One that `keeps_memory` is faster, but one long sentence would hold its memory forever.
        """
        self._session = open_graph(data, where, keeps_memory=keeps_memory)
        if not {node.type for node in self._session.get_outputs()} <= _OUTPUT_TYPES:
            raise ModelError(
                f"{where}: an output is not a number in float32, int32 or int64", _HINT
            )
        self._where = where
        self.inputs = [node.name for node in self._session.get_inputs()]
        self._sizes: list[tuple[int, ...]] | None = None

    def run(self, feed: Mapping[str, NDArray[Any]], *lengths: int) -> list[FloatArray]:
        """Run on the inputs that the graph has: a parser without tags reads none, for example.

        The first axes of every output must have `lengths`, the others the sizes of the first run.
        """
        arrays = {name: feed[name] for name in self.inputs}
        try:
            results: list[FloatArray] = self._session.run(None, arrays)
        except ORT_ERRORS as error:
            if explain_shortage(error):
                raise
            raise ModelError(f"{self._where}: ONNX Runtime cannot run it: {error}") from error
        shapes = [array.shape for array in results]
        if self._sizes is None:
            self._sizes = [shape[len(lengths) :] for shape in shapes]
        if shapes != [(*lengths, *sizes) for sizes in self._sizes]:
            raise ModelError(f"{self._where}: an output has the wrong shape", DAMAGED)
        return results


def check_onnx(data: bytes, where: str) -> None:
    """Raise an error for anything but the operators and weights of a headwise model."""
    try:
        for number, value in _fields(memoryview(data)):
            if number in (20, 25):
                raise ValueError("it contains functions or training steps")
            if number == 7:
                _check_graph(_message(value))
    except ValueError as error:
        raise ModelError(f"{where}: {error}", _HINT) from error


def _check_graph(graph: memoryview) -> None:
    for number, value in _fields(graph):
        if number == 1:
            _check_node(_message(value))
        elif number == 5:
            _check_tensor(_message(value))
        elif number in (11, 12, 13):
            _check_names(_message(value), (1,))
        elif number == 15:
            raise ValueError("it contains sparse weights")


def _check_names(message: memoryview, numbers: tuple[int, ...]) -> None:
    """Refuse names that are not UTF-8: ONNX Runtime would print a complaint of its own."""
    for number, value in _fields(message):
        if number in numbers:
            str(_message(value), "utf-8")


def _check_node(node: memoryview) -> None:
    _check_names(node, (1, 2, 3))
    operator = domain = ""
    for number, value in _fields(node):
        if number == 4:
            operator = str(_message(value), "utf-8")
        elif number == 7:
            domain = str(_message(value), "utf-8")
        elif number == 5:
            _check_attribute(_message(value))
    if operator not in _ALLOWED.get(domain, ()):
        raise ValueError(
            f"the operator {f'{domain}.' * bool(domain)}{operator[:40]!r} is not allowed"
        )


def _check_attribute(attribute: memoryview) -> None:
    for number, value in _fields(attribute):
        if number in (5, 10):
            _check_tensor(_message(value))
        elif number in (6, 11, 22, 23):
            raise ValueError("a node contains a graph or sparse weights")


def _check_tensor(tensor: memoryview) -> None:
    _check_names(tensor, (8,))
    kind = _FLOAT
    parts: list[tuple[int, memoryview]] = []
    for number, value in _fields(tensor):
        if number == 13 or (number == 14 and value != 0):
            raise ValueError("its weights are in another file")
        if number == 2:
            kind = value if isinstance(value, int) else -1
        elif number in (4, 9, 10):
            parts.append((number, _message(value)))
    if kind not in _TYPES:
        raise ValueError(f"a weight has data type {kind}, which is not allowed")
    for number, part in parts:
        layout = {4: "<f4", 9: _TYPES[kind], 10: "<f8"}[number]
        if layout and not _are_numbers(np.frombuffer(part, layout)):
            raise ValueError("a weight is not a finite number")


def _are_numbers(values: "np.ndarray[tuple[int], np.dtype[np.floating]]") -> bool:
    """Check that all values are finite; a single value may be minus infinity, as in a mask."""
    return bool(np.isfinite(values).all()) or (values.size == 1 and bool(values[0] == -np.inf))


def _message(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise ValueError("it is not an ONNX file")
    return value


def _fields(message: memoryview) -> Iterator[Field]:
    """Walk the fields of a message: their numbers, and a number or the bytes of each."""
    at, end = 0, len(message)
    while at < end:
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == _BYTES:
            size, at = _varint(message, at)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            raise ValueError("it is not an ONNX file")
        if at + size > end:
            raise ValueError("it ends too early")
        yield number, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            raise ValueError("it ends too early")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("it is not an ONNX file")
