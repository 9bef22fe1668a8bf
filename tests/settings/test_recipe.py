from pathlib import Path

import msgspec
import pytest

from headwise.errors import ConfigError
from headwise.settings.recipe import Recipe, find_recipe, named_recipes, read_recipe
from headwise.settings.training import SegmentConfig

ROOT = Path(__file__).parents[2]
INSIDE = ROOT / "src" / "headwise" / "recipes"
CONFIGS = sorted((ROOT / "configs").glob("*.toml")) + [
    find_recipe(name) for name in named_recipes()
]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_recipe_reads(path: Path) -> None:
    recipe = read_recipe(path)
    assert msgspec.json.decode(msgspec.json.encode(recipe), type=Recipe) == recipe


def test_the_list_names_every_recipe_inside_headwise() -> None:
    assert sorted(named_recipes()) == sorted({path.stem for path in INSIDE.iterdir()} - {"index"})


@pytest.mark.parametrize(
    ("name", "measured"),
    [
        ("paper", "paper-ewt"),
        ("accurate", "accurate-ewt"),
        ("columns", "columns"),
    ],
)
def test_a_recipe_inside_is_the_one_that_was_measured(name: str, measured: str) -> None:
    assert read_recipe(find_recipe(name)) == read_recipe(ROOT / "configs" / f"{measured}.toml")


def test_best_is_the_one_that_was_measured_and_reads_raw_text() -> None:
    best, measured = read_recipe(find_recipe("best")), ROOT / "configs" / "best-lstm.toml"
    assert best.segment == SegmentConfig()
    changes = {"train.calibrate": True, "segment.epochs": SegmentConfig().epochs}
    assert best == read_recipe(measured, (), changes)


def test_small_fills_in_every_column_and_reads_raw_text() -> None:
    small = read_recipe(find_recipe("small"))
    assert small.model.predicted_tags == ["upos", "xpos", "feats", "lemma"]
    assert small.segment is not None
    assert small.train.calibrate


def test_a_recipe_is_found_by_name_or_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small").write_text("")
    assert find_recipe("small") == INSIDE / "small.toml"
    assert find_recipe("./small") == Path("small")
    assert find_recipe("missing/mine.toml") == Path("missing/mine.toml")
    with pytest.raises(
        ConfigError, match=r"smal: there is no recipe .*\nhint: did you mean small\?"
    ):
        find_recipe("smal")
    with pytest.raises(ConfigError, match="a name that headwise train --list shows"):
        find_recipe("zzz")


@pytest.mark.parametrize(
    ("name", "batch", "dropout", "recurrent", "longest", "q", "decoder"),
    [
        ("ptb", 32, 0.35, 0.1, 100, 30, "eisner"),
        ("ctb", 20, 0.35, 0.05, 140, 50, "eisner"),
        ("czech", 20, 0.35, 0.1, 110, 40, "mst"),
        ("german", 20, 0.40, 0.1, 110, 40, "mst"),
    ],
)
def test_paper_recipes_carry_the_authors_settings(
    name: str, batch: int, dropout: float, recurrent: float, longest: int, q: int, decoder: str
) -> None:
    recipe = read_recipe(ROOT / "configs" / f"paper-{name}.toml")
    train, model = recipe.train, recipe.model
    assert (train.batch_size, train.dropout, train.recurrent_dropout) == (batch, dropout, recurrent)
    assert (train.max_length, train.patience, train.seed) == (longest, 1, 123)
    assert (train.adam_epochs, train.sgd_epochs, train.adam_rate) == (15, 10, 0.001)
    assert (model.word_size, model.hidden_size, model.tag_size) == (300, 300, q)
    assert (model.stacks, model.layers, model.min_count, model.label_size) == (
        "independent", 2, 2, 800,
    )  # fmt: skip
    assert (recipe.decode.decoder, recipe.decode.single_root) == (decoder, False)
    assert not recipe.label.joint


def test_ewt_has_the_settings_of_ptb() -> None:
    names = ("ptb", "ewt-authors", "ewt")
    ptb, authors, ewt = (read_recipe(ROOT / "configs" / f"paper-{name}.toml") for name in names)
    assert (ptb.model, ptb.train, ptb.label) == (authors.model, authors.train, authors.label)
    assert ewt.model == ptb.model


def test_settings_lie_over_the_file_and_an_empty_table_asks_for_a_segmenter(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text("[train]\nseed = 4\n")
    changed = read_recipe(path, ("train.dropout=0.2", "data.train=a b.conllu", "label.joint=true"))
    assert (changed.train.seed, changed.train.dropout) == (4, 0.2)
    assert changed.data.train == "a b.conllu"
    assert changed.label.joint
    assert changed.segment is None
    path.write_text("[segment]\n")
    assert read_recipe(path).segment == SegmentConfig()


@pytest.mark.parametrize(
    "setting",
    ["train.dropout=1.5", "train.dropout=x", "train.unknown=1", "nothing.at_all=1", "x", "a=1",
     "decode.decoder=cky", "model.layers=9", "model.tag_column=feats", "model.pieces=-1",
     'model.marks=["lemma"]', "teach.models=[]", "train.warmup=-1",
     'model.predicted_tags=["deprel"]', "train.schedule=linear", "train.average=1.0",
     "train.tag_weight=-1", "label.epochs=-1", "segment.unknown=1", "segment.epochs=0"],
)  # fmt: skip
def test_impossible_settings_are_refused(setting: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_recipe(CONFIGS[0], (setting,))
    assert caught.value.hint


def test_a_run_that_would_learn_no_labels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text("[label]\nepochs = 0\n")
    with pytest.raises(ConfigError, match=r"label.epochs is 0 and label.joint is false") as caught:
        read_recipe(path)
    assert str(path) in str(caught.value)
    assert caught.value.hint
    assert read_recipe(path, ("label.joint=true",)).label.epochs == 0


def test_an_encoder_is_under_lstms_or_alone_and_never_under_windows_of_words() -> None:
    path = ROOT / "configs" / "accurate-ewt.toml"
    assert read_recipe(path, ("model.layers=0",)).model.layers == 0
    for setting, what in (
        ("model.representation=pei", "model.encoder needs representation 'bilstm'"),
        ("model.encoder=", "no word has context"),
    ):
        with pytest.raises(ConfigError, match=what) as caught:
            read_recipe(path, (setting, "model.layers=0"))
        assert str(path) in str(caught.value)
        assert caught.value.hint
