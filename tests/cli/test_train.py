"""`headwise train`: what it shows, and what it refuses."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from headwise.cli.main import main

RECIPE = Path(__file__).parents[2] / "configs" / "paper-ewt.toml"


def train(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["train", *map(str, arguments)])


def refused(*arguments: object) -> str:
    done = train(*arguments)
    assert done.exit_code == 1, done.stderr
    assert done.stderr.count("headwise: ") == 1
    assert done.stdout == ""
    return done.stderr


def test_a_run_shows_its_epochs_and_where_the_model_is(
    tiny_treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwise.learn.recipe.export_model", lambda *_: None)
    sizes = ("model.hidden_size=8", "model.word_size=8", "model.label_size=8", "label.epochs=1")
    short = ("train.adam_epochs=1", "train.sgd_epochs=0", "train.calibrate=true")
    settings = [part for setting in (*sizes, *short) for part in ("--set", setting)]
    data = ("--train", tiny_treebank, "--dev", tiny_treebank, "--out", tmp_path / "run")
    done = train(RECIPE, *data, *settings, "--device", "cpu")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == ""
    start, size, adam, label, calibration, model = done.stderr.splitlines()
    assert start.startswith("training on cpu, PyTorch")
    assert size.startswith("40 sentences, ")
    assert [line.split()[:2] for line in (adam, label)] == [["adam", "1"], ["label", "1"]]
    assert calibration.startswith("probabilities: scores divided by ")
    assert model == f"model: {tmp_path / 'run' / 'model'}"


def test_a_bad_recipe_or_device_is_a_clear_error(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "missing.toml")
    assert "device tpu" in refused(RECIPE, "--device", "tpu", "--out", tmp_path)
    assert "no train treebank" in refused(RECIPE, "--device", "cpu", "--out", tmp_path / "run")
    bad = tmp_path / "bad.toml"
    bad.write_text("[train]\ndropuot = 0.2\n")
    assert "dropuot" in refused(bad)
    assert "not of the form" in refused(bad, "--set", "dropout=1")
    bad.write_text("[train\n")
    assert "not TOML" in refused(bad)
