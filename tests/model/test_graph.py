"""Graphs that are refused before ONNX Runtime opens them, and those that are not."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from headwise.errors import ModelError
from headwise.model.find import MODELS_FOLDER
from headwise.model.graph import Graph, check_onnx


def graph_of(
    node: onnx.NodeProto | None = None,
    weight: "np.ndarray[tuple[int], np.dtype[np.float32]] | None" = None,
) -> onnx.ModelProto:
    """Make a graph that adds a weight to its input."""
    values = np.ones(3, np.float32) if weight is None else weight
    graph = helper.make_graph(
        [node or helper.make_node("Add", ["x", "w"], ["y"])],
        "adds",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])],
        [numpy_helper.from_array(values, "w")],
    )
    return helper.make_model(graph)


def check(model: onnx.ModelProto) -> None:
    check_onnx(model.SerializeToString(), "m.onnx")


@pytest.mark.parametrize("path", sorted(MODELS_FOLDER.glob("*/*.onnx")), ids=lambda path: path.name)
def test_graphs_that_ship_are_accepted(path: Path) -> None:
    check_onnx(path.read_bytes(), str(path))


@pytest.mark.parametrize("weight", [None, [-np.inf]], ids=["numbers", "a mask"])
def test_plain_graphs_are_accepted(weight: list[float] | None) -> None:
    check(graph_of(weight=None if weight is None else np.array(weight, np.float32)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_must_be_finite(value: float) -> None:
    with pytest.raises(ModelError, match=r"m\.onnx: a weight is not a finite number"):
        check(graph_of(weight=np.array([1, value, 2], np.float32)))


@pytest.mark.parametrize(
    ("operator", "domain"), [("Loop", ""), ("Add", "evil"), ("FusedMatMul", "com.microsoft")]
)
def test_other_operators_are_refused(operator: str, domain: str) -> None:
    with pytest.raises(ModelError, match=r"operator .* is not allowed"):
        check(graph_of(helper.make_node(operator, ["x", "w"], ["y"], domain=domain)))


def test_external_data_is_refused() -> None:
    model = graph_of()
    weight = model.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    entry = weight.external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"
    with pytest.raises(ModelError, match="its weights are in another file"):
        check(model)


def test_graphs_inside_of_nodes_are_refused() -> None:
    node = helper.make_node("Add", ["x", "w"], ["y"], body=graph_of().graph)
    with pytest.raises(ModelError, match="a node contains a graph"):
        check(graph_of(node))


def test_functions_are_refused() -> None:
    model = graph_of()
    model.functions.append(helper.make_function("", "f", ["x"], ["y"], [], []))
    with pytest.raises(ModelError, match="functions"):
        check(model)


def test_names_must_be_utf8() -> None:
    data = (
        graph_of().SerializeToString().replace(b"adds", b"\xdfdds").replace(b"\x01y", b"\x01\xdf")
    )
    with pytest.raises(ModelError, match="utf-8"):
        check_onnx(data, "m.onnx")


@pytest.mark.parametrize("n_bytes", [1, 5, 40])
def test_a_file_that_ends_early_is_refused(n_bytes: int) -> None:
    data = graph_of().SerializeToString()
    with pytest.raises(ModelError, match="ends too early"):
        check_onnx(data[:-n_bytes], "m.onnx")


def test_what_is_not_a_protocol_buffer_is_refused() -> None:
    with pytest.raises(ModelError, match="not an ONNX file"):
        check_onnx(b"\xff" * 100, "m.onnx")


def test_a_graph_that_fails_when_it_runs_is_an_error_of_the_model() -> None:
    model = graph_of()
    model.ir_version, model.opset_import[0].version = 10, 20
    graph = Graph(model.SerializeToString(), "m.onnx")
    with pytest.raises(ModelError, match=r"m\.onnx: ONNX Runtime cannot run it"):
        graph.run({"x": np.zeros(5, np.float32)})


@pytest.mark.parametrize("axis", [0, 1])
def test_an_output_must_follow_the_length_and_nothing_else(axis: int) -> None:
    """The output is cut, or as wide as the input is long."""
    bounds = [numpy_helper.from_array(np.array([n]), name) for n, name in ((0, "a"), (2, "z"))]
    square = [
        helper.make_node("Transpose", ["x"], ["t"]),
        helper.make_node("MatMul", ["x", "t"], ["y"]),
    ]
    cut = [helper.make_node("Slice", ["x", "a", "z"], ["y"])]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy")
    graph = helper.make_graph([cut, square][axis], "g", [x], [y], bounds)
    opset = [helper.make_opsetid("", 20)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=10)
    opened = Graph(model.SerializeToString(), "m.onnx")
    assert opened.run({"x": np.ones((2, 3), np.float32)}, 2)[0].shape[0] == 2
    with pytest.raises(ModelError, match=r"m\.onnx: an output has the wrong shape"):
        opened.run({"x": np.ones((5, 3), np.float32)}, 5)


def test_a_graph_that_cannot_be_opened_is_refused_without_other_output(
    capfd: pytest.CaptureFixture[str],
) -> None:
    model = graph_of(helper.make_node("Add", ["x", "w"], ["y"], size=1))
    model.ir_version, model.opset_import[0].version = 10, 20
    data = model.SerializeToString().replace(b"size", b"\xe8ize")
    with pytest.raises(ModelError, match="ONNX Runtime refuses it"):
        Graph(data, "m.onnx")
    assert capfd.readouterr() == ("", "")
