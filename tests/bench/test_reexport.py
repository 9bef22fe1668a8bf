"""Shipped models are rewritten without training: their weights give the same on every CPU."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

import headwise
from bench.reexport import HALF, narrow, reexport
from headwise import Sentence
from headwise.model.bundle import load_bundle, slim


def largest(data: bytes) -> int:
    """Find the largest weight of the int8 products of a graph."""
    arrays = [
        numpy_helper.to_array(one).astype(np.int32)
        for one in onnx.load_from_string(data).graph.initializer
        if one.name.endswith("_quantized")
    ]
    return max(int(np.abs(values).max()) for values in arrays)


def widened(data: bytes) -> bytes:
    """Undo `narrow`: use all of int8 again."""
    model = onnx.load_from_string(data)
    stored = {one.name: one for one in model.graph.initializer}
    for name in [one for one in stored if one.endswith("_quantized")]:
        scale = f"{name.removesuffix('_quantized')}_scale"
        values = (numpy_helper.to_array(stored[name]).astype(np.int32) * 127 // HALF).astype(
            np.int8
        )
        stored[name].CopyFrom(numpy_helper.from_array(values, name))
        smaller = (numpy_helper.to_array(stored[scale]) * (HALF / 127)).astype(np.float32)
        stored[scale].CopyFrom(numpy_helper.from_array(smaller, scale))
    return bytes(model.SerializeToString())


def test_training_writes_weights_in_half_of_int8(full_run: Path) -> None:
    bundle = load_bundle(full_run / "model")
    graphs = [bundle.read(f"{part}.int8.onnx") for part in ("represent", "label")]
    assert {largest(graph) for graph in graphs} == {HALF}


def test_weights_are_narrowed_once(full_run: Path) -> None:
    graph = load_bundle(full_run / "model").read("represent.int8.onnx")
    wide = widened(graph)
    assert largest(wide) == 127
    assert largest(narrow(wide)) == HALF
    assert narrow(narrow(graph)) == narrow(graph)
    assert largest(narrow(graph)) == HALF


def test_a_folder_is_rewritten_in_place(
    full_run: Path, ewt_sentences: list[Sentence], tmp_path: Path
) -> None:
    folder = tmp_path / "small"
    slim(full_run / "model", folder, "int8")
    (folder / "README.md").write_text("card")
    before = headwise.load(folder)
    scores = load_bundle(folder).manifest.scores
    reexport(folder)
    assert load_bundle(folder).manifest.scores == scores
    assert (folder / "README.md").read_text() == "card"
    assert [p.name for p in tmp_path.iterdir()] == ["small"]
    texts = [
        [s.conllu for s, _ in p.annotate(ewt_sentences)] for p in (before, headwise.load(folder))
    ]
    assert texts[0] == texts[1]


def test_products_are_exact_on_this_cpu() -> None:
    """With weights in all of int8, some CPUs saturate the sum of two products at 32,767."""
    helper = onnx.helper
    weights = np.full((64, 16), HALF, np.int8)
    kinds = (onnx.TensorProto.UINT8, onnx.TensorProto.INT32)
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["a", "b"], ["y"])],
        "product",
        [helper.make_tensor_value_info("a", kinds[0], [8, 64])],
        [helper.make_tensor_value_info("y", kinds[1], [8, 16])],
        [numpy_helper.from_array(weights, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"a": np.full((8, 64), 255, np.uint8)})
    assert (found == 64 * 255 * HALF).all()
