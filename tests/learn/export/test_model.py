"""A graph asks for what its network reads, and for nothing else."""

import re
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import torch

from headwise.learn.export.batches import export_label, export_label_in_int8
from headwise.model.bundle import load_bundle
from headwise.network.label import Labeller


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


def test_labels_in_int8_stay_near_those_in_float32() -> None:
    torch.manual_seed(1)
    label = Labeller(20, 30, 12)
    rows = torch.randn(40, 30) * torch.logspace(-3, 3, 40)[:, None]
    rows[3] = -1  # nothing comes through the rectifier
    found = {
        name: ort.InferenceSession(graph).run(None, {name: rows.numpy()})[0]
        for name, graph in (("arcs", export_label(label)), ("rows", export_label_in_int8(label)))
    }
    exact = np.exp(found["arcs"])
    assert np.abs(np.exp(found["rows"]) - exact).max() < 0.02


@pytest.mark.parametrize("run", ["full_run", "encoder_run"])
def test_graphs_say_nothing_of_the_machine_that_made_them(
    run: str, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(run)
    graphs = list((folder / "model").glob("*.onnx"))
    assert graphs
    for path in graphs:
        data = path.read_bytes()
        assert not re.search(rb"stack_trace|File \"|\.py\b", data), path
