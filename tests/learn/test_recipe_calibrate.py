"""`train.calibrate` makes probabilities fit dev and leaves the trees."""

from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest
from made_runs import CPU, changed

from headwise.errors import ConfigError
from headwise.evaluate.confidence import HeadScores
from headwise.learn.fit.dev_scores import best_heads
from headwise.learn.fit.reports import CalibrationReport
from headwise.learn.recipe import train_parser
from headwise.learn.scorer import TorchScorer
from headwise.model.bundle import Description
from headwise.network.network import Network
from headwise.settings.recipe import Recipe
from headwise.treebank.conllu import read_sentences
from headwise.vocabulary.encode import heads_array
from headwise.vocabulary.vocab import Vocab


def test_scores_are_divided_once_by_what_fits_dev(
    tiny_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is killed right after it has calibrated does so once more, with the same result.

    What it exports is calibrated once, and its trees are those of a run without calibration.
    """
    exported: list[tuple[Network, Vocab, Description]] = []
    monkeypatch.setattr(
        "headwise.learn.recipe.export_model", lambda *given: exported.append(given[:3])
    )
    train = {"adam_epochs": 3, "sgd_epochs": 0, "dropout": 0.0, "average": 0.9}
    label = {"joint": True, "epochs": 0}
    plain = changed(tiny_recipe, train=train, label=label)
    calibrated = changed(plain, train={"calibrate": True})
    list(train_parser(plain, tmp_path / "plain", CPU, {}))
    killed = train_parser(calibrated, tmp_path / "other", CPU, {})
    before = list(takewhile(lambda report: not isinstance(report, CalibrationReport), killed))
    assert before
    del killed
    reports = {
        report.column: report
        for report in train_parser(calibrated, tmp_path / "other", CPU, {})
        if isinstance(report, CalibrationReport)
    }
    report = reports["heads"]
    assert all(one.error <= one.error_before + 1 for one in reports.values())

    gold = list(read_sentences(str(tiny_recipe.data.dev)))
    heads = [heads_array(sentence) for sentence in gold]
    selections = [TorchScorer(net, vocab, CPU.device).select(gold) for net, vocab, _ in exported]
    trees = [best_heads(of_run, tiny_recipe.decode) for of_run in selections]
    assert all(np.array_equal(one, other) for one, other in zip(*trees, strict=True))
    scores = [HeadScores([one.head_log_probs for one in of_run], heads) for of_run in selections]
    assert report.temperature == pytest.approx(scores[0].temperature(), rel=1e-3)
    assert scores[1].temperature() == pytest.approx(1, rel=1e-3)
    assert report.error_before == pytest.approx(scores[0].error(), abs=0.05)
    assert report.error == pytest.approx(scores[1].error(), abs=0.05)
    manifest_scores = exported[1][2].scores
    assert manifest_scores["temperature"] == report.temperature
    assert manifest_scores["dev_calibration_error"] == report.error
    assert "temperature" not in exported[0][2].scores


def test_sums_of_probabilities_are_not_calibrated(tiny_recipe: Recipe, tmp_path: Path) -> None:
    recipe = changed(tiny_recipe, decode={"weights": "probability"}, train={"calibrate": True})
    with pytest.raises(ConfigError, match="would change trees"):
        next(train_parser(recipe, tmp_path / "run", CPU, {}))
    assert not (tmp_path / "run").exists()
