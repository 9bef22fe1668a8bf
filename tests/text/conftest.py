"""A segmenter with random weights: it cuts anywhere, yet its output must be well-formed."""

import msgspec
import numpy as np
import onnx
import pytest
from onnx.numpy_helper import from_array

from headwise.text.expand import Expansions
from headwise.text.scan import make_alphabet
from headwise.text.segmenter import (
    SEGMENTER_GRAPH,
    SEGMENTER_SETTINGS,
    Segmenter,
    SegmentSettings,
)

REACH = 4
ALPHABET = make_alphabet(" .?!abcdefghijklmnopqrstuvwxyz")
EXPANSIONS = Expansions(
    {"do": ("de", "o"), "im": ("in", "dem")},
    {"a": ("", "x"), "b-lo": ("r", "lo")},
    {"c": ("d", "")},
)
GRAPH = """
<ir_version: 8, opset_import: ["" : 20]>
segment (int32[n] ids) => (float[m, 5] scores) {
    embedded = Gather (table, ids)
    transposed = Transpose <perm = [1, 0]> (embedded)
    batch = Unsqueeze (transposed, axis)
    convolved = Conv (batch, kernel, bias)
    single = Squeeze (convolved, axis)
    scores = Transpose <perm = [1, 0]> (single)
}
"""


@pytest.fixture(scope="session")
def files() -> dict[str, bytes]:
    random = np.random.default_rng(5)
    model = onnx.parser.parse_model(GRAPH)
    weights = {
        "table": random.normal(size=(ALPHABET.size, 6)),
        "kernel": random.normal(size=(5, 6, 2 * REACH + 1)),
        "bias": np.array([1.0, 0.0, 0.0, -0.5, -0.5]),
    }
    for name, values in weights.items():
        model.graph.initializer.append(from_array(values.astype(np.float32), name))
    model.graph.initializer.append(from_array(np.array([0], np.int64), "axis"))
    settings = SegmentSettings(
        characters=ALPHABET.characters, reach=REACH, spaces_inside=True, expansions=EXPANSIONS
    )
    return {
        SEGMENTER_GRAPH: model.SerializeToString(),
        SEGMENTER_SETTINGS: msgspec.json.encode(settings),
    }


@pytest.fixture(scope="session")
def segmenter(files: dict[str, bytes]) -> Segmenter:
    return Segmenter(files[SEGMENTER_GRAPH], files[SEGMENTER_SETTINGS])
