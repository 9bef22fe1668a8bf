"""The shipped models: complete, small enough, able to parse, and the same on every CPU."""

import hashlib
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import headwise
from headwise.model.bundle import MANIFEST

ROOT = Path(__file__).parents[1]
MODEL_ROOTS = (ROOT / "models", ROOT / "src/headwise/models")
MAX_MIB = {"en-accurate": 32}
EXPECTED_HEADS = {
    "en": ("Kids love candy.", [2, 0, 2, 2]),
    "en-accurate": ("Kids love candy.", [2, 0, 2, 2]),
    "de": ("Kinder lieben Süßigkeiten.", [2, 0, 2, 2]),
    "cs": ("Děti milují sladkosti.", [2, 0, 2, 2]),
    "pt": ("O menino comprou um livro.", [2, 3, 0, 5, 3, 3]),
    "zh": ("孩子们喜欢糖果。", None),
}
FOLDERS = {
    path.parent.name: path.parent for root in MODEL_ROOTS for path in root.glob(f"*/{MANIFEST}")
}


def test_every_shipped_model_is_tested() -> None:
    assert FOLDERS.keys() == EXPECTED_HEADS.keys()


@pytest.mark.parametrize("name", EXPECTED_HEADS)
def test_each_model_is_small_and_parses(name: str) -> None:
    text, expected = EXPECTED_HEADS[name]
    size = sum(path.stat().st_size for path in FOLDERS[name].iterdir())
    assert size <= MAX_MIB.get(name, 16) * 2**20
    ((sentence, parse),) = headwise.load(FOLDERS[name]).annotate_text(text)
    heads = [int(word.head) for word in sentence.words]
    assert heads.count(0) == 1
    assert len(parse.heads) == len(heads)
    assert expected is None or heads == expected


@pytest.mark.parametrize("name", EXPECTED_HEADS)
def test_each_model_parses_the_same_on_every_cpu(name: str) -> None:
    """Larger weights overflow on a CPU without VNNI; see `learn.export.graphs.quantise`."""
    for path in FOLDERS[name].glob("*.int8.onnx"):
        for array in onnx.load(path).graph.initializer:
            if array.name.endswith("_quantized"):
                assert np.abs(numpy_helper.to_array(array).astype(np.int32)).max() <= 64


def test_checksums_of_all_model_files_are_in_one_file() -> None:
    listed = {
        name: digest
        for digest, name in map(str.split, (ROOT / "models/SHA256SUMS").read_text().splitlines())
    }
    files = [path for folder in FOLDERS.values() for path in folder.iterdir()]
    found = {
        str(path.relative_to(ROOT)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }
    assert listed == found, "run: make checksums"
