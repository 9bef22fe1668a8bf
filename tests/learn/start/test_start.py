"""A run starts from a trained model, keeps what that knew, and needs it once only."""

import shutil
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch
from made_blanks import with_blanks, write
from made_runs import CPU, changed, history, same_weights, trained

import headwise
from headwise import read_sentences
from headwise.errors import ConfigError, DataError, ModelError
from headwise.learn.fit.loop import Draw
from headwise.learn.fit.phases import Run
from headwise.learn.fit.reports import TakenReport
from headwise.learn.recipe import start, train_network, train_parser
from headwise.learn.scorer import load_torch_scorer
from headwise.learn.start.model import KEPT
from headwise.model.bundle import load_bundle, slim
from headwise.settings.model import ModelConfig
from headwise.settings.recipe import Recipe
from headwise.settings.training import StartConfig

OTHER = Path(__file__).parents[2] / "fixtures" / "ewt-dev-100.conllu"


@pytest.fixture(scope="module")
def other_sentences(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences that the small models were not trained on."""
    path = tmp_path_factory.mktemp("other") / "other.conllu"
    write(path, [sentence for sentence in read_sentences(OTHER) if 25 < len(sentence) < 40][:6])
    return path


@pytest.fixture
def adapted(full_recipe: Recipe, full_run: Path, other_sentences: Path) -> Recipe:
    recipe = msgspec.structs.replace(
        full_recipe, start=StartConfig(model=str(full_run)), model=ModelConfig(), segment=None
    )
    data = {"train": str(other_sentences), "dev": str(other_sentences)}
    return changed(recipe, data=data, train={"adam_epochs": 2, "seed": 4})


def begun(recipe: Recipe, folder: Path) -> Run:
    folder.mkdir()
    return start(recipe, folder, CPU)


def test_before_training_it_parses_as_the_model_did(
    adapted: Recipe, full_run: Path, tmp_path: Path
) -> None:
    state = begun(adapted, tmp_path / "run")
    old = load_torch_scorer(load_bundle(full_run / "model"), "cpu")
    assert set(old.vocab.words.strings) < set(state.data.vocab.words.strings)
    assert state.recipe.model == load_bundle(full_run / "model").manifest.model
    known = [
        sentence
        for sentence in read_sentences(str(adapted.data.train))
        if all(word.form in old.vocab.words.strings for word in sentence.words)
    ]
    known += list(islice(read_sentences(OTHER), 10))[:10]
    sentences = [
        one for one in known if {w.form for w in one.words} <= set(old.vocab.words.strings)
    ]
    assert sentences
    for mine, theirs in zip(state.scorer().select(sentences), old.select(sentences), strict=True):
        assert np.allclose(mine.head_log_probs[1:], theirs.head_log_probs[1:], atol=1e-5)
    assert state.taken is not None
    assert (list(state.taken.anew), list(state.taken.unused)) == ([], [])
    known_words, n_words = state.taken.rows["words"]
    assert known_words == len(old.vocab.words.strings) < n_words


def test_a_run_reports_learns_and_takes_the_segmenter_over(
    adapted: Recipe, full_run: Path, tmp_path: Path
) -> None:
    reports = list(train_parser(adapted, tmp_path / "run", CPU, {"start": "x"}))
    (taken,) = [report for report in reports if isinstance(report, TakenReport)]
    assert taken.line().startswith(f"starts from {full_run / 'model'}, which knows ")
    assert "initialised randomly: nothing" in taken.line()
    parser = headwise.load(tmp_path / "run")
    assert parser.segmenter is not None
    assert list(parser.annotate_text("Kids love candy."))
    saved = msgspec.json.decode((tmp_path / "run" / "recipe.json").read_bytes(), type=Recipe)
    assert saved.start == adapted.start


def test_a_resumed_run_does_not_need_the_model(
    adapted: Recipe, full_run: Path, tiny_treebank: Path, tmp_path: Path
) -> None:
    text = with_blanks(islice(read_sentences(tiny_treebank), 8), ("head", "deprel"), 1.1)
    plain = write(tmp_path / "plain.conllu", text)
    changes = {"replay": (str(tiny_treebank), plain), "replay_share": 0.25}
    for recipe in (adapted, changed(adapted, start={"vocabulary": "new"}, model={"layers": 2})):
        model = tmp_path / "model"
        shutil.copytree(full_run / "model", model)
        copied = changed(recipe, start={"model": str(model), **changes})
        whole = trained(copied, tmp_path / "whole")
        interrupted = train_network(begun(copied, tmp_path / "part"))
        assert len(list(islice(interrupted, 3))) == 3
        del interrupted
        shutil.rmtree(model)
        resumed = start(copied, tmp_path / "part", CPU)
        assert resumed.taken is None
        list(train_network(resumed))
        assert same_weights(whole, resumed)
        assert history(whole) == history(resumed)
        for name in ("whole", "part"):
            shutil.rmtree(tmp_path / name)


def test_replayed_sentences_are_gold_or_annotated_by_the_model(
    adapted: Recipe, full_run: Path, tiny_treebank: Path, tmp_path: Path
) -> None:
    gold = list(islice(read_sentences(tiny_treebank), 8))
    plain = write(tmp_path / "plain.conllu", with_blanks(gold, ("head", "deprel", "upos"), 1.1))
    (tmp_path / "raw.txt").write_text("Kids love candy. They run.\n", encoding="utf-8")
    replay = (str(tiny_treebank), plain, str(tmp_path / "raw.txt"))
    state = begun(changed(adapted, start={"replay": replay}), tmp_path / "run")
    data = state.data
    assert data.drawn == range(6, len(data.train.encoded))
    assert len(data.sentences) == len(data.treebanks) == len(data.train.gold)
    parser = headwise.load(full_run, precision="float32")
    annotated = data.sentences[6 + 40 : 6 + 40 + len(gold)]
    expected = parser.parse(gold)
    assert [one.heads for one in annotated] == [parse.heads for parse in expected]
    assert [[w.form for w in one.words] for one in data.sentences[54:]] == [
        [w.form for w in one.words] for one, _ in parser.annotate_text("Kids love candy. They run.")
    ]
    kept = sorted(path.name for path in (tmp_path / "run" / KEPT).glob("replay*"))
    assert kept == ["replay-1.conllu", "replay-2.conllu"]


def test_an_epoch_draws_its_share_of_replayed_sentences() -> None:
    draw = Draw(range(10, 110), 0.5)
    draws = [draw.of_epoch(112, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    for drawn in draws:
        assert drawn[:12] == [*range(10), 110, 111]
        assert len(set(drawn)) == len(drawn) == 24
    assert len(Draw(range(2, 4), 0.9).of_epoch(4, np.random.default_rng(1))) == 4
    assert Draw().of_epoch(3, np.random.default_rng(1)) == [0, 1, 2]


def test_an_epoch_follows_one_rule(adapted: Recipe, tiny_treebank: Path) -> None:
    replay = msgspec.structs.replace(adapted.start, replay=(str(tiny_treebank),))
    train = msgspec.structs.replace(adapted.train, main_share=0.5)
    with pytest.raises(ValueError, match=r"main_share and start\.replay"):
        Recipe(train=train, start=replay)


def test_a_new_vocabulary_is_that_of_the_treebank(
    marked_run: Path, full_recipe: Recipe, other_sentences: Path, tmp_path: Path
) -> None:
    """One language starts from a network of several treebanks, which it does not tell apart."""
    recipe = msgspec.structs.replace(
        full_recipe,
        start=StartConfig(model=str(marked_run), vocabulary="new"),
        segment=None,
    )
    recipe = changed(
        recipe,
        data={"train": str(other_sentences), "dev": str(other_sentences)},
        model={"predicted_tags": ["upos"], "vector_words": 0, "vectors": ""},
    )
    state = begun(recipe, tmp_path / "run")
    words = {word.form for one in state.data.sentences for word in one.words}
    assert set(state.data.vocab.words.strings) == words
    assert state.taken is not None
    assert list(state.taken.unused) == ["inputs.mark.table.weight"]
    assert list(state.taken.anew) == []
    assert not (tmp_path / "run" / KEPT).exists()


def test_a_transformer_is_taken_over_without_its_folder(
    encoder_recipe: Recipe, encoder_run: Path, tmp_path: Path
) -> None:
    settings = load_bundle(encoder_run / "model").manifest.model
    gone = changed(encoder_recipe, train={"adam_epochs": 1})
    recipe = msgspec.structs.replace(gone, start=StartConfig(model=str(encoder_run)))
    state = begun(recipe, tmp_path / "run")
    old = load_torch_scorer(load_bundle(encoder_run / "model"), "cpu")
    assert settings.encoder
    for name, weight in state.network.named_parameters():
        if name.startswith("encoder."):
            assert torch.equal(weight, old._network.get_parameter(name)), name


def test_a_model_without_weights_starts_from_its_graphs(
    adapted: Recipe, full_run: Path, other_sentences: Path, tmp_path: Path
) -> None:
    slim(full_run / "model", tmp_path / "slim", "int8")
    recipe = changed(
        adapted, start={"model": str(tmp_path / "slim"), "replay": str(other_sentences)}
    )
    state = begun(recipe, tmp_path / "run")
    assert state.taken is not None
    assert list(state.taken.anew) == []
    old = load_torch_scorer(load_bundle(full_run / "model"), "cpu")
    for name, weight in old._network.named_parameters():
        if not name.startswith(("inputs.", "label.last", "tag.last")):
            close = state.network.get_parameter(name)
            step = float(weight.detach().abs().max()) / 60
            assert torch.allclose(weight, close, atol=step), name


def test_a_transformer_without_weights_and_no_model_are_refused(
    adapted: Recipe, encoder_run: Path, tmp_path: Path
) -> None:
    slim(encoder_run / "model", tmp_path / "slim", "int8")
    with pytest.raises(
        ModelError, match=r"no weights.safetensors.*\nhint: start from the folder of a run"
    ):
        begun(changed(adapted, start={"model": str(tmp_path / "slim")}), tmp_path / "one")
    nothing = changed(adapted, data={"train": str(tmp_path / "none.conllu")})
    with pytest.raises(DataError, match="No such file"):
        next(train_parser(nothing, tmp_path / "three", CPU, {}))
    assert not (tmp_path / "three").exists()
    with pytest.raises(ConfigError, match=r"no model to start from\nhint: --start MODEL"):
        begun(changed(adapted, start={"model": ""}), tmp_path / "two")


def test_rates_are_scaled(adapted: Recipe, tmp_path: Path) -> None:
    from headwise.learn.fit.phases import plan_adam, plan_label, plan_sgd

    recipe = changed(adapted, start={"rate": 0.25}, train={"adam_rate": 0.04, "sgd_rate": 0.02})
    state = begun(recipe, tmp_path / "run")
    for plan, rate in ((plan_adam, 0.01), (plan_sgd, 0.005), (plan_label, 0.0025)):
        assert plan(state).optimiser.param_groups[0]["lr"] == pytest.approx(rate)
