"""Model folders with something changed, so that a test can see what is refused."""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import NodeProto, helper, numpy_helper

from headwise.model.bundle import MANIFEST


def copy_model(source: Path, target: Path) -> Path:
    """Copy a model folder that a test may change."""
    return Path(shutil.copytree(source, target))


def change_manifest(folder: Path, /, **changes: object) -> None:
    """Change top-level keys of `model.json`."""
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | changes))


def change_entry(model: Path, name: str, entry: dict[str, object] | None) -> None:
    """Change what `model.json` says about a file; with None it lists the file no more."""
    files = json.loads((model / MANIFEST).read_text())["files"] | {name: entry}
    change_manifest(model, files={name: entry for name, entry in files.items() if entry})


def replace_file(model: Path, name: str, content: bytes | dict[str, object]) -> None:
    """Write a file of a model, JSON or bytes, and its new size and checksum."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (model / name).write_bytes(data)
    change_entry(model, name, {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()})


def change_output(
    model: Path, name: str, output: str, node: NodeProto, to: int | None = None
) -> None:
    """Put a node behind an output of a graph: from "before" to "after"; `to` is its new type."""
    graph = onnx.load(model / name)
    for one in graph.graph.node:
        one.output[:] = ["before" if value == output else value for value in one.output]
        one.input[:] = ["before" if value == output else value for value in one.input]
    node.output[:] = [output]
    graph.graph.node.append(node)
    for value in graph.graph.output:
        if value.name == output and to is not None:
            value.type.tensor_type.elem_type = to
    for constant, number in (("0", 0), ("2", 2)):
        array = np.array([number], np.int64)
        graph.graph.initializer.append(numpy_helper.from_array(array, constant))
    replace_file(model, name, graph.SerializeToString())


def first_two() -> NodeProto:
    """Make the node that cuts an output to the first two of its first axis."""
    return helper.make_node("Slice", ["before", "0", "2", "0"], ["after"])
