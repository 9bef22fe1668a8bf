"""Graphs ask for what their network reads, and give what it gives, a transformer included."""

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import torch
from made_encoders import N_IDS, word_pieces, write_folder, write_mpnet
from torch.export import Dim

import headwise
from headwise.arrays import FloatArray, IntArray, NumberArray
from headwise.learn.export.batches import bound_of, export_inputs, export_label
from headwise.learn.export.graphs import RowsLinear, quantise, trace
from headwise.learn.export.model import encoder_graphs, export_represent, with_int8_inputs
from headwise.learn.fit.pretrained import read_encoder, set_weights
from headwise.learn.scorer import TorchScorer, load_network
from headwise.model.bundle import Bundle, load_bundle
from headwise.model.graph import Graph, open_graph
from headwise.network.encoder import Encoder
from headwise.network.inputs import to_device
from headwise.network.label import Labeller
from headwise.network.network import Network, initialise
from headwise.runtime.scorer import SentenceScorer
from headwise.settings.model import ModelConfig
from headwise.treebank.sentence import sentence_from_words
from headwise.vocabulary.encode import WordIds, encode
from headwise.vocabulary.lexicon import build_lexicon
from headwise.vocabulary.subwords import EncoderSettings, Subwords
from headwise.vocabulary.vocab import Index, Vocab, build_vocab

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("run", "inputs", "columns"),
    [
        ("tiny_run", ["words", "tags"], []),
        ("full_run", ["words", "pieces", "vectors"], ["upos", "xpos"]),
        ("marked_run", ["words", "pieces", "marks"], ["upos"]),
        ("columns_run", ["words", "letters", "prior"], ["upos", "xpos", "feats", "lemma"]),
    ],
)
@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_graphs_have_the_inputs_that_are_read(
    run: str, inputs: list[str], columns: list[str], precision: str, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(run)
    bundle = load_bundle(folder / "model")
    graph = onnx.load_from_string(bundle.read(f"inputs.{precision}.onnx")).graph
    assert [node.name for node in graph.input] == inputs
    graph = onnx.load_from_string(bundle.read(f"represent.{precision}.onnx")).graph
    assert [node.name for node in graph.input] == ["x", "lengths"]
    assert [node.name for node in graph.output] == ["pairs", "arcs"] + ["hidden"] * bool(columns)
    if columns:
        graph = onnx.load_from_string(bundle.read(f"columns.{precision}.onnx")).graph
        assert [node.name for node in graph.input] == ["rows" if precision == "int8" else "hidden"]
        scores = [f"{column}_scores" for column in columns]
        assert [node.name for node in graph.output] == columns + scores


def test_int8_is_the_smaller_one(full_run: Path) -> None:
    files = load_bundle(full_run / "model").manifest.files
    for part in ("represent", "label"):
        assert files[f"{part}.int8.onnx"].size < 0.6 * files[f"{part}.float32.onnx"].size


def test_a_frequent_word_does_not_change_its_neighbours_in_int8() -> None:
    """What the lexicon has counted is large for `the`, and small for all others."""
    tagged = [("the", "DET")] * 500 + [("cat", "NOUN"), ("dog", "NOUN"), ("runs", "VERB")] * 2
    sentence = sentence_from_words(tagged, ["form", "upos"])
    config = ModelConfig(tag_column="none", letters=8, prior_size=16)
    vocab = build_vocab([sentence], "none", 1, reads_letters=True)
    vocab = replace(vocab, lexicon=build_lexicon(sentence.words))
    network = Network(config, vocab)
    initialise(network, 0.5, seed=1)
    inputs = with_int8_inputs(network).inputs
    exported = quantise(export_inputs(inputs, bound_of(network.inputs), is_int8=True))
    graph = Graph(exported, "inputs.int8.onnx")

    def x_of(*forms: str) -> FloatArray:
        words = sentence_from_words([(form,) for form in forms], ["form"])
        return graph.run(encode(words, vocab).ids.by_name(), len(forms) + 1)[0]

    alone, together = x_of("cat", "new"), x_of("cat", "new", "the", "extraordinary")
    np.testing.assert_array_equal(alone, together[:3])
    exact = network.inputs(WordIds(*_batch_of(encode(sentence, vocab).ids)))[0].detach().numpy()
    np.testing.assert_allclose(x_of(*(form for form, _ in tagged))[:, :-2], exact, atol=0.1)


def _batch_of(ids: WordIds[NumberArray]) -> list[torch.Tensor]:
    return [to_device(array, CPU)[None] for array in ids.by_name().values()]


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


TOLERANCES = [("float32", 1e-4), ("int8", 0.15)]


def read_window(graphs: Mapping[str, bytes], precision: str, ids: IntArray) -> FloatArray:
    """Run the graphs of a transformer: one, or its table of subwords first."""
    found = {"subwords": ids}
    for name in ("subwords", "encoder"):
        if (data := graphs.get(f"{name}.{precision}.onnx")) is not None:
            session = open_graph(data, name, keeps_memory=False)
            outputs = session.run(
                None, {node.name: found[node.name] for node in session.get_inputs()}
            )
            found |= zip([node.name for node in session.get_outputs()], outputs, strict=True)
    return found["states"]


def require_parity(
    encoder: Encoder, settings: EncoderSettings, graphs: Mapping[str, bytes], precision: str,
    tolerance: float,
) -> None:  # fmt: skip
    rng = np.random.default_rng(1)
    for length in (3, 4, 9, 17, settings.window):
        ids = rng.integers(0, settings.n_ids, length).astype(np.int32)
        with torch.inference_mode():
            exact = encoder.states(torch.from_numpy(ids)[None].long())[0]
        assert np.abs(read_window(graphs, precision, ids) - exact.numpy()).max() < tolerance


@pytest.mark.parametrize(("precision", "tolerance"), TOLERANCES)
def test_states_are_those_of_torch_for_any_window(
    precision: str, tolerance: float, bundle: Bundle
) -> None:
    encoder = load_network(bundle, CPU).encoder
    assert encoder is not None
    assert bundle.vocab.subwords is not None
    settings = bundle.vocab.subwords.settings
    require_parity(encoder, settings, bundle.contents, precision, tolerance)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_with_a_transformer_words_are_one_graph_and_windows_two(
    precision: str, bundle: Bundle
) -> None:
    graph = onnx.load_from_string(bundle.read(f"represent.{precision}.onnx")).graph
    assert [node.name for node in graph.input] == ["words", "pieces", "in_context"]
    made = ["states", "inputs", "heads", "dependents"]
    made += ["upos", "xpos", "upos_scores", "xpos_scores"]
    assert [node.name for node in graph.output] == made
    for name, given, made in (
        ("subwords", "subwords", ["embedded"]),
        ("encoder", "embedded", ["states"]),
    ):
        graph = onnx.load_from_string(bundle.read(f"{name}.{precision}.onnx")).graph
        assert [node.name for node in graph.input] == [given]
        assert [node.name for node in graph.output] == made
        assert graph.input[0].type.tensor_type.shape.dim[0].dim_param


def test_int8_holds_the_table_and_the_products_in_bytes(bundle: Bundle) -> None:
    kinds = {}
    for name in ("subwords", "encoder"):
        graph = onnx.load_from_string(bundle.read(f"{name}.int8.onnx")).graph
        kinds |= {tuple(i.dims): i.data_type for i in graph.initializer if len(i.dims) == 2}
    assert bundle.vocab.subwords is not None
    assert kinds[bundle.vocab.subwords.settings.n_ids, 16] == onnx.TensorProto.INT8
    assert kinds[16, 24] == kinds[24, 16] == kinds[16, 16] == onnx.TensorProto.INT8
    represent = onnx.load_from_string(bundle.read("represent.float32.onnx")).graph
    assert not [i.name for i in represent.initializer if "encoder" in i.name]


def small_network(folder: Path) -> tuple[Network, Subwords]:
    """A network without layers on a transformer, with the weights of its folder."""
    subwords = read_encoder(folder)
    vocab = Vocab(Index(["the"]), Index(()), Index(["root", "obj"]), "none", subwords=subwords)
    model = ModelConfig(
        encoder=folder.name, layers=0, tag_column="none", word_size=4, selector_size=8, label_size=8
    )
    network = Network(model, vocab)
    initialise(network, 0.5, seed=1)
    assert network.encoder is not None
    set_weights(network.encoder, folder)
    return network.eval(), subwords


def test_mpnet_exports_as_two_graphs(tmp_path: Path) -> None:
    network, subwords = small_network(write_mpnet(tmp_path / "mpnet"))
    assert network.encoder is not None
    graphs = encoder_graphs(network, with_int8_inputs(network), subwords)
    assert len(graphs) == 4
    for precision, tolerance in TOLERANCES:
        require_parity(network.encoder, subwords.settings, graphs, precision, tolerance)


def test_another_kind_exports_as_one_graph(tmp_path: Path) -> None:
    from transformers import AlbertConfig, AlbertModel

    config = AlbertConfig(
        vocab_size=N_IDS, embedding_size=8, hidden_size=16, num_hidden_layers=1,
        num_attention_heads=2, intermediate_size=24, max_position_embeddings=40,
    )  # fmt: skip
    folder = write_folder(tmp_path / "other", AlbertModel, config, word_pieces())
    network, subwords = small_network(folder)
    assert network.encoder is not None
    assert not network.encoder.is_plain
    graphs = encoder_graphs(network, with_int8_inputs(network), subwords)
    assert sorted(graphs) == ["encoder.float32.onnx", "encoder.int8.onnx"]
    require_parity(network.encoder, subwords.settings, graphs, "float32", 1e-4)


@pytest.mark.parametrize("signed", [True, False])
def test_a_large_row_leaves_the_others_exact(signed: bool) -> None:
    """A few subwords of MPNet have values a hundred times those of others."""
    torch.manual_seed(1)
    layer = torch.nn.Linear(32, 16)
    rows = torch.randn(6, 32)
    rows[2] *= 1000
    if not signed:
        rows = rows.relu()
    name = "rows"
    graph = trace(RowsLinear(layer, signed), {name: rows}, {name: {0: Dim("n")}}, ["results"])
    (found,) = open_graph(graph, "", keeps_memory=False).run(None, {name: rows.numpy()})
    exact = layer(rows).detach().numpy()
    difference = np.abs(found - exact).max(axis=1) / np.abs(exact).max(axis=1)
    assert difference.max() < 0.02
    kinds = {
        i.data_type for i in onnx.load_from_string(graph).graph.initializer if len(i.dims) == 2
    }
    assert kinds == {onnx.TensorProto.INT8}


def test_a_model_without_layers_exports(some_encoder: Path) -> None:
    network, _ = small_network(some_encoder)
    assert network.encoder is not None
    session = open_graph(export_represent(network), "", keeps_memory=False)
    words = torch.tensor([2, 3, 1, 3], dtype=torch.int32)
    in_context = torch.randn(4, network.encoder.size)
    found = session.run(None, {"words": words.numpy(), "in_context": in_context.numpy()})
    none = torch.zeros(1, 4, 0, dtype=torch.int32)
    ids = WordIds(words[None], words[None], none, words[None], none, none, none.float())
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
