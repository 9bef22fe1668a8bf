"""Graphs ask for what their network reads, and give what it gives, a transformer included."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import torch

import headwise
from headwise.learn.export.batches import export_label
from headwise.learn.export.model import export_represent
from headwise.learn.fit.pretrained import read_encoder
from headwise.learn.scorer import TorchScorer, load_network
from headwise.model.bundle import Bundle, load_bundle
from headwise.model.graph import open_graph
from headwise.network.label import Labeller
from headwise.network.network import Network, initialise
from headwise.runtime.scorer import SentenceScorer
from headwise.settings.model import ModelConfig
from headwise.vocabulary.encode import WordIds, encode
from headwise.vocabulary.vocab import Index, Vocab

CPU = torch.device("cpu")


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
        name: ort.InferenceSession(export_label(label, is_int8)).run(None, {name: rows.numpy()})[0]
        for name, is_int8 in (("arcs", False), ("rows", True))
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


@pytest.fixture(scope="module")
def bundle(encoder_run: Path) -> Bundle:
    return load_bundle(encoder_run / "model")


@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-4), ("int8", 0.15)])
def test_states_are_those_of_torch_for_any_window(
    precision: str, tolerance: float, bundle: Bundle
) -> None:
    encoder = load_network(bundle, CPU).encoder
    assert encoder is not None
    assert bundle.vocab.subwords is not None
    settings = bundle.vocab.subwords.settings
    session = open_graph(bundle.read(f"encoder.{precision}.onnx"), "", keeps_memory=False)
    rng = np.random.default_rng(1)
    for length in (3, 4, 9, 17, settings.window):
        ids = rng.integers(0, settings.n_ids, length).astype(np.int32)
        (states,) = session.run(None, {"subwords": ids})
        with torch.inference_mode():
            exact = encoder.states(torch.from_numpy(ids)[None].long())[0]
        assert np.abs(states - exact.numpy()).max() < tolerance


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_with_a_transformer_words_are_one_graph_and_windows_another(
    precision: str, bundle: Bundle
) -> None:
    graph = onnx.load_from_string(bundle.read(f"represent.{precision}.onnx")).graph
    assert [node.name for node in graph.input] == ["words", "pieces", "in_context"]
    made = ["states", "inputs", "heads", "dependents"]
    made += ["upos", "xpos", "upos_scores", "xpos_scores"]
    assert [node.name for node in graph.output] == made
    graph = onnx.load_from_string(bundle.read(f"encoder.{precision}.onnx")).graph
    assert [node.name for node in graph.input] == ["subwords"]
    assert [node.name for node in graph.output] == ["states"]
    assert graph.input[0].type.tensor_type.shape.dim[0].dim_param


def test_int8_holds_the_table_and_the_products_in_bytes(bundle: Bundle) -> None:
    graph = onnx.load_from_string(bundle.read("encoder.int8.onnx")).graph
    kinds = {tuple(i.dims): i.data_type for i in graph.initializer if len(i.dims) == 2}
    assert bundle.vocab.subwords is not None
    assert kinds[bundle.vocab.subwords.settings.n_ids, 16] == onnx.TensorProto.INT8
    assert kinds[16, 24] == kinds[24, 16] == kinds[16, 16] == onnx.TensorProto.INT8
    represent = onnx.load_from_string(bundle.read("represent.float32.onnx")).graph
    assert not [i.name for i in represent.initializer if "encoder" in i.name]


def test_a_model_without_layers_exports(some_encoder: Path) -> None:
    vocab = Vocab(
        Index(["the"]), Index(()), Index(["root", "obj"]), "none",
        subwords=read_encoder(some_encoder),
    )  # fmt: skip
    model = ModelConfig(
        encoder="bert", layers=0, tag_column="none", word_size=4, selector_size=8, label_size=8
    )
    network = Network(model, vocab)
    initialise(network, 0.5, seed=1)
    assert network.encoder is not None
    session = open_graph(export_represent(network), "", keeps_memory=False)
    words = torch.tensor([2, 3, 1, 3], dtype=torch.int32)
    in_context = torch.randn(4, network.encoder.size)
    found = session.run(None, {"words": words.numpy(), "in_context": in_context.numpy()})
    none = torch.zeros(1, 4, 0, dtype=torch.int32)
    ids = WordIds(words[None], words[None], none, words[None], none)
    with torch.inference_mode():
        inputs = network.inputs(ids, in_context[None])
        heads, dependents = network.select.project(inputs)
    for exact, light in zip((inputs, inputs, heads, dependents), found, strict=True):
        np.testing.assert_allclose(light, exact[0].numpy(), atol=1e-5)


def test_a_long_sentence_parses_and_is_like_torch(bundle: Bundle) -> None:
    words = [(f"word{i % 7}",) for i in range(300)]
    sentence = headwise.sentence_from_words(words, ["form"])
    windows = encode(sentence, bundle.vocab).windows
    assert windows is not None
    assert len(windows.ids) > 20
    (exact,) = TorchScorer(load_network(bundle, CPU), bundle.vocab, CPU).select([sentence])
    (light,) = SentenceScorer(bundle, "float32").select([sentence])
    np.testing.assert_allclose(light.head_log_probs, exact.head_log_probs, atol=1e-3)


def test_parsing_needs_neither_torch_nor_transformers(encoder_run: Path) -> None:
    code = (
        "import sys, headwise\n"
        "parser = headwise.load(sys.argv[1])\n"
        "kids = headwise.sentence_from_words([('Kids',), ('love',), ('candy',)], ['form'])\n"
        "assert len(parser.parse([kids])[0].heads) == 3\n"
        "heavy = {'torch', 'transformers', 'onnx', 'safetensors'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code, str(encoder_run)], check=True)
