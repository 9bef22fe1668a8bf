"""Write a model folder again as `headwise train` would write it today, without training.

    python -m bench.reexport src/headwise/models/en models/de models/cs models/pt models/zh

A folder of format 1 is written in format 2. The weights are those of the folder or, where it has
none, those of its int8 graphs; then only int8 is written. One of format 2, or with a transformer,
keeps its graphs; only weights that use all of int8 are narrowed to the half of it that gives the
same on every CPU (`learn.graphs.quantise`), and remarks of the exporter, which name paths of the
machine that trained, are taken away. What is in the folder besides (its card) stays.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper

from headwise.learn.export.graphs import HALF, without_remarks
from headwise.learn.export.model import export_model
from headwise.learn.scorer import load_network
from headwise.model.bundle import (
    INPUTS,
    MANIFEST,
    WEIGHTS,
    Bundle,
    Description,
    load_bundle,
    slim,
    write_bundle,
)
from headwise.network.network import Network

Array = NDArray[np.float32]
LSTM_PARTS = {"over_inputs": "weight_ih_l0", "over_hidden": "weight_hh_l0"}


def read_graph(data: bytes) -> tuple[onnx.GraphProto, dict[str, Array]]:
    """Read a graph and the arrays in it."""
    graph = onnx.load_from_string(data).graph
    return graph, {one.name: numpy_helper.to_array(one) for one in graph.initializer}


def tables(arrays: dict[str, Array]) -> dict[str, Array]:
    """Find the embedding tables, int8 values with a scale for each row."""
    return {
        f"{name.removesuffix('.values')}.weight": values * arrays[f"{name[:-7]}.scale"]
        for name, values in arrays.items()
        if name.endswith(".values")
    }


def lstms(arrays: dict[str, Array]) -> dict[str, Array]:
    """Find the LSTMs; ONNX has other gates first, and both biases in one."""
    found = {}
    for name, bias in arrays.items():
        if not (name.startswith("represent.") and name.endswith(".bias")):
            continue
        lstm = name.removesuffix(".bias")
        for part, own in LSTM_PARTS.items():
            scale = arrays[f"{lstm}.{part}_scale"][0]  # [4d]
            found[f"{lstm}.{own}"] = _gates(arrays[f"{lstm}.{part}_quantized"][0].T, scale)
        for own, half in zip(("bias_ih_l0", "bias_hh_l0"), np.split(bias[0], 2), strict=True):
            found[f"{lstm}.{own}"] = _gates(half, np.ones(len(half), np.float32))
    return found


def _gates(values: Array, scale: Array) -> Array:
    """Scale rows [4d, ...] and put input, output, forget, cell into PyTorch's order."""
    scaled = (values.T * scale).T
    first, last, forget, cell = np.split(scaled, 4)
    return np.concatenate([first, forget, cell, last]).astype(np.float32)


def layers(graph: onnx.GraphProto, arrays: dict[str, Array]) -> dict[str, Array]:
    """Find the linear layers: int8 product, scale, and the bias that has the name."""
    readers = {name: node for node in graph.node for name in node.input}
    found = {}
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        weight = node.input[1].removesuffix("_quantized")
        add = node
        while add.op_type != "Add":
            add = readers[add.output[0]]
        bias = next(name for name in add.input if name in arrays)
        values = arrays[f"{weight}_quantized"] * arrays[f"{weight}_scale"]
        found[bias.replace(".bias", ".weight")] = values.T
        found[bias] = arrays[bias]
    return found


def weights_of(bundle: Bundle) -> dict[str, torch.Tensor]:
    """Collect the weights of a network from its int8 graphs."""
    found: dict[str, Array] = {}
    for name in ("represent.int8.onnx", "label.int8.onnx"):
        graph, arrays = read_graph(bundle.read(name))
        short = {key.removeprefix("network."): value for key, value in arrays.items()}
        own = layers(graph, arrays)
        found |= tables(short) | lstms(short)
        found |= {key.removeprefix("network."): value for key, value in own.items()}
    graph, arrays = read_graph(bundle.read("select.onnx"))
    (product,) = (node for node in graph.node if node.op_type == "MatMul")
    found["select.v_a.weight"] = arrays[product.input[1]].reshape(1, -1)
    return {
        name: torch.from_numpy(np.array(value, dtype=np.float32)) for name, value in found.items()
    }


def narrow(data: bytes) -> bytes:
    """Let the int8 weights of a graph's products use half of the range, with twice the scale."""
    model = without_remarks(onnx.load_from_string(data))
    stored = {one.name: one for one in model.graph.initializer}
    weights = {
        name
        for node in model.graph.node
        for name in node.input[1:3]
        if node.op_type in ("MatMulInteger", "DynamicQuantizeLSTM") and name.endswith("_quantized")
    }
    for name in weights:
        scale_name = f"{name.removesuffix('_quantized')}_scale"
        values, scale = (numpy_helper.to_array(stored[one]) for one in (name, scale_name))
        if np.abs(values.astype(np.int32)).max() <= HALF:
            continue
        narrowed = np.rint(values * (HALF / 127)).astype(np.int8)
        stored[name].CopyFrom(numpy_helper.from_array(narrowed, name))
        wider = (scale * (127 / HALF)).astype(np.float32)
        stored[scale_name].CopyFrom(numpy_helper.from_array(wider, scale_name))
    return bytes(model.SerializeToString())


def reexport(folder: Path) -> None:
    """Write one folder again, in its place."""
    bundle = load_bundle(folder)
    manifest = bundle.manifest
    description = Description(manifest.model, manifest.decode, manifest.provenance, manifest.scores)
    is_new = INPUTS.format("int8") in manifest.files or bool(manifest.model.encoder)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        target = Path(scratch) / "target"
        if is_new:
            files = {name: bundle.read(name) for name in manifest.files}
            graphs = {n: narrow(data) for n, data in files.items() if n.endswith(".onnx")}
            write_bundle(target, description, files | graphs)
        else:
            _export(bundle, description, target)
        for name in (*manifest.files, MANIFEST):
            (folder / name).unlink()
        for path in target.iterdir():
            path.rename(folder / path.name)


def _export(bundle: Bundle, description: Description, target: Path) -> None:
    """Export a network of format 1 anew."""
    names = bundle.manifest.files
    others = {name: bundle.read(name) for name in names if name.startswith("segment.")}
    if WEIGHTS in names:
        network = load_network(bundle, torch.device("cpu"))
        export_model(network, bundle.vocab, description, target, others)
        return
    network = Network(description.model, bundle.vocab)
    network.load_state_dict(weights_of(bundle))
    whole = target.with_name("whole")
    export_model(network, bundle.vocab, description, whole, others)
    slim(whole, target, "int8")


def main() -> None:
    """Write folders again."""
    options = argparse.ArgumentParser(
        description="Write model folders again as they would be written today."
    )
    options.add_argument("folders", type=Path, nargs="+")
    for folder in options.parse_args().folders:
        reexport(folder)
        print(folder)


if __name__ == "__main__":
    main()
