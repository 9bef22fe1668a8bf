"""Divide the scores of a model that ships by the temperature that a dev treebank asks for.

    python -m bench.calibrate src/headwise/models/en UD_English-EWT/dev.conllu.xz

For models that were trained without `train.calibrate`, which does the same. The folder is written
anew: v_a of Eq. 6, which lies in float32, and what the manifest says; its card stays.
"""

import argparse
import tempfile
from pathlib import Path

import msgspec
import numpy as np
import onnx
from onnx import numpy_helper

import headwise
from bench.ship import CARD
from headwise.errors import ModelError
from headwise.evaluate.confidence import HeadScores
from headwise.model.bundle import PAIRS, SELECT, WEIGHTS, Bundle, Description, load_bundle
from headwise.model.bundle import write_bundle as write
from headwise.vocabulary.encode import heads_array


def told_of(model: Bundle, dev: Path) -> HeadScores:
    """Ask a model for all heads of all gold words of dev."""
    gold = [sentence for sentence in headwise.read_sentences(dev) if len(sentence)]
    told = headwise.load(model).parse_with_distributions(gold)
    return HeadScores([matrix for _, matrix in told], [heads_array(one) for one in gold])


def divided(model: Bundle, temperature: float) -> dict[str, bytes]:
    """Write the file that holds v_a with other numbers."""
    if PAIRS in model.manifest.files:
        weights = msgspec.json.decode(model.read(PAIRS), type=dict[str, list[float]])
        v_a = (np.array(weights["v_a"], np.float32) / np.float32(temperature)).tolist()
        return {PAIRS: msgspec.json.encode({"v_a": v_a})}
    graph = onnx.load_from_string(model.read(SELECT))
    (product,) = (node for node in graph.graph.node if node.op_type == "MatMul")
    (v_a,) = (one for one in graph.graph.initializer if one.name == product.input[1])
    smaller = numpy_helper.to_array(v_a) / np.float32(temperature)
    v_a.CopyFrom(numpy_helper.from_array(smaller, v_a.name))
    return {SELECT: graph.SerializeToString()}


def calibrate(model: Bundle, dev: Path) -> tuple[float, float, float]:
    """Write the folder anew; give the temperature, and the error on dev before and after."""
    if WEIGHTS in model.manifest.files:
        raise ModelError(f"{model.path}: has weights too", "train it with train.calibrate=true")
    if model.manifest.decode.weights == "probability":
        raise ModelError(f"{model.path}: adds up probabilities: its trees would change")
    before = told_of(model, dev)
    temperature = before.temperature()
    files = {name: model.read(name) for name in model.manifest.files}
    files |= divided(model, temperature)
    own = model.manifest
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "model", Description(own.model, own.decode, {}, {}), files)
        after = told_of(load_bundle(Path(folder) / "model"), dev).error()
    whole = temperature * own.scores.get("temperature", 1.0)
    scores = own.scores | {"temperature": whole, "dev_calibration_error": after}
    card = (model.path / CARD).read_bytes() if (model.path / CARD).exists() else b""
    write(model.path, Description(own.model, own.decode, own.provenance, scores), files)
    if card:
        (model.path / CARD).write_bytes(card)
    return temperature, before.error(), after


def main() -> None:
    """Calibrate one model and say what it gave."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("model", type=Path, help="a folder without weights")
    options.add_argument("dev", type=Path)
    given = options.parse_args()
    temperature, before, after = calibrate(load_bundle(given.model), given.dev)
    print(
        f"{given.model}: scores divided by {temperature:.3f}; calibration error on dev "
        f"{before:.2f} points before, {after:.2f} now"
    )


if __name__ == "__main__":
    main()
