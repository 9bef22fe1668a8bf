import sys
from pathlib import Path

import pytest

from bench.accuracy.plan import PLAN_PATH, Plan, read_plan
from bench.experiment.jobs import ROOT
from bench.experiment.plan import Options, Run, job_of, key_of, missing_inputs, select_runs
from bench.paper.plan import PLAN_PATH as PAPER_PLAN_PATH
from bench.paper.plan import read_plan as read_paper_plan
from headwise import ConfigError
from headwise.settings.recipe import read_recipe

OPTIONS = Options(Path("/plan.toml"), Path("/the/data"), Path("/the/out"), "cpu", "float32", 2)
SHIPPED = read_plan(PLAN_PATH)


@pytest.mark.parametrize("name", [name for name, row in SHIPPED.rows.items() if row.recipe])
def test_every_row_has_a_recipe_for_one_root(name: str) -> None:
    row = SHIPPED.rows[name]
    settings = [*row.set, *(f"{key}={value}" for key, value in row.paths.items())]
    recipe = read_recipe(ROOT / row.recipe, settings)
    assert recipe.decode.single_root
    assert recipe.data.punctuation == "none"
    reads = {*recipe.model.tag_column.split("+"), *recipe.model.marks} - {"none", "treebank"}
    assert {column.upper() for column in reads} == {
        part.strip(",") for part in row.reads.split() if part.strip(",").isupper()
    }
    assert bool(recipe.model.vector_words) == ("vectors" in row.reads)
    assert bool(row.teachers) == (recipe.teach is not None)


def test_every_peer_has_a_plan() -> None:
    plans = map(read_paper_plan, (PAPER_PLAN_PATH, PLAN_PATH.with_name("peers.toml")))
    datasets = {name for plan in plans for name in plan.datasets}
    assert {treebank.peers for treebank in SHIPPED.treebanks.values()} - {""} <= datasets


@pytest.mark.parametrize(
    ("only", "names"),
    [
        ([], "joined/0 small/1 both/1 wordy/1 small/2 both/2 taught/7"),
        (["small"], "small/1 small/2"),
        (["*/2"], "small/2 both/2"),
        (["joined"], "joined/0 small/1 small/2"),
        (["taught/7"], "small/1 small/2 taught/7"),
    ],
)
def test_only_selects_runs_and_the_runs_they_need(plan: Plan, only: list[str], names: str) -> None:
    assert list(map(str, select_runs(plan, only))) == names.split()


def test_other_settings_change_the_key_of_all_dependents(plan_path: Path, tmp_path: Path) -> None:
    changed_path = tmp_path / "changed.toml"
    text = plan_path.read_text(encoding="utf-8")
    changed_path.write_text(text.replace("model.word_size=8", "model.word_size=9", 1))
    plan, changed = read_plan(plan_path), read_plan(changed_path)
    others = {str(run) for run in plan.runs() if key_of(plan, run) != key_of(changed, run)}
    assert others == {"small/1", "small/2", "joined/0", "taught/7"}
    assert len({key_of(plan, run) for run in plan.runs()}) == len(plan.runs())


def test_missing_files_are_listed(plan: Plan, data: Path) -> None:
    assert missing_inputs(plan, Run(("taught",), 7), data) == []
    assert missing_inputs(plan, Run(("wordy",), 1), data) == [data / "vectors/none"]
    assert len(missing_inputs(plan, Run(("joined",), 0), data / "nowhere")) == 4 + 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('treebank = "english"', 'treebank = "other"', "rows.small: no treebank other"),
        ('ensemble = ["small"]', 'ensemble = ["taught"]', "rows.joined: no row taught above it"),
        ('ensemble = ["small"]', "", "either a recipe or an ensemble"),
        ('teachers = ["small"]', "", "text needs teachers"),
    ],
)
def test_a_faulty_plan_is_refused(
    plan_path: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "faulty.toml"
    path.write_text(plan_path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        read_plan(path)


def test_a_row_is_trained_on_all_its_treebanks_and_measured(plan: Plan) -> None:
    job = job_of(plan, Run(("both",), 2), OPTIONS)
    assert [step.name for step in job.steps] == ["train", "measure"]
    train = job.steps[0].command
    recipe = str(ROOT / "configs/best-lstm.toml")
    assert train[:5] == (sys.executable, "-m", "headwise", "train", recipe)
    paths = [train[i + 1] for i, part in enumerate(train) if part == "--train"]
    assert paths == ["/the/data/ud/English/train.conllu", "/the/data/ud/More/train.conllu"]
    assert train[train.index("--seed") + 1] == "2"
    assert train[train.index("--precision") + 1] == "float32"
    assert job.needs == ()


def test_a_student_waits_for_its_teachers_and_paths_are_completed(plan: Plan) -> None:
    job = job_of(plan, Run(("taught",), 7), OPTIONS)
    assert [path.parts[-3][:8] for path in job.needs] == ["small-1-", "small-2-"]
    settings = job.steps[0].command
    assert f'teach.models=["{job.needs[0].parent}", "{job.needs[1].parent}"]' in settings
    assert 'teach.text=["/the/data/ud/More/train.conllu"]' in settings
    wordy = job_of(plan, Run(("wordy",), 1), OPTIONS)
    assert 'model.vectors="/the/data/vectors/none"' in wordy.steps[0].command


def test_an_ensemble_is_only_measured(plan: Plan) -> None:
    job = job_of(plan, Run(("joined",), 0), OPTIONS)
    assert [step.name for step in job.steps] == ["measure"]
    assert job.steps[0].command[-2:] == tuple(str(path.parent) for path in job.needs)
