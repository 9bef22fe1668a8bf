"""Shipped models can be calibrated in place, and their probabilities can be tabulated."""

from pathlib import Path

import numpy as np
import pytest

import headwise
from bench.calibrate import calibrate
from bench.confidence import main as print_tables
from headwise.errors import ModelError
from headwise.evaluate.confidence import calibration_error
from headwise.model.bundle import Bundle, load_bundle, slim
from headwise.model.find import find_model


def slimmed(run: Path, folder: Path) -> Bundle:
    slim(find_model(str(run)), folder, "int8")
    return load_bundle(folder)


def test_the_tables_compare_probabilities_with_accuracy(
    full_run: Path, tiny_treebank: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = f"{full_run}={tiny_treebank}"
    assert print_tables([pair]) == 0
    _, table, *ranges = capsys.readouterr().out.strip().split("\n\n")
    assert "calibration error" in table
    rows = [row.split("|")[1:-1] for row in table.splitlines()[2:]]
    columns = [row[0].strip() for row in rows]
    assert columns[:3] == ["heads", "labels", "arcs"]
    gold = [sentence for sentence in headwise.read_sentences(tiny_treebank) if len(sentence)]
    parses = headwise.load(full_run).parse(gold)
    probabilities = [p for parse in parses for p in parse.probabilities]
    right = [
        head == given
        for one, parse in zip(gold, parses, strict=True)
        for head, given in zip(parse.heads, one.heads, strict=True)
    ]
    error = calibration_error(np.array(probabilities), np.array(right))
    assert float(rows[0][4]) == pytest.approx(error, abs=0.05)
    assert len(ranges) == len(columns)
    for column, part in zip(columns, ranges, strict=True):
        header, _, *lines = part.splitlines()
        assert header.startswith(f"| {column} |")
        shares = [float(line.split("|")[2].strip(" %")) for line in lines]
        assert sum(shares) == pytest.approx(100, abs=0.3)
    assert print_tables([pair, "--limit", "0"]) == 1
    assert "over 0 points" in capsys.readouterr().err


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
