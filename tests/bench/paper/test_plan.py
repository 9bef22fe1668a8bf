from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.paper.figures import read_published
from bench.paper.plan import PLAN_PATH, ROOT, Plan, Run, key_of, read_plan, runs_of, settings_of
from headwise import ConfigError
from headwise.settings.recipe import read_recipe


def test_the_plan_of_the_paper_is_whole() -> None:
    plan = read_plan(PLAN_PATH)
    own = [dataset for dataset in plan.datasets.values() if dataset.is_own]
    assert [dataset.stands_for for dataset in own] == ["ptb", "ctb", "czech", "german"]
    stand_ins = {d.stands_for for d in plan.datasets.values() if not d.is_own}
    assert stand_ins == {"ptb", "ctb", "czech", "german"}


@pytest.mark.parametrize("name", [str(run) for run in runs_of(read_plan(PLAN_PATH))])
def test_every_run_of_the_paper_is_a_recipe(name: str) -> None:
    plan = read_plan(PLAN_PATH)
    run = next(run for run in runs_of(plan) if str(run) == name)
    dataset = plan.datasets[run.dataset]
    recipe = read_recipe(ROOT / dataset.recipe, settings_of(plan, run))
    assert recipe.decode.decoder == dataset.decoder
    assert recipe.data.punctuation == dataset.punctuation
    projective = dataset.stands_for in ("ptb", "ctb")
    assert dataset.decoder == ("eisner" if projective else "mst")
    if run.system == "dense":
        assert recipe.model.tag_size == {"ptb": 30, "ctb": 50}.get(dataset.stands_for, 40)
        assert recipe.model.representation == "bilstm"
    if run.system == "dense-pei":
        assert recipe.model.representation == "pei"
    if not dataset.is_own:
        assert recipe.label.joint
        assert (recipe.train.adam_epochs, recipe.train.patience) == (30, 10)


@pytest.mark.parametrize("system", ["dense", "dense-pei"])
@pytest.mark.parametrize("dataset", ["ewt", "chinese-gsd", "basque", "mix-german"])
def test_stand_ins_train_as_what_they_stand_for(dataset: str, system: str) -> None:
    plan = read_plan(PLAN_PATH)
    paper = plan.datasets[plan.datasets[dataset].stands_for]
    theirs = read_recipe(ROOT / paper.recipe).train
    run = Run(dataset, system, 1)
    ours = read_recipe(ROOT / plan.datasets[dataset].recipe, settings_of(plan, run)).train
    assert (ours.batch_size, ours.max_length) == (theirs.batch_size, theirs.max_length)
    if system == "dense":
        shares = (theirs.dropout, theirs.recurrent_dropout)
        assert (ours.dropout, ours.recurrent_dropout) == shares


def test_a_system_may_be_for_some_datasets_alone() -> None:
    runs = {run.dataset for run in runs_of(read_plan(PLAN_PATH)) if run.system == "dense-feats"}
    assert runs == {"gothic"}


def test_published_figures_are_those_of_the_paper() -> None:
    published = read_published()
    assert published["ptb"].systems["dense"].repaired.test == (94.10, 91.90)
    assert published["ctb"].systems["dense-pei"].greedy.dev == (82.50, 80.74)
    assert published["german"].trees_after == (100.0, 68.1)


def test_the_first_seed_of_everything_comes_first(plan: Plan) -> None:
    seeds = [run.seed for run in runs_of(plan)]
    assert seeds == sorted(seeds)
    assert len(seeds) == 2 * (2 + 2 + 1)


@pytest.mark.parametrize(
    ("pattern", "n_runs"),
    [("english", 5), ("*/dense", 4), ("english/dense/2", 1), ("*/*/1", 6), ("gothic/dense*", 4)],
)
def test_only_chooses_runs(plan: Plan, pattern: str, n_runs: int) -> None:
    assert len(runs_of(plan, [pattern])) == n_runs


@given(st.lists(st.sampled_from(["english", "*/dense", "gothic/*/1"]), min_size=1))
def test_only_keeps_the_order(patterns: list[str]) -> None:
    plan = read_plan(PLAN_PATH)
    wanted = [pattern.replace("english", "ewt") for pattern in patterns]
    chosen = runs_of(plan, wanted)
    assert chosen == [run for run in runs_of(plan) if run in chosen]


@pytest.mark.parametrize("pattern", ["nowhere", "english/dense/1/1", "english/dense/9"])
def test_a_pattern_that_matches_nothing_is_refused(plan: Plan, pattern: str) -> None:
    with pytest.raises(ConfigError, match="no such run"):
        runs_of(plan, [pattern])


def test_settings_go_from_dataset_to_system_to_both(plan: Plan) -> None:
    settings = settings_of(plan, Run("english", "dense-pei", 1))
    assert settings[-2:] == ("model.representation=pei", "train.adam_rate=0.004")
    assert "data.punctuation=ptb" in settings


def test_other_settings_make_another_key(plan_path: Path, tmp_path: Path) -> None:
    changed_path = tmp_path / "changed.toml"
    text = plan_path.read_text(encoding="utf-8")
    changed_path.write_text(text.replace("train.adam_rate=0.004", "train.adam_rate=0.003"))
    plan, changed = read_plan(plan_path), read_plan(changed_path)
    same = {str(run): key_of(plan, run) == key_of(changed, run) for run in runs_of(plan)}
    assert {name for name, is_same in same.items() if not is_same} == {
        "english/dense-pei/1",
        "english/dense-pei/2",
    }
    assert len({key_of(plan, run) for run in runs_of(plan)}) == len(runs_of(plan))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "DeNSe"', 'title = "DeNSe"\npredict = ["x"]', "has train and predict"),
        ("overrides = { dense-pei", "overrides = { other", "no system other"),
        ('title = "DeNSe"', 'title = "DeNSe"\ndatasets = ["other"]', "no dataset other"),
        ("configs/paper-ewt.toml", "configs/none.toml", "no file configs/none.toml"),
        ("seeds = [1, 2]", "seeds = []", "seeds"),
        ("seeds = [1, 2]", "seeds = [", "not TOML"),
        ("[datasets.english]", "[datasets.'../up']", "datasets"),
    ],
)
def test_a_plan_with_a_fault_is_refused(
    plan_path: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "faulty.toml"
    path.write_text(plan_path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        read_plan(path)


def test_a_plan_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        read_plan(tmp_path / "none.toml")
