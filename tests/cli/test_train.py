"""`headwise train`: what it shows, what it refuses, and how it resumes."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from invoked import headwise, refusal
from made_models import copy_model

from headwise.errors import ModelError
from headwise.learn.fit.reports import EpochReport, Report
from headwise.model.find import CHECKPOINT, find_model, run_to_export

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
    start, size, *lines, model = done.stderr.decode().splitlines()
    assert start.startswith("training on cpu, PyTorch")
    assert size.startswith("40 sentences, ")
    assert [line for line in lines if line[1:3] == "/4"] == [
        "1/4 heads and labels", "2/4 labels", "3/4 probabilities", "4/4 graphs of the model",
    ]  # fmt: skip
    assert [lines[i].split()[:2] for i in (1, 3)] == [["adam", "1"], ["label", "1"]]
    columns = [line.split(":")[0].removeprefix("probabilities of ") for line in lines[5:7]]
    assert columns == ["heads", "labels"]
    assert model == f"model: {tmp_path / 'run' / 'model'}"


def test_the_list_says_for_whom_each_recipe_is() -> None:
    done = headwise("train", "--list")
    assert done.returncode == 0
    names = re.findall(
        r"^(\w+) +for .+\n +needs .+\n +takes .+", done.stdout.decode(), re.MULTILINE
    )
    assert names == ["small", "columns", "best", "accurate", "adapt", "paper"]


def test_without_dev_a_part_is_held_out_and_the_run_says_so(
    tiny_treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwise.learn.recipe.export_model", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    recipe = tiny(tmp_path, epochs=1)
    done = headwise("train", recipe, "--train", tiny_treebank, "--device", "cpu", "--seed", 3)
    assert done.returncode == 0, done.stderr
    assert (
        "36 sentences, 527 words to learn from; 4 sentences of dev, the last 10 of every 100 "
        "sentences of train, as there is no --dev\n" in done.stderr.decode()
    )
    assert (tmp_path / "runs" / "tiny-3" / "log.txt").exists()


def tiny(folder: Path, epochs: int) -> Path:
    """Write a recipe of a small network."""
    recipe = folder / "tiny.toml"
    recipe.write_text(
        "[model]\nword_size = 8\ntag_size = 4\nhidden_size = 8\nlabel_size = 8\n"
        f"[train]\nadam_epochs = {epochs}\nsgd_epochs = 1\npatience = 9\n[label]\nepochs = 2\n"
    )
    return recipe


@pytest.mark.slow
def test_a_run_that_is_interrupted_has_a_model_of_its_best_epoch(
    data: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(reports: Iterator[Report]) -> None:
        epochs = (report for report in reports if isinstance(report, EpochReport))
        assert len(list(islice(epochs, 2))) == 2
        raise KeyboardInterrupt

    monkeypatch.setattr("headwise.cli.train.show_reports", interrupt)
    run = tmp_path / "run"
    train = ("train", tiny(tmp_path, epochs=3), *data, "--device", "cpu")
    best = r"epoch [12] of adam: dev UAS \d+\.\d\d"
    message = headwise(*train).stderr.decode()
    assert "interrupted; run the same command again to resume from the last epoch\n" in message
    assert re.search(rf"model: .*run/model, {best}\n", message)
    command = ("parse", SAMPLE, "--model", run, "-o", tmp_path / "parsed.conllu")
    message = headwise(*command).stderr.decode()
    assert re.search(rf"run: the training has not finished; this is {best}\n", message)
    assert "writing" not in message
    assert re.search(rf"unfinished +{best}\n", headwise("info", run).stdout.decode())


def test_a_run_that_is_interrupted_at_once_says_one_thing(
    data: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: Iterator[Report]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("headwise.cli.train.show_reports", interrupt)
    message = headwise("train", tiny(tmp_path, epochs=3), *data, "--device", "cpu").stderr.decode()
    assert "interrupted before an epoch was saved: the same command starts over\n" in message
    assert "writing" not in message
    assert "resume" not in message


def test_a_run_is_exported_if_it_has_no_model_or_an_older_one(
    tmp_path: Path, tiny_run: Path
) -> None:
    assert run_to_export("en") is None
    assert run_to_export(str(tiny_run)) is None
    run = tmp_path / "run"
    copy_model(tiny_run / "model", run / "model")
    assert run_to_export(str(run)) is None
    (run / CHECKPOINT).write_bytes(b"")
    os.utime(run / CHECKPOINT, (0, 0))
    manifest = run / "model" / "model.json"
    unfinished = json.loads(manifest.read_text())
    unfinished["provenance"]["unfinished"] = "epoch 2 of adam"
    manifest.write_text(json.dumps(unfinished))
    assert run_to_export(str(run)) is None
    os.utime(run / CHECKPOINT, (2e9, 2e9))  # training went on, and was killed
    assert run_to_export(str(run)) == run_to_export(str(run / "model")) == run
    shutil.rmtree(run / "model")
    assert run_to_export(str(run)) == run
    with pytest.raises(ModelError, match=r"was interrupted.*\nhint: headwise info .*run"):
        find_model(str(run))


def test_a_run_without_an_epoch_has_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / CHECKPOINT).write_bytes(b"")
    assert "not a checkpoint" in refusal("parse", "Kids.", "--model", run)
    monkeypatch.setattr("headwise.learn.export.best_epoch.load_checkpoint", lambda _: None)
    message = refusal("parse", "Kids.", "--model", run)
    assert "interrupted before its first epoch was saved\nhint: run the same" in message


def test_a_killed_run_resumes(data: list[object], tmp_path: Path) -> None:
    recipe = tiny(tmp_path, epochs=3)
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
    assert "no recipe is given\nhint: for a laptop: small" in refusal("train")
    assert "hint: did you mean small?" in refusal("train", "smal")
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
