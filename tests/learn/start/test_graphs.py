"""Weights read back from graphs are those that were exported, rounded as in int8."""

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
import torch
from made_runs import changed

import headwise
from headwise.errors import ModelError
from headwise.learn.data.treebanks import load_data
from headwise.learn.export.batches import batch_graphs
from headwise.learn.export.model import with_int8_inputs
from headwise.learn.scorer import TorchScorer, load_network
from headwise.learn.start.graphs import load_trained, read_weights
from headwise.model.bundle import Bundle, load_bundle, slim
from headwise.model.find import find_model
from headwise.network.network import Network, build_network
from headwise.runtime.scorer import load_scorer
from headwise.settings.recipe import Recipe

CPU = torch.device("cpu")
SENTENCES = Path(__file__).parents[2] / "fixtures" / "ewt-dev-100.conllu"


def require_close(network: Network, weights: dict[str, torch.Tensor]) -> None:
    """Each tensor is rounded to steps of a 64th of its largest value, or less."""
    assert set(weights) == {name for name, _ in network.named_parameters()}
    for name, weight in network.named_parameters():
        step = float(weight.detach().abs().max()) / 60
        assert torch.allclose(weight, weights[name], atol=step), name


def slimmed(run: Path, tmp_path: Path) -> Bundle:
    slim(run / "model", tmp_path / "slim", "int8")
    return load_bundle(tmp_path / "slim")


@pytest.mark.parametrize("name", ["columns_run", "marked_run", "full_run"])
def test_all_weights_come_back(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    run = request.getfixturevalue(name)
    bundle = slimmed(run, tmp_path)
    assert bundle.can_learn
    network = load_trained(bundle)
    whole = load_network(load_bundle(run / "model"), CPU)
    require_close(whole, dict(network.named_parameters()))


@pytest.mark.parametrize("stacks", ["independent", "interleaved"])
def test_two_layers_come_back(stacks: str, columns_recipe: Recipe, columns_run: Path) -> None:
    recipe = changed(columns_recipe, model={"stacks": stacks, "layers": 2, "hidden_size": 7})
    vocab = load_data(recipe.data, recipe.model, recipe.train).vocab
    network = build_network(recipe.model, vocab, recipe.train, recipe.label, CPU).eval()
    bundle = load_bundle(columns_run / "model")
    manifest = msgspec.structs.replace(bundle.manifest, model=recipe.model)
    contents = batch_graphs(network, with_int8_inputs(network).inputs)
    read = read_weights(
        Bundle(bundle.path, manifest, contents, vocab), Network(recipe.model, vocab)
    )
    require_close(network, read)


def test_the_model_inside_parses_the_same_with_the_weights_of_its_graphs() -> None:
    bundle = load_bundle(find_model("en"))
    sentences = list(headwise.read_sentences(SENTENCES))[:30]
    selections = [
        scorer.select(sentences)
        for scorer in (TorchScorer(load_trained(bundle), bundle.vocab, CPU), load_scorer(bundle))
    ]
    heads, upos, xpos = (
        [np.concatenate([choose(one)[1:] for one in each]) for each in selections]
        for choose in (
            lambda one: one.head_log_probs.argmax(axis=1),
            lambda one: one.tags[0],  # its graphs have no hidden layers for tags
            lambda one: one.tags[1],
        )
    )
    for ours, graphs in (heads, upos, xpos):
        assert (ours == graphs).mean() > 0.98


def test_graphs_that_lack_a_part_are_refused(columns_run: Path, tmp_path: Path) -> None:
    bundle = slimmed(columns_run, tmp_path)
    model = onnx.load_from_string(bundle.read("represent.int8.onnx"))
    for constant in model.graph.initializer:
        if constant.name == "pairs.bias":
            constant.name = "unknown"
    graphs = {**bundle.contents, "represent.int8.onnx": model.SerializeToString()}
    with pytest.raises(ModelError, match=r"cannot start from these graphs.*\nhint: start from"):
        load_trained(replace(bundle, contents=graphs))


def test_graphs_of_other_sizes_are_refused(columns_run: Path, tmp_path: Path) -> None:
    bundle = slimmed(columns_run, tmp_path)
    settings = msgspec.structs.replace(bundle.manifest.model, label_size=9)
    other = replace(bundle, manifest=msgspec.structs.replace(bundle.manifest, model=settings))
    with pytest.raises(ModelError, match=r"label.first.weight has the shape \[32, "):
        load_trained(other)
