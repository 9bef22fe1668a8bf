"""`train.calibrate` makes probabilities fit dev, in what is exported too, and leaves the trees."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

import headwise
from headwise.errors import ConfigError
from headwise.evaluate.confidence import HeadScores
from headwise.learn.fit.calibrate import CalibrationReport
from headwise.learn.fit.loop import Device
from headwise.learn.recipe import Report, run
from headwise.model.bundle import load_bundle
from headwise.network.pei import PeiSelector
from headwise.network.select import AdditiveSelector
from headwise.settings.decoding import DecodeConfig
from headwise.settings.model import ModelConfig
from headwise.settings.recipe import Recipe
from headwise.settings.training import LabelConfig
from headwise.vocabulary.encode import heads_array


def reports_of(recipe: Recipe, folder: Path, calibrate: bool, average: float) -> Iterator[Report]:
    train = msgspec.structs.replace(
        recipe.train,
        adam_epochs=6,
        sgd_epochs=0,
        calibrate=calibrate,
        dropout=0.0,
        average=average,
    )
    recipe = msgspec.structs.replace(recipe, train=train, label=LabelConfig(joint=True, epochs=0))
    return run(recipe, folder, Device(torch.device("cpu")), {})


def trained(
    recipe: Recipe, folder: Path, calibrate: bool, average: float = 0.0
) -> list[CalibrationReport]:
    reports = reports_of(recipe, folder, calibrate, average)
    return [report for report in reports if isinstance(report, CalibrationReport)]


@pytest.mark.parametrize(("representation", "average"), [("bilstm", 0.9), ("pei", 0.0)])
def test_scores_are_divided_by_what_dev_asks_for(
    representation: str, average: float, tiny_recipe: Recipe, tmp_path: Path
) -> None:
    model = ModelConfig(
        representation=representation,  # type: ignore[arg-type]
        word_size=16,
        tag_size=8,
        hidden_size=16,
        label_size=16,
        min_count=1,
    )
    recipe = msgspec.structs.replace(tiny_recipe, model=model)
    assert trained(recipe, tmp_path / "plain", False, average) == []
    (report,) = trained(recipe, tmp_path / "other", True, average)
    plain, other = (
        headwise.load(tmp_path / name / "model", precision="float32") for name in ("plain", "other")
    )
    gold = list(headwise.read_sentences(str(tiny_recipe.data.dev)))
    told = [parser.parse_with_distributions(gold) for parser in (plain, other)]
    for (before, _), (after, _) in zip(*told, strict=True):
        assert before.heads == after.heads
        assert before.labels == after.labels
    heads = [heads_array(sentence) for sentence in gold]
    scores = [HeadScores([matrix for _, matrix in one], heads) for one in told]
    assert report.temperature == pytest.approx(scores[0].temperature(), rel=1e-3)
    assert scores[1].temperature() == pytest.approx(1, rel=1e-3)
    assert report.error == pytest.approx(scores[1].error(), abs=0.05)
    kept = load_bundle(tmp_path / "other/model").manifest.scores
    assert kept["temperature"] == report.temperature
    assert kept["dev_calibration_error"] == report.error


def test_a_run_that_is_killed_there_calibrates_once(tiny_recipe: Recipe, tmp_path: Path) -> None:
    model = ModelConfig(word_size=16, tag_size=8, hidden_size=16, label_size=16, min_count=1)
    recipe = msgspec.structs.replace(tiny_recipe, model=model)
    for report in reports_of(recipe, tmp_path, True, 0.9):
        if isinstance(report, CalibrationReport):
            break
    (again,) = trained(recipe, tmp_path, True, 0.9)
    assert again == report
    assert load_bundle(tmp_path / "model").manifest.scores["temperature"] == again.temperature


def test_sums_of_probabilities_are_not_calibrated(tiny_recipe: Recipe, tmp_path: Path) -> None:
    decode = DecodeConfig(weights="probability")
    recipe = msgspec.structs.replace(tiny_recipe, decode=decode)
    with pytest.raises(ConfigError, match="would change trees"):
        trained(recipe, tmp_path / "run", True)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("selector", [AdditiveSelector(6, 4), PeiSelector(6, 4)])
def test_a_selector_divides_all_its_scores(selector: AdditiveSelector | PeiSelector) -> None:
    torch.manual_seed(3)
    for own in selector.parameters():
        torch.nn.init.normal_(own)
    heads, dependents = selector.project(torch.randn(2, 5, 6))
    before = selector(dependents, heads, torch.arange(5))
    selector.divide_scores(2.5)
    after = selector(dependents, heads, torch.arange(5))
    np.testing.assert_allclose(after.detach(), before.detach() / 2.5, rtol=1e-5, atol=1e-6)
