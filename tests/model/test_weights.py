"""Weights are halved as safetensors reads them; what is not such a file is refused."""

import json
import struct

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from headwise.errors import ModelError
from headwise.model.weights import halve_weights

TABLES = arrays(np.float32, array_shapes(min_side=0, max_side=4), elements=st.floats(width=32))


@given(st.dictionaries(st.text(max_size=5), TABLES, max_size=4))
def test_halved_weights_are_the_same_numbers_rounded(
    tables: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]],
) -> None:
    tables.pop("__metadata__", None)
    tables["ids"] = np.arange(3)
    data = safetensors.numpy.save(tables, {"made": "here"})
    halved = safetensors.numpy.load(halve_weights(data, "weights"))
    assert halved.keys() == tables.keys()
    assert halved["ids"].dtype == tables.pop("ids").dtype
    limit = np.finfo(np.float16).max
    for name, table in tables.items():
        assert halved[name].dtype == np.float16
        expected = table.clip(-limit, limit).astype(np.float16)
        np.testing.assert_array_equal(halved[name], expected)


def file_of(header: object, n_bytes: int) -> bytes:
    encoded = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(encoded)) + encoded + bytes(n_bytes)


def entry(first: int, last: int, size: int = 1, dtype: str = "F32") -> dict[str, object]:
    return {"dtype": dtype, "shape": [size], "data_offsets": [first, last]}


DAMAGED = {
    "nothing": b"",
    "no header": b"\1" + bytes(7),
    "a list": file_of([], 0),
    "cut off": bytes(8) + b"{",
    "long header": b"\xff" * 8 + b"{}",
    "deep header": file_of(b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", 0),
    "deep metadata": file_of(b'{"__metadata__":' + b"[" * 200_000 + b"]" * 200_000 + b"}", 0),
    "odd size": file_of({"a": entry(0, 3)}, 3),
    "negative offset": file_of({"a": entry(-4, 0)}, 0),
    "negative size": file_of({"a": entry(0, -4, -1)}, 0),
    "behind the end": file_of({"a": entry(0, 4)}, 0),
    "before the end": file_of({"a": entry(0, 4)}, 8),
    "a hole": file_of({"a": entry(4, 8)}, 8),
    "overlapping": file_of({"a": entry(0, 4), "b": entry(0, 4)}, 4),
    "unknown type": file_of({"a": entry(0, 4, dtype="F33")}, 4),
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_what_is_not_safetensors_is_refused(data: bytes) -> None:
    with pytest.raises(ModelError, match="weights: not a file of safetensors"):
        halve_weights(data, "weights")
