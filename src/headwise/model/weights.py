"""Weights in half the size, for packages that training can start from.

A safetensors file is the length of a header, the header as JSON, and the numbers. This page rounds
float32 to float16 without PyTorch; loading the weights gives float32 again.
"""

import math
import struct
from collections.abc import Iterable
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from headwise.errors import ModelError

_LENGTH = struct.Struct("<Q")
_METADATA = "__metadata__"
_BYTES = {
    **{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "BOOL": 1, "U8": 1},
    **{"I64": 8, "I32": 4, "I16": 2, "I8": 1},
}
"""Of a number of each type."""


class _Tensor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of the header; `data_offsets` are its first byte and the one after its last."""

    dtype: str
    shape: Annotated[list[Annotated[int, Meta(ge=0)]], Meta(max_length=8)]
    data_offsets: tuple[int, int]


def halve_weights(data: bytes, source: str) -> bytes:
    """Round the float32 tensors of a safetensors file to float16; others stay as they are."""
    try:
        (length,) = _LENGTH.unpack_from(data)
        start = _LENGTH.size + length
        header = msgspec.json.decode(data[_LENGTH.size : start], type=dict[str, msgspec.Raw])
        header.pop(_METADATA, None)
        tensors = {name: msgspec.json.decode(entry, type=_Tensor) for name, entry in header.items()}
        _check_offsets(tensors.values(), len(data) - start)
    except (struct.error, msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ModelError(f"{source}: not a file of safetensors: {error}") from error
    parts: list[bytes] = []
    written: dict[str, _Tensor] = {}
    end = 0
    for name, tensor in tensors.items():
        first, last = tensor.data_offsets
        numbers = data[start + first : start + last]
        dtype = tensor.dtype
        if dtype == "F32":
            # A number too large for float16 becomes the largest one, not infinity.
            limit = np.finfo(np.float16).max
            values = np.frombuffer(numbers, "<f4").clip(-limit, limit)
            dtype, numbers = "F16", values.astype("<f2").tobytes()
        parts.append(numbers)
        written[name] = _Tensor(dtype, tensor.shape, (end, end + len(numbers)))
        end += len(numbers)
    encoded = msgspec.json.encode(written)
    encoded += b" " * (-len(encoded) % 8)  # the numbers begin at a multiple of 8
    return _LENGTH.pack(len(encoded)) + encoded + b"".join(parts)


def _check_offsets(tensors: Iterable[_Tensor], n_bytes: int) -> None:
    """Raise a `ValueError` unless the tensors follow each other and fill the file."""
    end = 0
    for tensor in sorted(tensors, key=lambda one: one.data_offsets):
        first, last = tensor.data_offsets
        if first != end or last - first != math.prod(tensor.shape) * _BYTES.get(tensor.dtype, -1):
            raise ValueError("a tensor is not where it must be, or has another size")
        end = last
    if end != n_bytes:
        raise ValueError("the tensors do not fill the file")
