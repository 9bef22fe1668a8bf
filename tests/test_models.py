"""The models of the repository: whole, small enough, and able to parse."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import headwise
from headwise.model.bundle import MANIFEST

ROOT = Path(__file__).parents[1]
MOST_MIB = {"en-accurate": 32}
PARSES = {
    "en": ("Kids love candy.", [2, 0, 2, 2]),
    "en-accurate": ("Kids love candy.", [2, 0, 2, 2]),
    "de": ("Kinder lieben Süßigkeiten.", [2, 0, 2, 2]),
    "cs": ("Děti milují sladkosti.", [2, 0, 2, 2]),
    "pt": ("O menino comprou um livro.", [2, 3, 0, 5, 3, 3]),
    "zh": ("孩子们喜欢糖果。", None),
}


def folder_of(name: str) -> Path:
    return ROOT / ("src/headwise/models" if name == "en" else "models") / name


@pytest.mark.parametrize("name", PARSES)
def test_each_parses(name: str) -> None:
    text, expected = PARSES[name]
    folder = folder_of(name)
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert size <= MOST_MIB.get(name, 16) * 2**20
    ((sentence, parse),) = headwise.load(folder).annotate_text(text)
    heads = [int(word.head) for word in sentence.words]
    assert heads.count(0) == 1
    assert len(parse.heads) == len(heads)
    if expected is not None:
        assert heads == expected


@pytest.mark.parametrize("name", PARSES)
def test_each_gives_the_same_on_every_cpu(name: str) -> None:
    """Larger weights overflow where a CPU has no VNNI; see `learn.graphs.quantise`."""
    for path in folder_of(name).glob("*.int8.onnx"):
        for array in onnx.load(path).graph.initializer:
            if array.name.endswith("_quantized"):
                assert np.abs(numpy_helper.to_array(array).astype(np.int32)).max() <= 64


def test_no_model_is_left_out() -> None:
    folders = (ROOT / "models", ROOT / "src/headwise/models")
    assert {path.parent.name for one in folders for path in one.glob(f"*/{MANIFEST}")} == set(
        PARSES
    )
