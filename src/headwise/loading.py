"""A model folder as a parser, on the CPU or, where PyTorch is, on a device of its."""

from headwise.errors import ConfigError, install
from headwise.model.bundle import Bundle
from headwise.runtime.parser import Parser, load_parser
from headwise.runtime.scorer import Precision
from headwise.settings.decoding import DecodeConfig


def load_on(
    device: str,
    bundle: Bundle,
    precision: Precision = "int8",
    decode: DecodeConfig | None = None,
    keep_tags: bool = False,
) -> Parser:
    """Load a parser for `cpu` (ONNX Runtime, in `precision`) or for `cuda` (PyTorch, float32)."""
    if device == "cpu":
        return load_parser(bundle, precision, decode, keep_tags)
    try:
        from headwise.learn.scorer import load_torch_parser
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"device {device} needs {error.name}, which is not installed",
            install("train"),
        ) from error
    return load_torch_parser(bundle, device, decode, keep_tags)
