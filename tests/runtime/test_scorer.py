"""The three forms of one network agree: PyTorch, ONNX in float32, ONNX in int8."""

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from made_models import change_manifest, change_output, copy_model, first_two, replace_file
from onnx import TensorProto, helper

from headwise import Sentence, read_sentences
from headwise.errors import ConfigError, ModelError
from headwise.learn.compute import Compute
from headwise.learn.export.graphs import OPSET
from headwise.learn.export.model import export_model, sentence_graphs
from headwise.learn.recipe import start
from headwise.learn.scorer import TorchScorer, load_network
from headwise.model.bundle import Bundle, Description, load_bundle, write_bundle
from headwise.network.network import Network, initialise
from headwise.runtime.scorer import BatchScorer, Scorer, Selection, SentenceScorer, load_scorer
from headwise.settings.model import ModelConfig
from headwise.settings.parsing import DecodeConfig
from headwise.settings.recipe import Recipe

TORCH_TOLERANCE = 3e-4
INT8_AGREEMENT = 0.98


KINDS = ["tiny_run", "full_run", "marked_run", "columns_run", "encoder_run"]


@pytest.fixture(scope="module", params=KINDS)
def bundle(request: pytest.FixtureRequest) -> Bundle:
    return load_bundle(request.getfixturevalue(request.param) / "model")


@pytest.fixture
def model(tiny_run: Path, tmp_path: Path) -> Path:
    """A copy of a model that a test may damage."""
    return copy_model(tiny_run / "model", tmp_path / "model")


def torch_scorer(bundle: Bundle) -> TorchScorer:
    device = torch.device("cpu")
    return TorchScorer(load_network(bundle, device), bundle.vocab, device, with_tag_scores=True)


def parses_of(scorer: Scorer, sentences: list[Sentence]) -> list[np.ndarray]:
    selections = scorer.select(sentences)
    return scorer.label(selections, heads_of(selections))


def heads_of(selections: list[Selection]) -> list[np.ndarray]:
    return [s.head_log_probs.argmax(1).astype(np.int32) for s in selections]


def largest_column_difference(first: Scorer, second: Scorer, sentences: list[Sentence]) -> float:
    """Compare the probabilities of all predicted columns."""
    pairs = zip(first.select(sentences), second.select(sentences), strict=True)
    return max(
        float(np.abs(np.exp(scores) - np.exp(others)).max())
        for one, other in pairs
        for scores, others in zip(one.tag_log_probs, other.tag_log_probs, strict=True)
    )


def largest_difference(first: Scorer, second: Scorer, sentences: list[Sentence]) -> float:
    selections, others = first.select(sentences), second.select(sentences)
    heads = heads_of(selections)
    pairs = [
        (a.head_log_probs[1:], b.head_log_probs[1:])
        for a, b in zip(selections, others, strict=True)
    ]
    pairs += zip(first.label(selections, heads), second.label(others, heads), strict=True)
    return max(float(np.abs(a - b).max()) for a, b in pairs)


def test_onnx_float32_is_torch(bundle: Bundle, ewt_sentences: list[Sentence]) -> None:
    onnx = load_scorer(bundle, "float32")
    assert largest_difference(torch_scorer(bundle), onnx, ewt_sentences) < TORCH_TOLERANCE


def test_tags_are_those_of_torch(bundle: Bundle, ewt_sentences: list[Sentence]) -> None:
    scorers = (torch_scorer(bundle), load_scorer(bundle, "float32"), load_scorer(bundle, "int8"))
    selections = [scorer.select(ewt_sentences) for scorer in scorers]
    for column in range(len(bundle.vocab.outputs)):
        exact, light, coarse = (
            np.concatenate([selection.tags[column] for selection in of_scorer])
            for of_scorer in selections
        )
        assert exact.dtype == light.dtype == np.int32
        np.testing.assert_array_equal(exact, light)
        assert (exact == coarse).mean() >= 0.96


@pytest.mark.parametrize("run", ["columns_run", "encoder_columns"])
def test_all_columns_are_those_of_torch(
    run: str, ewt_sentences: list[Sentence], request: pytest.FixtureRequest
) -> None:
    bundle = load_bundle(request.getfixturevalue(run) / "model")
    assert list(bundle.vocab.outputs) == ["upos", "xpos", "feats", "lemma"]
    exact = torch_scorer(bundle)
    for precision, tolerance in (("float32", 1e-4), ("int8", 0.5)):
        scorer = load_scorer(bundle, precision)  # type: ignore[arg-type]
        assert largest_column_difference(exact, scorer, ewt_sentences) < tolerance
    light = load_scorer(bundle, "float32")
    assert largest_difference(exact, light, ewt_sentences) < TORCH_TOLERANCE


@pytest.fixture(scope="module")
def encoder_columns(
    columns_recipe: Recipe, some_encoder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A transformer beside letters and the lexicon, with weights as they were drawn."""
    folder = tmp_path_factory.mktemp("encoder-columns")
    recipe = msgspec.structs.replace(
        columns_recipe,
        model=msgspec.structs.replace(columns_recipe.model, encoder=str(some_encoder)),
        segment=None,
    )
    state = start(recipe, folder, Compute(torch.device("cpu")))
    description = Description(recipe.model, recipe.decode, {}, {})
    export_model(state.network, state.data.vocab, description, folder / "model", {})
    return folder


@pytest.mark.parametrize(
    "model",
    [
        ModelConfig(representation="pei", word_size=6, tag_size=4, hidden_size=8, label_size=8),
        ModelConfig(stacks="interleaved", word_size=6, tag_size=4, hidden_size=8, label_size=8),
        ModelConfig(tag_column="none", word_size=6, hidden_size=8, label_size=8, layers=1),
    ],
)
def test_every_kind_of_model_exports(
    model: ModelConfig, tiny_run: Path, ewt_sentences: list[Sentence], tmp_path: Path
) -> None:
    vocab = load_bundle(tiny_run / "model").vocab
    network = Network(model, vocab)
    initialise(network, 0.5, seed=1)
    description = Description(model, DecodeConfig(), {}, {})
    export_model(network, vocab, description, tmp_path / "m", {"extra.json": b"{}"})
    exported = load_bundle(tmp_path / "m")
    assert exported.read("extra.json") == b"{}"
    scorer = torch_scorer(exported)
    for precision, tolerance in (("float32", TORCH_TOLERANCE), ("int8", 0.5)):
        onnx = load_scorer(exported, precision)  # type: ignore[arg-type]
        assert largest_difference(scorer, onnx, ewt_sentences) < tolerance


@pytest.mark.parametrize("run", ["marked_run", "columns_run"])
def test_one_sentence_at_a_time_is_the_same(
    run: str, ewt_sentences: list[Sentence], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    bundle = load_bundle(request.getfixturevalue(run) / "model")
    network = load_network(bundle, torch.device("cpu"))
    others = {"vocab.json", "lexicon.json.xz"} & set(bundle.contents)
    graphs = sentence_graphs(network, network) | {name: bundle.read(name) for name in others}
    description = Description(bundle.manifest.model, DecodeConfig(), {}, {})
    write_bundle(tmp_path / "m", description, graphs)
    scorer = load_scorer(load_bundle(tmp_path / "m"), "float32")
    assert isinstance(scorer, SentenceScorer)
    assert largest_difference(torch_scorer(bundle), scorer, ewt_sentences) < TORCH_TOLERANCE


def test_int8_selects_the_same_heads(bundle: Bundle, tiny_treebank: Path) -> None:
    learned = list(read_sentences(tiny_treebank))
    exact = np.concatenate(heads_of(load_scorer(bundle, "float32").select(learned)))
    coarse = np.concatenate(heads_of(load_scorer(bundle, "int8").select(learned)))
    assert (exact == coarse).mean() >= INT8_AGREEMENT


def test_log_probabilities_sum_to_one(bundle: Bundle, ewt_sentences: list[Sentence]) -> None:
    scorer = load_scorer(bundle)
    selections = scorer.select(ewt_sentences)
    for selection, labels in zip(
        selections, scorer.label(selections, heads_of(selections)), strict=True
    ):
        np.testing.assert_allclose(np.exp(selection.head_log_probs).sum(1), 1, rtol=1e-4)
        np.testing.assert_allclose(np.exp(labels).sum(1), 1, rtol=1e-4)


def test_blocks_of_rows_change_nothing(encoder_run: Path, ewt_sentences: list[Sentence]) -> None:
    bundle = load_bundle(encoder_run / "model")
    whole = SentenceScorer(bundle, "float32").select(ewt_sentences)
    blocks = SentenceScorer(bundle, "float32", pair_block_bytes=2_000).select(ewt_sentences)
    for one, other in zip(whole, blocks, strict=True):
        np.testing.assert_allclose(one.head_log_probs, other.head_log_probs, atol=1e-5)


def test_torch_batches_change_nothing(bundle: Bundle, ewt_sentences: list[Sentence]) -> None:
    scorer = torch_scorer(bundle)
    together = scorer.select(ewt_sentences)
    for one, sentence in zip(together, ewt_sentences, strict=True):
        alone = scorer.select([sentence])[0]
        np.testing.assert_allclose(one.head_log_probs, alone.head_log_probs, atol=1e-4)
    assert scorer.label([], []) == []


@pytest.mark.parametrize(
    ("data", "message"), [(b"nonsense", "not an ONNX file"), (b"", "ONNX Runtime refuses it")]
)
def test_a_file_that_is_not_a_graph_is_refused(data: bytes, message: str, model: Path) -> None:
    replace_file(model, "label.int8.onnx", data)
    with pytest.raises(ModelError, match=rf"label.int8.onnx: .*{message}"):
        load_scorer(load_bundle(model))


MISFITS: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "a word too many": ("tiny_run", lambda vocab: vocab["words"].append("one more")),
    "a tag too many": ("tiny_run", lambda vocab: vocab["tags"].append("one more")),
    "a label too many": ("tiny_run", lambda vocab: vocab["labels"].append("one more")),
    "a vector too many": ("full_run", lambda vocab: vocab["vectors"].append("one more")),
    "an n-gram too many": ("full_run", lambda vocab: vocab.update(pieces=vocab["pieces"] + 1)),
    "a mark too many": ("marked_run", lambda vocab: vocab["marks"].append("one more")),
    "a column too few": ("full_run", lambda vocab: vocab["predicted"].pop("upos")),
    "a letter too many": ("columns_run", lambda vocab: vocab["letters"].append("\u2603")),
    "a value too many": ("columns_run", lambda vocab: vocab["features"]["Number"].append("Dual")),
    "a value too few": ("columns_run", lambda vocab: vocab["features"]["Number"].pop()),
    "a feature too few": ("columns_run", lambda vocab: vocab["features"].pop("Number")),
    "a rule too many": ("columns_run", lambda vocab: vocab["rules"].append("!odd")),
    "no lemmas": ("columns_run", lambda vocab: vocab.pop("rules")),
    "a column too many": ("tiny_run", lambda vocab: vocab.update(predicted={"upos": ["X"]})),
}


@pytest.mark.parametrize(("run", "change"), MISFITS.values(), ids=MISFITS)
def test_vocabulary_that_does_not_fit_is_refused(
    run: str,
    change: Callable[[dict[str, Any]], object],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    model = copy_model(request.getfixturevalue(run) / "model", tmp_path / "model")
    vocab = json.loads((model / "vocab.json").read_text())
    change(vocab)
    replace_file(model, "vocab.json", vocab)
    with pytest.raises(ModelError, match="do not fit the vocabulary"):
        load_scorer(load_bundle(model))


def test_a_graph_that_gives_one_number_is_refused(model: Path) -> None:
    """It may take the right inputs, and still give an array of the wrong rank."""
    nodes = [
        helper.make_node("Cast", ["words"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["numbers"], ["x"], keepdims=0),
    ]
    words = helper.make_tensor_value_info("words", TensorProto.INT32, ["n"])
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [])
    graph = helper.make_graph(nodes, "inputs", [words], [x])
    opset = [helper.make_opsetid("", OPSET)]
    made = helper.make_model(graph, opset_imports=opset, ir_version=10)
    replace_file(model, "inputs.int8.onnx", made.SerializeToString())
    with pytest.raises(ModelError, match="do not fit the vocabulary"):
        load_scorer(load_bundle(model))


OUTPUTS = [
    ("columns_run", "inputs", "x"),
    *(("columns_run", "represent", name) for name in ("pairs", "arcs", "hidden")),
    *(("columns_run", "columns", name) for name in ("upos", "feats", "lemma_scores")),
    ("columns_run", "label", "label_log_probs"),
    ("encoder_run", "represent", "states"),
    ("encoder_run", "represent", "heads"),
    ("encoder_run", "label", "label_log_probs"),
]


@pytest.mark.parametrize(("run", "graph", "output"), OUTPUTS, ids=map("-".join, OUTPUTS))
def test_an_output_that_is_cut_off_is_refused(
    run: str,
    graph: str,
    output: str,
    request: pytest.FixtureRequest,
    ewt_sentences: list[Sentence],
    tmp_path: Path,
) -> None:
    """One word, which loading tries, still fits."""
    model = copy_model(request.getfixturevalue(run) / "model", tmp_path / "model")
    change_output(model, f"{graph}.int8.onnx", output, first_two())
    with pytest.raises(ModelError, match=r"wrong shape|do not fit"):
        parses_of(load_scorer(load_bundle(model)), ewt_sentences[:3])


@pytest.mark.parametrize("kind", [TensorProto.STRING, TensorProto.INT64])
def test_an_output_of_another_type_is_refused(kind: int, columns_run: Path, tmp_path: Path) -> None:
    model = copy_model(columns_run / "model", tmp_path / "model")
    cast = helper.make_node("Cast", ["before"], ["after"], to=kind)
    change_output(model, "represent.int8.onnx", "pairs", cast, kind)
    with pytest.raises(ModelError, match=r"an output is not|do not fit the vocabulary"):
        load_scorer(load_bundle(model))


@pytest.mark.parametrize("setting", ["n_ids", "window"])
def test_a_transformer_that_has_no_room_is_refused(
    setting: str, encoder_run: Path, tmp_path: Path
) -> None:
    model = copy_model(encoder_run / "model", tmp_path / "model")
    settings = json.loads((model / "encoder.json").read_text())
    replace_file(model, "encoder.json", settings | {setting: settings[setting] + 2})
    with pytest.raises(ModelError, match="do not fit the vocabulary"):
        load_scorer(load_bundle(model))


def test_a_missing_tokenizers_package_is_reported_when_the_model_is_loaded(
    encoder_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = load_bundle(encoder_run / "model")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ConfigError, match="needs tokenizers"):
        load_scorer(bundle)
    with pytest.raises(ConfigError, match="needs tokenizers"):
        load_network(bundle, torch.device("cpu"))


def test_weights_that_do_not_fit_are_refused(model: Path) -> None:
    config = json.loads((model / "model.json").read_text())["model"]
    change_manifest(model, model=config | {"hidden_size": 31})
    with pytest.raises(ModelError, match="size mismatch"):
        load_network(load_bundle(model), torch.device("cpu"))


RUNS = ("tiny_run", "full_run", "marked_run", "columns_run")


@pytest.fixture(scope="module", params=product(RUNS, ["int8", "float32"]), ids="-".join)
def scorer(request: pytest.FixtureRequest) -> Scorer:
    run, precision = request.param
    loaded = load_scorer(load_bundle(request.getfixturevalue(run) / "model"), precision)
    assert isinstance(loaded, BatchScorer)
    return loaded


def assert_same(one: Selection, other: Selection) -> None:
    assert one.head_log_probs.tobytes() == other.head_log_probs.tobytes()
    assert one.features.tobytes() == other.features.tobytes()
    for column, same_column in zip(one.tags, other.tags, strict=True):
        assert column.tolist() == same_column.tolist()
    for scores, same_scores in zip(one.tag_log_probs, other.tag_log_probs, strict=True):
        assert scores.tobytes() == same_scores.tobytes()


def test_batches_change_nothing(scorer: Scorer, ewt_sentences: list[Sentence]) -> None:
    together = scorer.select(ewt_sentences)
    heads = heads_of(together)
    labels = scorer.label(together, heads)
    for i, (sentence, selection) in enumerate(zip(ewt_sentences, together, strict=True)):
        (alone,) = scorer.select([sentence])
        assert_same(alone, selection)
        (ours,) = scorer.label([alone], [heads[i]])
        assert ours.tobytes() == labels[i].tobytes()
    assert scorer.label([], []) == []


def test_order_and_threads_change_nothing(scorer: Scorer, ewt_sentences: list[Sentence]) -> None:
    once = scorer.select(ewt_sentences)
    back = scorer.select(ewt_sentences[::-1])[::-1]
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(scorer.select, [ewt_sentences[i::4] for i in range(4)]))
    for i, selection in enumerate(once):
        assert_same(back[i], selection)
        assert_same(parts[i % 4][i // 4], selection)


@pytest.mark.parametrize("data", [b"{", b"{}", b'{"v_a": ["x"]}', b"\xff", b'{"v_a": [1.0]}'])
def test_damaged_weights_of_pairs_are_refused(data: bytes, model: Path) -> None:
    replace_file(model, "select.json", data)
    with pytest.raises(ModelError):
        load_scorer(load_bundle(model))
