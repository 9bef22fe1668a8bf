"""A run with everything that the paper does not have: it learns, resumes, and is kept whole."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from made_runs import CPU, changed, history, same_weights, trained

import headwise
from headwise.learn.fit.dev_scores import score_dev
from headwise.learn.fit.phases import Run
from headwise.learn.fit.reports import EpochReport, PhaseReport, StartReport
from headwise.learn.recipe import start, train_network, train_parser
from headwise.model.bundle import Description, load_bundle
from headwise.settings.recipe import Recipe


def short(recipe: Recipe, **label: object) -> Recipe:
    return changed(
        recipe, train={"adam_epochs": 2, "sgd_epochs": 1, "batch_size": 8}, label=dict(label)
    )


@pytest.fixture(scope="module")
def whole(full_recipe: Recipe, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(short(full_recipe), tmp_path_factory.mktemp("whole"))


def test_training_learns_tags(full_run: Path, tiny_treebank: Path) -> None:
    gold = list(headwise.read_sentences(tiny_treebank))
    parses = headwise.load(full_run).parse(gold)
    words = [word for sentence in gold for word in sentence.words]
    for column in ("upos", "xpos"):
        tags = [tag for parse in parses for tag in getattr(parse, column)]
        right = [tag == getattr(word, column) for tag, word in zip(tags, words, strict=True)]
        assert sum(right) > 0.95 * len(words)


def test_record_has_the_scores_of_everything(full_run: Path) -> None:
    metrics = json.loads((full_run / "metrics.json").read_text())
    assert {report["phase"] for report in metrics} == {"adam"}
    assert set(metrics[0]["dev_tags"]) == {"upos", "xpos"}
    bundle = load_bundle(full_run / "model")
    for name in ("segment.onnx", "segment.json"):
        assert bundle.read(name) == (full_run / name).read_bytes()
    scores = bundle.manifest.scores
    best = [report for report in metrics if report["is_best"]][-1]
    assert best["dev_las"] == scores["dev_las"] == max(report["dev_las"] for report in metrics)
    assert scores["dev_upos"] == best["dev_tags"]["upos"]
    assert scores["dev_words"] > 50
    assert "dev_sentences" in scores
    line = (full_run / "log.txt").read_text().splitlines()[0]
    assert line == msgspec.convert(metrics[0], EpochReport).line()
    assert all(name in line for name in ("UAS", "LAS", "UPOS", "XPOS"))


@pytest.mark.parametrize("n_reports", [4, 5])
def test_interrupted_run_resumes_to_the_same_model(
    n_reports: int, whole: Run, full_recipe: Recipe, tmp_path: Path
) -> None:
    interrupted = train_network(start(short(full_recipe), tmp_path, CPU))
    assert len(list(islice(interrupted, n_reports))) == n_reports
    del interrupted
    resumed = trained(short(full_recipe), tmp_path)
    assert history(resumed) == history(whole)
    assert resumed.progress.n_steps == whole.progress.n_steps == 15
    assert same_weights(resumed, whole)


def las_of(state: Run) -> float | None:
    """Score the network that is kept once more."""
    return score_dev(state.scorer(), state.data.dev, state.recipe.decode).las


def test_the_best_network_is_kept(whole: Run) -> None:
    assert [(r.phase, r.epoch) for r in history(whole)] == [("adam", 1), ("adam", 2), ("sgd", 1)]
    assert las_of(whole) == max(r.dev_las for r in history(whole) if r.dev_las is not None)


@pytest.mark.parametrize("joint", [False, True])
def test_labels_that_are_learned_after_an_average_are_kept(
    joint: bool, full_recipe: Recipe, tmp_path: Path
) -> None:
    recipe = short(full_recipe, joint=joint, epochs=3, rate=0.05)
    state = trained(recipe, tmp_path / "whole")
    scored = [r.dev_las for r in history(state) if r.phase == "label" and r.dev_las is not None]
    assert len(scored) == 3
    assert las_of(state) == state.progress.best_score >= max(scored) > 0
    assert joint or state.progress.best_score == max(scored)
    (tmp_path / "broken").mkdir()
    list(islice(train_network(start(recipe, tmp_path / "broken", CPU)), 9))
    resumed = trained(recipe, tmp_path / "broken")
    assert history(resumed) == history(state)
    assert same_weights(resumed, state)


def test_scores_are_those_of_the_start_if_no_label_epoch_is_better(
    full_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described: list[Description] = []
    monkeypatch.setattr(
        "headwise.learn.recipe.export_model", lambda *given: described.append(given[2])
    )
    recipe = msgspec.structs.replace(short(full_recipe, epochs=2, rate=1e-9), segment=None)
    reports = list(train_parser(recipe, tmp_path, CPU, {}))
    las = {r.dev_las for r in reports if isinstance(r, EpochReport) and r.phase == "label"}
    assert las == {described[0].scores["dev_las"]}
    assert described[0].scores["dev_las"] > 0


def test_segmenter_that_is_finished_is_not_trained_again(
    full_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = changed(short(full_recipe), segment={"epochs": 1, "steps": 5, "end_epochs": 1})
    exported: list[tuple[Description, dict[str, bytes]]] = []

    def export(*given: Any) -> None:
        exported.append((given[2], given[4]))
        if len(exported) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr("headwise.learn.recipe.export_model", export)
    with pytest.raises(KeyboardInterrupt):
        list(train_parser(recipe, tmp_path, CPU, {}))
    again = list(train_parser(recipe, tmp_path, CPU, {}))
    assert [type(report) for report in again] == [StartReport, PhaseReport]
    assert again[1].line() == "4/4 graphs of the model"
    (first, files), (second, other_files) = exported
    assert first == second
    assert files == other_files
    assert set(files) == {"segment.onnx", "segment.json", "segment.ends.onnx"}
    assert "dev_words" in first.scores


def test_further_dev_treebanks_are_scored_apart(marked_run: Path, marked_recipe: Recipe) -> None:
    scores = load_bundle(marked_run / "model").manifest.scores
    state = start(marked_recipe, marked_run, CPU)
    state.kept.load_state_dict(state.best)
    other = score_dev(state.scorer(), state.data.others["second"], marked_recipe.decode)
    assert scores["dev_uas second"] == other.uas != scores["dev_uas"]
    assert scores["dev_las second"] == other.las != scores["dev_las"]
