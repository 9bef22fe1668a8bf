"""A graph asks for what its network reads, and for nothing else."""

from pathlib import Path

import onnx
import pytest

from headwise.model.bundle import load_bundle


@pytest.mark.parametrize(
    ("run", "inputs", "told"),
    [
        ("tiny_run", ["words", "tags"], []),
        (
            "full_run",
            ["words", "pieces", "vectors"],
            ["upos", "xpos", "upos_scores", "xpos_scores"],
        ),
        ("marked_run", ["words", "pieces", "marks"], ["upos", "upos_scores"]),
    ],
)
@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_graphs_have_the_inputs_that_are_read(
    run: str, inputs: list[str], told: list[str], precision: str, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(run)
    bundle = load_bundle(folder / "model")
    graph = onnx.load_from_string(bundle.read(f"inputs.{precision}.onnx")).graph
    assert [node.name for node in graph.input] == inputs
    graph = onnx.load_from_string(bundle.read(f"represent.{precision}.onnx")).graph
    assert [node.name for node in graph.input] == ["x", "lengths"]
    assert [node.name for node in graph.output] == ["pairs", "arcs", *told]


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_with_a_transformer_it_is_one_graph(precision: str, encoder_run: Path) -> None:
    data = load_bundle(encoder_run / "model").read(f"represent.{precision}.onnx")
    graph = onnx.load_from_string(data).graph
    assert [node.name for node in graph.input] == ["words", "pieces", "in_context"]
    made = ["states", "inputs", "heads", "dependents"]
    made += ["upos", "xpos", "upos_scores", "xpos_scores"]
    assert [node.name for node in graph.output] == made


def test_int8_is_the_smaller_one(full_run: Path) -> None:
    files = load_bundle(full_run / "model").manifest.files
    for part in ("represent", "label"):
        assert files[f"{part}.int8.onnx"].size < 0.6 * files[f"{part}.float32.onnx"].size
