"""A run with a transformer: it learns, at a rate of its own, and resumes without its folder."""

import shutil
from itertools import islice
from pathlib import Path

import pytest
import torch
from made_runs import CPU, changed, same_weights, trained

from headwise.errors import ConfigError
from headwise.learn.compute import Compute
from headwise.learn.fit.phases import plan_adam, plan_sgd
from headwise.learn.recipe import start, train_network, train_parser
from headwise.settings.recipe import Recipe


def short(recipe: Recipe, encoder: Path, **model: object) -> Recipe:
    train = {"adam_epochs": 2, "batch_size": 8}
    return changed(recipe, train=train, model={"encoder": str(encoder), **model})


def test_interrupted_run_goes_on_without_the_folder(
    encoder_recipe: Recipe, some_encoder: Path, tmp_path: Path
) -> None:
    recipe = short(encoder_recipe, Path(shutil.copytree(some_encoder, tmp_path / "bert")))
    whole = trained(recipe, tmp_path / "whole")
    (tmp_path / "broken").mkdir()
    list(islice(train_network(start(recipe, tmp_path / "broken", CPU)), 3))
    shutil.rmtree(tmp_path / "bert")
    resumed = trained(recipe, tmp_path / "broken")
    assert same_weights(whole, resumed)
    with pytest.raises(ConfigError, match="No such file"):
        next(train_parser(recipe, tmp_path / "new", CPU, {}))


def test_a_run_starts_with_the_weights_of_the_folder_and_changes_them(
    encoder_recipe: Recipe, some_encoder: Path, tmp_path: Path
) -> None:
    from transformers import AutoModel

    original = AutoModel.from_pretrained(some_encoder).state_dict()
    state = start(short(encoder_recipe, some_encoder), tmp_path, CPU)
    for network in (state.network, state.kept):
        assert network.encoder is not None
        weights = network.encoder.model.state_dict()
        assert all(torch.equal(tensor, original[name]) for name, tensor in weights.items())
    list(train_network(state))
    assert state.kept.encoder is not None
    averaged = state.kept.encoder.model.state_dict()
    same = [name for name, tensor in averaged.items() if torch.equal(tensor, original[name])]
    assert not same


def test_the_encoder_has_a_rate_of_its_own(
    encoder_recipe: Recipe, some_encoder: Path, tmp_path: Path
) -> None:
    state = start(short(encoder_recipe, some_encoder), tmp_path, CPU)
    assert state.network.encoder is not None
    own = {id(weight) for weight in state.network.encoder.parameters()}
    for plan in (plan_adam(state), plan_sgd(state)):
        next(plan.train_epoch(1))
        others, slow = plan.optimiser.param_groups
        assert {id(weight) for weight in slow["params"]} == own
        assert own.isdisjoint({id(weight) for weight in others["params"]})
        assert slow["lr"] == pytest.approx(others["lr"] * 0.003 / 0.03)
        assert len(slow["params"]) + len(others["params"]) == len(
            state.network.parameters_of("all")
        )


def test_lower_layers_can_learn_more_slowly(
    encoder_recipe: Recipe, some_encoder: Path, tmp_path: Path
) -> None:
    recipe = changed(short(encoder_recipe, some_encoder), train={"layer_decay": 0.5})
    state = start(recipe, tmp_path, CPU)
    assert state.network.encoder is not None
    names = {weight: name for name, weight in state.network.encoder.named_parameters()}
    plan = plan_adam(state)
    next(plan.train_epoch(1))
    others, *slow = plan.optimiser.param_groups
    scales = {}
    for group in slow:
        for weight in group["params"]:
            part = ".".join(names[weight].split(".")[1:4])
            scales[part] = group["lr"] / others["lr"]
    assert scales.pop("encoder.layer.1") == pytest.approx(0.1)
    assert scales.pop("encoder.layer.0") == pytest.approx(0.05)
    assert scales
    assert all(part.startswith("embeddings.") for part in scales)
    assert list(scales.values()) == pytest.approx([0.025] * len(scales))


def test_a_transformer_alone_learns_too(
    encoder_recipe: Recipe, some_encoder: Path, tmp_path: Path
) -> None:
    recipe = short(encoder_recipe, some_encoder, layers=0, pieces=0, tag_column="upos")
    state = trained(recipe, tmp_path, Compute(CPU.device, "bfloat16"))
    assert state.network.represent.size == state.network.inputs.size == 16 + 30 + 16
    first, second = state.progress.history
    assert second.loss < first.loss
