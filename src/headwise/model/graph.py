"""ONNX graphs, opened one way: on one thread of the CPU, refused with a clear error."""

import onnxruntime as ort

from headwise.errors import ModelError

ORT_ERRORS = tuple(
    getattr(ort.capi.onnxruntime_pybind11_state, name)
    for name in ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NotImplemented")
)
"""ONNX Runtime's own exceptions have no common name."""


def open_graph(data: bytes, where: str, *, keeps_memory: bool) -> ort.InferenceSession:
    """Open a graph; one that `keeps_memory` is faster, and never gives back what it took."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = keeps_memory
    options.log_severity_level = 3
    try:
        return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except (RuntimeError, ValueError, *ORT_ERRORS) as error:
        raise ModelError(f"{where}: ONNX Runtime refuses it: {error}") from error
