"""Rewrite the ONNX graphs of a model folder as `headwise train` would write them, without training.

    python -m bench.reexport models/en-accurate/src/headwise_en_accurate

Weights that use all of int8 are narrowed to the half of it that gives the same results on every CPU
(`learn.export.graphs.quantise`). Metadata of the exporter, which names paths of the machine that
trained, is removed. Other files in the folder, such as the model card, stay.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from headwise.learn.export.graphs import HALF, without_remarks
from headwise.model.bundle import MANIFEST, load_bundle, write_bundle


def narrow(data: bytes) -> bytes:
    """Restrict int8 weights of products to half of the range, with twice the scale."""
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
    """Rewrite one folder in place."""
    bundle = load_bundle(folder)
    manifest = bundle.manifest
    files = {name: bundle.read(name) for name in manifest.files}
    graphs = {name: narrow(data) for name, data in files.items() if name.endswith(".onnx")}
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        target = Path(scratch) / "target"
        write_bundle(target, manifest, files | graphs)
        for name in (*manifest.files, MANIFEST):
            (folder / name).unlink()
        for path in target.iterdir():
            path.rename(folder / path.name)


def main() -> None:
    """Rewrite folders."""
    options = argparse.ArgumentParser(description="Rewrite the graphs of model folders.")
    options.add_argument("folders", type=Path, nargs="+")
    for folder in options.parse_args().folders:
        reexport(folder)
        print(folder)


if __name__ == "__main__":
    main()
