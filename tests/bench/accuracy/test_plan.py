from pathlib import Path

import pytest

from bench.accuracy.plan import (
    PLAN_PATH,
    Plan,
    Run,
    key_of,
    lacking,
    needs_of,
    read_plan,
    runs_of,
    runs_of_row,
)
from bench.jobs import ROOT
from bench.paper.plan import read_plan as read_paper_plan
from headwise import ConfigError
from headwise.settings.recipe import read_recipe


@pytest.mark.parametrize("name", list(read_plan(PLAN_PATH).rows))
def test_every_row_is_a_recipe_for_one_root(name: str) -> None:
    row = read_plan(PLAN_PATH).rows[name]
    path = ROOT / row.recipe
    if not row.recipe or not path.exists():
        return
    settings = [*row.set, *(f"{key}={value}" for key, value in row.paths.items())]
    recipe = read_recipe(path, settings)
    assert recipe.decode.single_root
    assert recipe.data.punctuation == "none"
    reads = {*recipe.model.tag_column.split("+"), *recipe.model.marks} - {"none", "treebank"}
    assert {column.upper() for column in reads} == {
        part.strip(",") for part in row.reads.split() if part.strip(",").isupper()
    }
    assert bool(recipe.model.vector_words) == ("vectors" in row.reads)
    assert bool(row.teachers) == (recipe.teach is not None)


def test_the_plan_for_peers_is_whole() -> None:
    plan, peers = read_plan(PLAN_PATH), read_paper_plan(PLAN_PATH.with_name("peers.toml"))
    known = set(peers.datasets) | set(read_paper_plan(ROOT / "bench/paper/paper.toml").datasets)
    assert {one.peers for one in plan.treebanks.values()} - {""} <= known


def test_runs_are_those_of_each_seed_and_one_of_an_ensemble(plan: Plan) -> None:
    assert [str(run) for run in runs_of(plan)] == [
        "joined/0", "small/1", "both/1", "wordy/1", "small/2", "both/2", "taught/7",
    ]  # fmt: skip
    assert runs_of_row(plan, "joined") == [Run("joined", 0)]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("small", ["small/1", "small/2"]),
        ("*/2", ["small/2", "both/2"]),
        ("joined", ["joined/0", "small/1", "small/2"]),
        ("taught/7", ["small/1", "small/2", "taught/7"]),
    ],
)
def test_only_chooses_runs_and_what_they_need(plan: Plan, pattern: str, names: list[str]) -> None:
    assert [str(run) for run in runs_of(plan, [pattern])] == names


def test_a_pattern_that_matches_nothing_is_refused(plan: Plan) -> None:
    with pytest.raises(ConfigError, match="--only other: no such run"):
        runs_of(plan, ["small", "other"])


def test_teachers_and_members_are_needed(plan: Plan) -> None:
    both = [Run("small", 1), Run("small", 2)]
    assert needs_of(plan, Run("joined", 0)) == needs_of(plan, Run("taught", 7)) == both
    assert needs_of(plan, Run("small", 1)) == []


def test_other_settings_make_another_key_of_all_that_depends(
    plan_path: Path, tmp_path: Path
) -> None:
    changed_path = tmp_path / "changed.toml"
    text = plan_path.read_text(encoding="utf-8")
    changed_path.write_text(text.replace("model.word_size=8", "model.word_size=9", 1))
    plan, changed = read_plan(plan_path), read_plan(changed_path)
    other = {str(r) for r in runs_of(plan) if key_of(plan, r) != key_of(changed, r)}
    assert other == {"small/1", "small/2", "joined/0", "taught/7"}
    assert len({key_of(plan, run) for run in runs_of(plan)}) == len(runs_of(plan))


def test_files_that_are_not_there_are_named(plan: Plan, data: Path) -> None:
    assert lacking(plan, Run("taught", 7), data) == []
    assert lacking(plan, Run("wordy", 1), data) == [str(data / "vectors/none")]
    assert len(lacking(plan, Run("joined", 0), data / "nowhere")) == 4 + 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('treebank = "english"', 'treebank = "other"', "rows.small: no treebank other"),
        ('ensemble = ["small"]', 'ensemble = ["taught"]', "rows.joined: no row taught above it"),
        ('ensemble = ["small"]', "", "either a recipe or an ensemble"),
        ('teachers = ["small"]', "", "text needs teachers"),
        ("seeds = [1, 2]", "seeds = []", "seeds"),
        ("seeds = [1, 2]", "seeds = [", "not TOML"),
    ],
)
def test_a_plan_with_a_fault_is_refused(
    plan_path: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "faulty.toml"
    path.write_text(plan_path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        read_plan(path)


def test_a_plan_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        read_plan(tmp_path / "none.toml")
