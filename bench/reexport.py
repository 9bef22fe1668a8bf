"""Write a model folder of format 1 again in format 2, without training.

python -m bench.reexport src/headwise/models/en models/de models/cs models/pt models/zh

The weights are those of the folder or, where it has none, those of its int8 graphs; then only int8
is written. What is in the folder besides (its card) stays.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper

from headwise.learn.export import export_model
from headwise.learn.network import Network
from headwise.learn.scorer import load_network
from headwise.model.bundle import MANIFEST, WEIGHTS, Bundle, Description, load_bundle, slim

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


def reexport(folder: Path) -> None:
    """Write one folder again, in its place."""
    bundle = load_bundle(folder)
    manifest = bundle.manifest
    has_weights = WEIGHTS in manifest.files
    if has_weights:
        network = load_network(bundle, torch.device("cpu"))
    else:
        network = Network(manifest.model, bundle.vocab)
        network.load_state_dict(weights_of(bundle))
    description = Description(manifest.model, manifest.decode, manifest.provenance, manifest.scores)
    others = {name: bundle.read(name) for name in manifest.files if name.startswith("segment.")}
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        whole, target = Path(scratch) / "whole", Path(scratch) / "target"
        export_model(network, bundle.vocab, description, whole, others)
        if has_weights:
            target = whole
        else:
            slim(whole, target, "int8")
        for name in (*manifest.files, MANIFEST):
            (folder / name).unlink()
        for path in target.iterdir():
            path.rename(folder / path.name)


def main() -> None:
    """Write folders again."""
    options = argparse.ArgumentParser(description="Write model folders again in format 2.")
    options.add_argument("folders", type=Path, nargs="+")
    for folder in options.parse_args().folders:
        reexport(folder)
        print(folder)


if __name__ == "__main__":
    main()
