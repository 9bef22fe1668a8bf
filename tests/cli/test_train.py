"""`headwise train`: what it shows, what it refuses, and how it resumes."""

import subprocess
import sys
from pathlib import Path

import pytest
from invoked import headwise, refusal

SAMPLE = Path(__file__).parents[1] / "fixtures" / "ewt-dev-100.conllu"
RECIPE = Path(__file__).parents[2] / "configs" / "paper-ewt.toml"


@pytest.fixture
def data(tiny_treebank: Path, tmp_path: Path) -> list[object]:
    return ["--train", tiny_treebank, "--dev", tiny_treebank, "--out", tmp_path / "run"]


def test_a_run_shows_its_epochs_and_where_the_model_is(
    data: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwise.learn.recipe.export_model", lambda *_: None)
    sizes = ("model.hidden_size=8", "model.word_size=8", "model.label_size=8", "label.epochs=1")
    short = ("train.adam_epochs=1", "train.sgd_epochs=0", "train.calibrate=true")
    settings = [part for setting in (*sizes, *short) for part in ("--set", setting)]
    done = headwise("train", RECIPE, *data, *settings, "--device", "cpu")
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    start, size, adam, label, *calibration, model = done.stderr.decode().splitlines()
    assert start.startswith("training on cpu, PyTorch")
    assert size.startswith("40 sentences, ")
    assert [line.split()[:2] for line in (adam, label)] == [["adam", "1"], ["label", "1"]]
    columns = [line.split(":")[0].removeprefix("probabilities of ") for line in calibration]
    assert columns == ["heads", "labels"]
    assert model == f"model: {tmp_path / 'run' / 'model'}"


def test_a_killed_run_resumes(data: list[object], tmp_path: Path) -> None:
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(
        "[model]\nword_size = 8\ntag_size = 4\nhidden_size = 8\nlabel_size = 8\n"
        "[train]\nadam_epochs = 3\nsgd_epochs = 1\npatience = 9\n[label]\nepochs = 2\n"
    )
    arguments = map(str, ["train", recipe, *data, "--seed", 5, "--device", "cpu"])
    command = [sys.executable, "-m", "headwise", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        for line in process.stderr:
            if line.startswith("adam   2"):
                process.kill()
    assert not (tmp_path / "run" / "model").exists()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "adam   1" not in done.stderr
    assert "label  2" in done.stderr
    assert (tmp_path / "run" / "model").exists()
    log = (tmp_path / "run" / "log.txt").read_text()
    assert [line.split()[0] for line in log.splitlines()] == ["adam"] * 3 + ["sgd"] + ["label"] * 2


def test_a_bad_recipe_or_device_is_a_clear_error(tmp_path: Path) -> None:
    out = ("--out", tmp_path / "run")
    assert "No such file" in refusal("train", tmp_path / "missing.toml")
    assert "device tpu" in refusal("train", RECIPE, "--device", "tpu", *out)
    assert "no train treebank" in refusal("train", RECIPE, "--device", "cpu", *out)
    unknown = refusal("train", RECIPE, "--set", "model.foo=3", *out)
    assert f"{RECIPE} --set model.foo=3: Object contains unknown field `foo`" in unknown
    bad = tmp_path / "bad.toml"
    bad.write_text("[train]\ndropuot = 0.2\n")
    assert "dropuot" in refusal("train", bad)
    assert "not of the form" in refusal("train", bad, "--set", "dropout=1")
    bad.write_text("[train\n")
    assert "not TOML" in refusal("train", bad)


def test_a_run_that_cannot_start_changes_nothing(data: list[object], tmp_path: Path) -> None:
    (tmp_path / "run").write_text("mine")
    message = refusal("train", RECIPE, *data, "--device", "cpu")
    assert message.endswith("run: File exists\nhint: can a folder be created there?\n")
    paths = ("--train", tmp_path / "none.conllu", "--dev", SAMPLE)
    for folder in (tmp_path / "one", tmp_path):
        refusal("train", RECIPE, *paths, "--out", folder)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
