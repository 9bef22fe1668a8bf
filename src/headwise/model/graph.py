"""ONNX graphs, opened one way: on one thread of the CPU, refused with a clear error."""

from collections.abc import Mapping
from typing import Any

import onnxruntime as ort
from numpy.typing import NDArray

from headwise.arrays import FloatArray
from headwise.errors import ModelError
from headwise.model.onnx_check import check_onnx

ORT_ERRORS = tuple(
    getattr(ort.capi.onnxruntime_pybind11_state, name)
    for name in ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NotImplemented")
)
"""ONNX Runtime's own exceptions have no common base class."""


def open_graph(data: bytes, where: str, *, keeps_memory: bool) -> ort.InferenceSession:
    """Open a graph; one that `keeps_memory` is faster, but never returns the memory it took."""
    check_onnx(data, where)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = keeps_memory
    options.log_severity_level = 3
    try:
        return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except (RuntimeError, ValueError, *ORT_ERRORS) as error:
        raise ModelError(f"{where}: ONNX Runtime refuses it: {error}") from error


class Graph:
    """One graph of a scorer, ready to run; its memory is returned after each run."""

    def __init__(self, data: bytes, where: str) -> None:
        """Open a graph from the bytes of its file; `where` names it in messages."""
        # With an arena of its own, one long sentence would hold its memory forever.
        self._session = open_graph(data, where, keeps_memory=False)
        self.inputs = [node.name for node in self._session.get_inputs()]

    def run(self, feed: Mapping[str, NDArray[Any]]) -> list[FloatArray]:
        """Run on the inputs that the graph has: a parser without tags reads none, for example."""
        results: list[FloatArray] = self._session.run(
            None, {name: feed[name] for name in self.inputs}
        )
        return results
