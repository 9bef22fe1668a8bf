import json
from itertools import islice
from pathlib import Path

import msgspec
import pytest
import torch

import headwise
from headwise.errors import ConfigError, DataError, ModelError
from headwise.evaluate.scores import score
from headwise.learn.fit import checkpoint as checkpoint_module
from headwise.learn.fit.checkpoint import (
    FILE,
    Checkpoint,
    EpochReport,
    Progress,
    Saving,
    load_checkpoint,
    require_same_run,
)
from headwise.learn.fit.loop import Device, StepReport
from headwise.learn.recipe import Report, Run, run, start, train
from headwise.learn.scorer import load_network
from headwise.model.bundle import load_bundle
from headwise.settings.recipe import Recipe

CPU = Device(torch.device("cpu"))


def short(recipe: Recipe, **changes: object) -> Recipe:
    train = msgspec.structs.replace(recipe.train, adam_epochs=3, sgd_epochs=2, **changes)
    label = msgspec.structs.replace(recipe.label, epochs=2)
    return msgspec.structs.replace(recipe, train=train, label=label)


def test_training_overfits_a_few_sentences(tiny_run: Path, tiny_treebank: Path) -> None:
    gold = list(headwise.read_sentences(tiny_treebank))
    parsed = [s for s, _ in headwise.load(tiny_run).annotate(gold)]
    scores = score(gold, parsed)
    assert scores.uas > 95
    assert scores.las > 90
    assert scores.tree_rate == 100


def test_run_leaves_a_readable_record(tiny_run: Path, tiny_recipe: Recipe) -> None:
    metrics = json.loads((tiny_run / "metrics.json").read_text())
    assert [m["phase"] for m in metrics] == ["adam"] * 40 + ["sgd"] * 2 + ["label"] * 30
    assert metrics[39]["loss"] < metrics[0]["loss"] / 5
    assert metrics[-1]["dev_las"] is not None
    log = (tiny_run / "log.txt").read_text().splitlines()
    assert len(log) == len(metrics)
    assert "dev UAS" in log[0]
    assert "LAS" in log[-1]
    recipe = msgspec.json.decode((tiny_run / "recipe.json").read_bytes(), type=Recipe)
    assert recipe == tiny_recipe


def trained(recipe: Recipe, folder: Path, device: Device = CPU) -> tuple[list[Report], Run]:
    folder.mkdir(exist_ok=True)
    state = start(recipe, folder, device)
    return list(train(state)), state


def same_weights(first: Run, second: Run) -> bool:
    others = second.network.state_dict()
    return all(torch.equal(t, others[name]) for name, t in first.network.state_dict().items())


def test_reports_are_steps_and_epochs(tiny_recipe: Recipe, tmp_path: Path) -> None:
    reports, _ = trained(short(tiny_recipe), tmp_path)
    epochs = [r for r in reports if isinstance(r, EpochReport)]
    steps = [r for r in reports if isinstance(r, StepReport)]
    assert [(r.phase, r.epoch) for r in epochs] == [
        ("adam", 1), ("adam", 2), ("adam", 3), ("sgd", 1), ("sgd", 2), ("label", 1), ("label", 2),
    ]  # fmt: skip
    assert all(0 < step.n_done <= step.n_batches and step.epoch <= step.n_epochs for step in steps)


def test_same_seed_same_model_and_another_seed_another(tiny_recipe: Recipe, tmp_path: Path) -> None:
    first, second = (trained(short(tiny_recipe), tmp_path / name)[1] for name in "ab")
    third = trained(short(tiny_recipe, seed=7), tmp_path / "c")[1]
    assert same_weights(first, second)
    assert not same_weights(first, third)


@pytest.mark.parametrize("n_reports", range(1, 14, 2))
def test_interrupted_run_goes_on_to_the_same_model(
    n_reports: int, tiny_recipe: Recipe, tmp_path: Path
) -> None:
    recipe = short(tiny_recipe)
    reports, whole = trained(recipe, tmp_path / "whole")
    assert n_reports < len(reports)
    (tmp_path / "broken").mkdir()
    interrupted = train(start(recipe, tmp_path / "broken", CPU))
    list(islice(interrupted, n_reports))
    del interrupted
    resumed = trained(recipe, tmp_path / "broken")[1]
    assert same_weights(whole, resumed)
    both = [
        [msgspec.structs.replace(report, seconds=0.0) for report in state.progress.history]
        for state in (whole, resumed)
    ]
    assert both[0] == both[1]


def test_run_whose_last_epochs_were_not_saved_goes_on_to_the_same_model(
    tiny_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = short(tiny_recipe)
    whole = trained(recipe, tmp_path / "whole")[1]
    (tmp_path / "broken").mkdir()
    due = iter([True, False, False])
    monkeypatch.setattr(Saving, "is_due", lambda _: next(due))
    interrupted = train(start(recipe, tmp_path / "broken", CPU))
    epochs = (report for report in interrupted if isinstance(report, EpochReport))
    assert len(list(islice(epochs, 3))) == 3
    interrupted.close()
    monkeypatch.undo()
    checkpoint = load_checkpoint(tmp_path / "broken")
    assert checkpoint is not None
    assert checkpoint.progress.epoch == 1
    assert (tmp_path / "broken/log.txt").read_text().count("\n") == 3
    assert same_weights(whole, trained(recipe, tmp_path / "broken")[1])


@pytest.mark.parametrize(("waited", "is_due"), [(19.9, False), (20.1, True)])
def test_checkpoints_take_a_twentieth_of_the_time(
    waited: float, is_due: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.0, 100.0, 101.0, 101.0 + waited])
    monkeypatch.setattr(checkpoint_module, "monotonic", lambda: next(clock))
    monkeypatch.setattr(checkpoint_module, "save_checkpoint", lambda *_: None)
    saving = Saving()
    assert saving.is_due()
    saving.save(tmp_path, Checkpoint(Progress(recipe=b"", data=""), {}, {}, {}, {}))
    assert saving.is_due() is is_due


def test_finished_run_does_nothing(tiny_run: Path, tiny_recipe: Recipe) -> None:
    before = (tiny_run / "model" / "model.json").stat().st_mtime_ns
    assert list(run(tiny_recipe, tiny_run, CPU, {})) == []
    assert (tiny_run / "model" / "model.json").stat().st_mtime_ns == before


def test_run_of_another_recipe_is_refused(tiny_recipe: Recipe, tmp_path: Path) -> None:
    list(islice(run(short(tiny_recipe), tmp_path, CPU, {}), 3))
    with pytest.raises(ConfigError, match="another recipe"):
        next(run(short(tiny_recipe, seed=9), tmp_path, CPU, {}))


def test_a_setting_that_is_newer_than_a_run_has_its_default(
    tiny_recipe: Recipe, tmp_path: Path
) -> None:
    recipe = short(tiny_recipe)
    told = msgspec.json.decode(msgspec.json.encode(recipe))
    del told["train"]["calibrate"]
    progress = Progress(recipe=msgspec.json.encode(told), data="x")
    require_same_run(tmp_path, progress, recipe, "x")
    told["train"]["gone"] = 1
    progress = Progress(recipe=msgspec.json.encode(told), data="x")
    with pytest.raises(ConfigError, match="another recipe"):
        require_same_run(tmp_path, progress, recipe, "x")


def test_run_of_another_treebank_is_refused(tiny_recipe: Recipe, tmp_path: Path) -> None:
    treebank = tmp_path / "train.conllu"
    blocks = Path(tiny_recipe.data.train).read_text(encoding="utf-8").split("\n\n")
    treebank.write_text("\n\n".join(blocks), encoding="utf-8")
    data = msgspec.structs.replace(tiny_recipe.data, train=str(treebank))
    recipe = short(msgspec.structs.replace(tiny_recipe, data=data))
    list(islice(run(recipe, tmp_path / "run", CPU, {}), 4))
    treebank.write_text("\n\n".join([*blocks[1:-1], blocks[0], ""]), encoding="utf-8")
    with pytest.raises(ConfigError, match="another treebank or teacher"):
        next(run(recipe, tmp_path / "run", CPU, {}))


def test_damaged_checkpoint_is_refused(tiny_recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a checkpoint")
    with pytest.raises(ModelError, match="not a checkpoint"):
        next(run(short(tiny_recipe), tmp_path, CPU, {}))


def test_patience_ends_a_phase(tiny_recipe: Recipe, tmp_path: Path) -> None:
    # A rate so small that dev UAS cannot rise twice in a row for long.
    recipe = short(tiny_recipe, patience=1, adam_rate=1e-9)
    reports = [r for r in trained(recipe, tmp_path)[0] if isinstance(r, EpochReport)]
    assert [r.epoch for r in reports if r.phase == "adam"] == [1, 2]
    assert not reports[1].is_best


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    "model",
    [
        {"representation": "pei"},
        {"stacks": "interleaved"},
        {"tag_column": "none"},
        {"tag_column": "upos", "layers": 1},
        {"tag_column": "upos+xpos", "pieces": 99, "piece_size": 8, "predicted_tags": ["xpos"]},
    ],
)
def test_every_kind_of_model_learns(
    dtype: str, model: dict[str, object], tiny_recipe: Recipe, tmp_path: Path
) -> None:
    train = msgspec.structs.replace(tiny_recipe.train, adam_epochs=6, sgd_epochs=0)
    label = msgspec.structs.replace(tiny_recipe.label, epochs=1, joint=True)
    recipe = msgspec.structs.replace(
        tiny_recipe,
        train=train,
        label=label,
        model=msgspec.structs.replace(tiny_recipe.model, **model),
    )
    device = Device(torch.device("cpu"), dtype)  # type: ignore[arg-type]
    epochs = [r for r in trained(recipe, tmp_path, device)[0] if isinstance(r, EpochReport)]
    assert epochs[5].loss < epochs[0].loss
    assert epochs[5].dev_uas > epochs[0].dev_uas


def test_bad_training_data_is_refused(
    tiny_recipe: Recipe, tmp_path: Path, tiny_treebank: Path
) -> None:
    def refused(train: str, **model: object) -> str:
        data = msgspec.structs.replace(tiny_recipe.data, train=train)
        changed = msgspec.structs.replace(
            tiny_recipe, data=data, model=msgspec.structs.replace(tiny_recipe.model, **model)
        )
        with pytest.raises((DataError, ConfigError)) as caught:
            next(run(changed, tmp_path / "run", CPU, {}))
        assert caught.value.hint
        return str(caught.value)

    lines = tiny_treebank.read_text(encoding="utf-8").split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("1\t"))
    columns = lines[first].split("\t")

    def with_first(**changes: str) -> str:
        names = headwise.Word._fields
        cells = [changes.get(name, cell) for name, cell in zip(names, columns, strict=True)]
        path = tmp_path / "changed.conllu"
        path.write_text("\n".join([*lines[:first], "\t".join(cells), *lines[first + 1 :]]))
        return str(path)

    assert "form no tree" in refused(with_first(head="1"))
    assert f":{first + 1}: word 1" in refused(with_first(head="_"))
    blank = tmp_path / "blank.conllu"
    blank.write_text("1\tKids\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tlove\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    assert "XPOS" in refused(str(blank))
    assert "no train treebank" in refused("")
    empty = tmp_path / "empty.conllu"
    empty.write_text("")
    data = msgspec.structs.replace(tiny_recipe.data, train=str(empty))
    with pytest.raises(DataError, match="no sentences"):
        next(run(msgspec.structs.replace(tiny_recipe, data=data), tmp_path / "run", CPU, {}))


def test_too_long_sentences_are_left_out_of_training(tiny_recipe: Recipe, tmp_path: Path) -> None:
    from headwise.learn.data.treebanks import load_data

    train = msgspec.structs.replace(tiny_recipe.train, max_length=10)
    data = load_data(tiny_recipe.data, tiny_recipe.model, train)
    assert data.n_too_long > 0
    assert max(len(sentence) for sentence in data.train.encoded) == 11
    only = tmp_path / "only.conllu"
    longest = max(headwise.read_sentences(tiny_recipe.data.train), key=len)
    only.write_text(longest.conllu, encoding="utf-8")
    alone = msgspec.structs.replace(tiny_recipe.data, train=str(only))
    with pytest.raises(ConfigError, match="at most 10 words"):
        load_data(alone, tiny_recipe.model, train)


def test_pre_trained_vectors_are_frozen_in_training(tiny_recipe: Recipe, tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(f"the {' '.join(['0.5'] * 24)}\n")
    model = msgspec.structs.replace(tiny_recipe.model, vectors=str(vectors))
    recipe = short(msgspec.structs.replace(tiny_recipe, model=model))
    list(run(recipe, tmp_path / "run", CPU, {}))
    bundle = load_bundle(tmp_path / "run" / "model")
    table = load_network(bundle, torch.device("cpu")).inputs.word.weight
    assert torch.equal(table[bundle.vocab.words.id_of("the")], torch.full((24,), 0.5))
    best = [r["dev_las"] for r in json.loads((tmp_path / "run" / "metrics.json").read_text())]
    assert bundle.manifest.scores["dev_las"] == max(las for las in best if las is not None)
