"""Calibrate a shipped model: divide its scores by the temperature that fits a dev treebank.

    python -m bench.calibrate src/headwise/models/en UD_English-EWT/dev.conllu.xz

For models that were trained without `train.calibrate`, which does the same. Only v_a of Eq. 6,
stored in float32, and the manifest change; the model card stays.
"""

import argparse
import tempfile
from pathlib import Path

import msgspec
import numpy as np
import onnx
from onnx import numpy_helper

import headwise
from headwise.errors import ModelError
from headwise.evaluate.confidence import HeadScores
from headwise.model.bundle import PAIR_WEIGHTS, SELECT, WEIGHTS, Bundle, Description, load_bundle
from headwise.model.bundle import write_bundle as write
from headwise.model.package import CARD
from headwise.vocabulary.encode import heads_array


def head_scores(model: Bundle, dev: Path) -> HeadScores:
    """Score all heads of all gold words of dev with a model."""
    gold = [sentence for sentence in headwise.read_sentences(dev) if len(sentence)]
    parses = headwise.load(model).parse_with_distributions(gold)
    return HeadScores([matrix for _, matrix in parses], [heads_array(one) for one in gold])


def divide_scores(model: Bundle, temperature: float) -> dict[str, bytes]:
    """Make the file that holds v_a, with v_a divided by the temperature."""
    if PAIR_WEIGHTS in model.manifest.files:
        weights = msgspec.json.decode(model.read(PAIR_WEIGHTS), type=dict[str, list[float]])
        v_a = (np.array(weights["v_a"], np.float32) / np.float32(temperature)).tolist()
        return {PAIR_WEIGHTS: msgspec.json.encode({"v_a": v_a})}
    graph = onnx.load_from_string(model.read(SELECT))
    (product,) = (node for node in graph.graph.node if node.op_type == "MatMul")
    (v_a,) = (one for one in graph.graph.initializer if one.name == product.input[1])
    smaller = numpy_helper.to_array(v_a) / np.float32(temperature)
    v_a.CopyFrom(numpy_helper.from_array(smaller, v_a.name))
    return {SELECT: graph.SerializeToString()}


def calibrate(model: Bundle, dev: Path) -> tuple[float, float, float]:
    """Rewrite the folder; return the temperature, and the error on dev before and after."""
    if WEIGHTS in model.manifest.files:
        raise ModelError(f"{model.path}: it has weights", "train it with train.calibrate=true")
    if model.manifest.decode.weights == "probability":
        raise ModelError(
            f"{model.path}: it decodes sums of probabilities, so calibration would change its trees"
        )
    before = head_scores(model, dev)
    temperature = before.temperature()
    files = {name: model.read(name) for name in model.manifest.files}
    files |= divide_scores(model, temperature)
    manifest = model.manifest
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "model", Description(manifest.model, manifest.decode, {}, {}), files)
        after = head_scores(load_bundle(Path(folder) / "model"), dev).error()
    total = temperature * manifest.scores.get("temperature", 1.0)
    scores = manifest.scores | {"temperature": total, "dev_calibration_error": after}
    card = (model.path / CARD).read_bytes() if (model.path / CARD).exists() else b""
    write(model.path, msgspec.structs.replace(manifest, scores=scores), files)
    if card:
        (model.path / CARD).write_bytes(card)
    return temperature, before.error(), after


def main() -> None:
    """Calibrate one model and print the errors before and after."""
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
