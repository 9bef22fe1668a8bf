"""PyTorch's exporter of ONNX graphs, without work that tests would pay for again and again.

It reads the source of 500 functions anew for each graph; and the tracer of coverage, which follows
each of its lines, makes it slower by half. The graphs stay the same.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

import pytest


def make_quick(patch: pytest.MonkeyPatch) -> None:
    """Replace `torch.onnx.export` in this process, until `patch` is undone."""
    import torch
    from torch.onnx._internal.exporter._registration import ONNXRegistry

    export = torch.onnx.export

    def quick_export(module: torch.nn.Module, *given: Any, **named: Any) -> Any:
        tracer = sys.gettrace()
        with pytest.MonkeyPatch.context() as own:
            own.setitem(vars(module), "forward", _traced_by(tracer, module.forward))
            return _traced_by(None, export)(module, *given, **named)

    patch.setattr(torch.onnx, "export", quick_export)
    read_once = functools.cache(ONNXRegistry.from_torchlib)
    patch.setattr(ONNXRegistry, "from_torchlib", staticmethod(read_once))


def _traced_by(tracer: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Run a function with another tracer, or with none: our own modules are still measured."""

    @functools.wraps(function)
    def run(*given: Any, **named: Any) -> Any:
        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            return function(*given, **named)
        finally:
            sys.settrace(before)

    return run
