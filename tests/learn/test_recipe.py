import json
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from made_runs import CPU, changed, history, same_weights, trained

import headwise
from headwise.errors import ConfigError, HeadwiseError, ModelError
from headwise.evaluate.scores import score
from headwise.learn.compute import Compute
from headwise.learn.data.treebanks import load_data
from headwise.learn.fit.checkpoint import CheckpointWriter, load_checkpoint
from headwise.learn.fit.phases import Run
from headwise.learn.fit.reports import EpochReport, StepReport
from headwise.learn.recipe import start, train_network, train_parser
from headwise.model.find import CHECKPOINT
from headwise.settings.recipe import Recipe


def short(recipe: Recipe, **changes: object) -> Recipe:
    train = {"adam_epochs": 2, "sgd_epochs": 1, "batch_size": 8} | changes
    return changed(recipe, train=train, label={"epochs": 2})


@pytest.fixture(scope="module")
def whole(tiny_recipe: Recipe, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A short run that nothing interrupted."""
    return trained(short(tiny_recipe), tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize(
    ("run", "uas", "las"), [("tiny_run", 95, 90), ("full_run", 85, 75), ("encoder_run", 85, 75)]
)
def test_training_overfits_a_few_sentences(
    run: str, uas: float, las: float, tiny_treebank: Path, request: pytest.FixtureRequest
) -> None:
    gold = list(headwise.read_sentences(tiny_treebank))
    parsed = [s for s, _ in headwise.load(request.getfixturevalue(run)).annotate(gold)]
    scores = score(gold, parsed)
    assert scores.uas > uas
    assert scores.las > las
    assert scores.tree_rate == 100


def test_run_leaves_a_readable_record(tiny_run: Path, tiny_recipe: Recipe) -> None:
    metrics = json.loads((tiny_run / "metrics.json").read_text())
    epochs = {"adam": tiny_recipe.train.adam_epochs, "sgd": 2, "label": tiny_recipe.label.epochs}
    assert [m["phase"] for m in metrics] == [name for name, n in epochs.items() for _ in range(n)]
    assert metrics[epochs["adam"] - 1]["loss"] < metrics[0]["loss"] / 5
    assert metrics[-1]["dev_las"] is not None
    log = (tiny_run / "log.txt").read_text().splitlines()
    assert len(log) == len(metrics)
    assert "dev UAS" in log[0]
    assert "LAS" in log[-1]
    recipe = msgspec.json.decode((tiny_run / "recipe.json").read_bytes(), type=Recipe)
    assert recipe == tiny_recipe


def test_same_seed_same_model_and_another_seed_another(
    tiny_recipe: Recipe, tmp_path: Path, whole: Run
) -> None:
    again = start(short(tiny_recipe), tmp_path, CPU)
    reports = list(train_network(again))
    assert same_weights(whole, again)
    (tmp_path / "other").mkdir()
    assert not same_weights(whole, trained(short(tiny_recipe, seed=7), tmp_path / "other"))
    epochs = [r for r in reports if isinstance(r, EpochReport)]
    assert [(r.phase, r.epoch) for r in epochs] == [
        ("adam", 1), ("adam", 2), ("sgd", 1), ("label", 1), ("label", 2),
    ]  # fmt: skip
    steps = [r for r in reports if isinstance(r, StepReport)]
    assert all(0 < step.n_done <= step.n_batches and step.epoch <= step.n_epochs for step in steps)


@pytest.mark.parametrize("n_reports", [1, 6, 9])
def test_interrupted_run_resumes_to_the_same_model(
    n_reports: int, tiny_recipe: Recipe, tmp_path: Path, whole: Run
) -> None:
    interrupted = train_network(start(short(tiny_recipe), tmp_path, CPU))
    assert len(list(islice(interrupted, n_reports))) == n_reports
    del interrupted
    resumed = trained(short(tiny_recipe), tmp_path)
    assert same_weights(whole, resumed)
    assert history(whole) == history(resumed)


def test_run_whose_last_epochs_were_not_saved_resumes_to_the_same_model(
    tiny_recipe: Recipe, tmp_path: Path, whole: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    due = iter([True, False, False])
    monkeypatch.setattr(CheckpointWriter, "is_due", lambda _: next(due))
    interrupted = train_network(start(short(tiny_recipe), tmp_path, CPU))
    epochs = (report for report in interrupted if isinstance(report, EpochReport))
    assert len(list(islice(epochs, 3))) == 3
    interrupted.close()
    monkeypatch.undo()
    checkpoint = load_checkpoint(tmp_path)
    assert checkpoint is not None
    assert checkpoint.progress.epoch == 1
    assert (tmp_path / "log.txt").read_text().count("\n") == 3
    assert same_weights(whole, trained(short(tiny_recipe), tmp_path))


def test_finished_run_does_nothing(tiny_run: Path, tiny_recipe: Recipe) -> None:
    before = (tiny_run / "model" / "model.json").stat().st_mtime_ns
    assert list(train_parser(tiny_recipe, tiny_run, CPU, {})) == []
    assert (tiny_run / "model" / "model.json").stat().st_mtime_ns == before


def test_run_of_another_recipe_or_treebank_is_refused(tiny_recipe: Recipe, tmp_path: Path) -> None:
    treebank = tmp_path / "train.conllu"
    blocks = Path(str(tiny_recipe.data.train)).read_text(encoding="utf-8").split("\n\n")
    treebank.write_text("\n\n".join(blocks), encoding="utf-8")
    recipe = changed(short(tiny_recipe), data={"train": str(treebank)})
    list(islice(train_parser(recipe, tmp_path / "run", CPU, {}), 4))
    with pytest.raises(ConfigError, match="another recipe"):
        next(train_parser(changed(recipe, train={"seed": 9}), tmp_path / "run", CPU, {}))
    treebank.write_text("\n\n".join([*blocks[1:-1], blocks[0], ""]), encoding="utf-8")
    with pytest.raises(ConfigError, match="another treebank or teacher"):
        next(train_parser(recipe, tmp_path / "run", CPU, {}))


def test_damaged_checkpoint_is_refused(tiny_recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / CHECKPOINT).write_bytes(b"not a checkpoint")
    with pytest.raises(ModelError, match="not a checkpoint"):
        next(train_parser(short(tiny_recipe), tmp_path, CPU, {}))


def test_patience_ends_a_phase(tiny_recipe: Recipe, tmp_path: Path) -> None:
    # A rate so small that dev UAS cannot rise twice in a row for long.
    state = trained(short(tiny_recipe, patience=1, adam_rate=1e-9, adam_epochs=5), tmp_path)
    adam = [report for report in history(state) if report.phase == "adam"]
    assert [report.epoch for report in adam] == [1, 2]
    assert not adam[1].is_best


@pytest.mark.parametrize(
    ("model", "dtype"),
    [
        ({"representation": "pei", "tag_column": "upos"}, "bfloat16"),
        ({"stacks": "interleaved"}, "bfloat16"),
        (
            {"tag_column": "upos+xpos", "pieces": 99, "piece_size": 8, "predicted_tags": ["xpos"]},
            "float32",
        ),
    ],
)
def test_every_kind_of_model_learns(
    model: dict[str, Any], dtype: Any, tiny_recipe: Recipe, tmp_path: Path
) -> None:
    recipe = changed(
        tiny_recipe,
        train={"adam_epochs": 4, "sgd_epochs": 0},
        label={"epochs": 1, "joint": True},
        model={"layers": 1, **model},
    )
    epochs = history(trained(recipe, tmp_path, Compute(CPU.device, dtype)))
    assert epochs[3].loss < epochs[0].loss
    assert epochs[3].dev_uas > epochs[0].dev_uas


WORD = "{}\t{}\t_\tX\tX\t_\t{}\t{}\t_\t_\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WORD.format(1, "Kids", 1, "nsubj") + "\n", "do not form a tree"),
        (
            WORD.format(1, "Kids", 2, "a") + WORD.format(2, "love", 1, "b") + "\n",
            "do not form a tree",
        ),
        (WORD.format(1, "Kids", "_", "nsubj") + "\n", "no word has a HEAD"),
        (WORD.format(1, "Kids", 0, "root").replace("X", "_") + "\n", "XPOS"),
        (WORD.format(1, "Kids", 0, "ro\rot") + "\n", r"bad.conllu:1: .* carriage return"),
        ("", "no sentences"),
        (None, "no train treebank"),
    ],
)
def test_bad_training_data_is_refused(
    text: str | None, message: str, tiny_recipe: Recipe, tmp_path: Path
) -> None:
    path = tmp_path / "bad.conllu"
    path.write_bytes((text or "").encode())
    recipe = changed(tiny_recipe, data={"train": "" if text is None else str(path)})
    with pytest.raises(HeadwiseError, match=message):
        next(train_parser(recipe, tmp_path / "run", CPU, {}))
    assert not (tmp_path / "run").exists()


def test_too_long_sentences_are_left_out_of_training(tiny_recipe: Recipe, tmp_path: Path) -> None:
    train = msgspec.structs.replace(tiny_recipe.train, max_length=10)
    data = load_data(tiny_recipe.data, tiny_recipe.model, train)
    assert data.n_too_long > 0
    assert max(len(sentence) for sentence in data.train.encoded) == 11
    only = tmp_path / "only.conllu"
    longest = max(headwise.read_sentences(str(tiny_recipe.data.train)), key=len)
    only.write_text(longest.conllu, encoding="utf-8")
    alone = msgspec.structs.replace(tiny_recipe.data, train=str(only))
    with pytest.raises(ConfigError, match="at most 10 words"):
        load_data(alone, tiny_recipe.model, train)


def test_pre_trained_vectors_are_frozen_in_training(tiny_recipe: Recipe, tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(f"the {' '.join(['0.5'] * 24)}\n")
    recipe = changed(short(tiny_recipe, sgd_epochs=0), model={"vectors": str(vectors)})
    state = trained(recipe, tmp_path / "run")
    row = state.kept.inputs.word.weight[state.data.vocab.words.id_of("the")]
    assert torch.equal(row, torch.full((24,), 0.5))
