"""Where a run computes: on which device, in which precision, and with which other processes."""

import os
import re
from dataclasses import dataclass

import torch

from headwise.errors import ConfigError
from headwise.learn.fit.distributed import ALONE, Group
from headwise.settings.choices import Dtype

_DEVICE_NAME = re.compile(r"(cpu|cuda|mps|xpu)(:\d+)?")


@dataclass(frozen=True, slots=True)
class Compute:
    """The device, the precision of training steps, and the processes that share the work."""

    device: torch.device
    dtype: Dtype = "float32"
    group: Group = ALONE

    def autocast(self) -> torch.autocast:
        """Compute in bfloat16 if that is the precision."""
        enabled = self.dtype == "bfloat16"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=enabled)


def find_device(name: str) -> torch.device:
    """Turn `auto`, `cpu`, `cuda` or `cuda:1` into a device that works on this machine."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if not _DEVICE_NAME.fullmatch(name):
        raise ConfigError(f"device {name}: no such device", "auto, cpu, cuda or cuda:N")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"device {name}: {reason}", "--device cpu works anywhere") from error
    return device


def describe_device(device: torch.device) -> str:
    """Name the device and the release of PyTorch, for a model's provenance."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    return f"{name}, PyTorch {torch.__version__}"


def make_deterministic(device: torch.device) -> None:
    """Make a GPU add up in the same order each time; a CPU always does."""
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True, warn_only=True)
        # By default every new array would be filled first, by a kernel of its own.
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
