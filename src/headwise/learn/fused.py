"""Functions of arrays that a GPU runs as one kernel."""

from collections.abc import Callable
from functools import cache
from typing import ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")


def fused(device: torch.device, function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function for a GPU; on a CPU it runs as it stands."""
    return _compiled(function) if device.type == "cuda" else function


@cache
def _compiled(function: Callable[P, R]) -> Callable[P, R]:
    return torch.compile(function, dynamic=True)
