"""Shipped models can be calibrated in place, and their probabilities can be tabulated."""

from pathlib import Path

import pytest

import headwise
from bench.calibrate import calibrate
from bench.confidence import main as print_tables
from headwise.errors import ModelError
from headwise.model.bundle import Bundle, find_model, load_bundle, slim


def slimmed(run: Path, folder: Path) -> Bundle:
    slim(find_model(str(run)), folder, "int8")
    return load_bundle(folder)


def test_the_table_compares_probabilities_with_accuracy(
    full_run: Path, tiny_treebank: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    print_tables([f"{full_run}={tiny_treebank}"])
    title, _, header, _, *rows = capsys.readouterr().out.strip().splitlines()
    assert "calibration error" in title
    assert header.count("|") == 5
    shares = [float(row.split("|")[2].strip(" %")) for row in rows]
    assert sum(shares) == pytest.approx(100, abs=0.3)


@pytest.mark.parametrize("kind", ["full_run", "encoder_run"])
def test_a_model_is_calibrated_in_its_folder(
    kind: str, tiny_treebank: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    model = slimmed(request.getfixturevalue(kind), tmp_path / "model")
    (model.path / "README.md").write_text("card")
    gold = list(headwise.read_sentences(tiny_treebank))
    trees = [parse.heads for parse in headwise.load(model).parse(gold)]
    temperature, before, after = calibrate(model, tiny_treebank)
    made = load_bundle(model.path)
    assert made.manifest.scores["temperature"] == temperature
    assert after <= before + 0.5
    assert [parse.heads for parse in headwise.load(made).parse(gold)] == trees
    assert (model.path / "README.md").read_text() == "card"
    again, _, _ = calibrate(made, tiny_treebank)
    assert again == pytest.approx(1, abs=0.01)
    total = load_bundle(model.path).manifest.scores["temperature"]
    assert total == pytest.approx(temperature * again)


def test_a_model_with_weights_is_refused(full_run: Path, tiny_treebank: Path) -> None:
    with pytest.raises(ModelError, match="has weights"):
        calibrate(load_bundle(find_model(str(full_run))), tiny_treebank)
