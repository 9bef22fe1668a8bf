"""Weights are halved as safetensors reads them; what is not such a file is refused."""

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


@pytest.mark.parametrize("data", [b"", b"\1" + bytes(7), b"\2" + bytes(7) + b"[]", bytes(8) + b"{"])
def test_what_is_not_safetensors_is_refused(data: bytes) -> None:
    with pytest.raises(ModelError, match="weights: not a file of safetensors"):
        halve_weights(data, "weights")
