import sys
from pathlib import Path

import pytest

from bench.experiment.command import portable_command
from bench.experiment.jobs import ROOT
from bench.experiment.plan import Options, Run, job_of, key_of, select_runs
from bench.paper.plan import PLAN_PATH, Plan, read_plan
from bench.paper.tables import read_published
from headwise import ConfigError
from headwise.settings.recipe import read_recipe

OPTIONS = Options(Path("/plan.toml"), Path("/the/data"), Path("/the/out"), "cpu", "float32", 2)
PAPER = read_plan(PLAN_PATH)


def test_the_plan_has_the_papers_datasets_and_a_stand_in_for_each() -> None:
    own = [dataset for dataset in PAPER.datasets.values() if dataset.is_own]
    assert [dataset.stands_for for dataset in own] == ["ptb", "ctb", "czech", "german"]
    stand_ins = {d.stands_for for d in PAPER.datasets.values() if not d.is_own}
    assert stand_ins == {"ptb", "ctb", "czech", "german"}


@pytest.mark.parametrize("names", dict.fromkeys(run.names for run in PAPER.runs()))
def test_every_run_has_a_valid_recipe(names: tuple[str, str]) -> None:
    dataset = PAPER.datasets[names[0]]
    recipe = read_recipe(ROOT / dataset.recipe, PAPER.settings(Run(names, 1)))
    assert recipe.decode.decoder == dataset.decoder
    assert recipe.data.punctuation == dataset.punctuation
    is_projective = dataset.stands_for in ("ptb", "ctb")
    assert dataset.decoder == ("eisner" if is_projective else "mst")
    paper = read_recipe(ROOT / PAPER.datasets[dataset.stands_for].recipe).train
    if names[1] == "dense":
        assert recipe.model.tag_size == {"ptb": 30, "ctb": 50}.get(dataset.stands_for, 40)
        assert recipe.model.representation == "bilstm"
        assert recipe.train.dropout == paper.dropout
        assert recipe.train.recurrent_dropout == paper.recurrent_dropout
    if names[1] == "dense-pei":
        assert recipe.model.representation == "pei"
    if not dataset.is_own:
        assert recipe.label.joint
        assert (recipe.train.adam_epochs, recipe.train.patience) == (30, 10)
        assert recipe.train.batch_size == paper.batch_size
        assert recipe.train.max_length == paper.max_length


def test_a_system_can_be_for_some_datasets_only() -> None:
    assert {run.names[0] for run in PAPER.runs() if run.names[1] == "dense-feats"} == {"gothic"}


def test_published_scores_are_those_of_the_paper() -> None:
    published = read_published()
    assert published["ptb"].systems["dense"].repaired.test == (94.10, 91.90)
    assert published["ctb"].systems["dense-pei"].greedy.dev == (82.50, 80.74)


@pytest.mark.parametrize(
    ("pattern", "n_runs"),
    [("*", 10), ("english", 5), ("*/dense", 4), ("english/dense/2", 1), ("gothic/dense*", 4)],
)
def test_only_selects_runs_the_first_seeds_first(plan: Plan, pattern: str, n_runs: int) -> None:
    seeds = [run.seed for run in select_runs(plan, [pattern])]
    assert seeds == sorted(seeds)
    assert len(seeds) == n_runs


@pytest.mark.parametrize("pattern", ["nowhere", "english/dense/1/1", "english/dense/9"])
def test_a_pattern_without_a_match_is_refused(plan: Plan, pattern: str) -> None:
    with pytest.raises(ConfigError, match="no run matches"):
        select_runs(plan, ["english", pattern])


def test_settings_of_the_dataset_come_before_those_of_the_system(plan: Plan) -> None:
    settings = plan.settings(Run(("english", "dense-pei"), 1))
    assert settings[-2:] == ("model.representation=pei", "train.adam_rate=0.004")
    assert "data.punctuation=ptb" in settings


def test_other_settings_change_the_key(plan_path: Path, tmp_path: Path) -> None:
    changed_path = tmp_path / "changed.toml"
    text = plan_path.read_text(encoding="utf-8")
    changed_path.write_text(text.replace("train.adam_rate=0.004", "train.adam_rate=0.003"))
    plan, changed = read_plan(plan_path), read_plan(changed_path)
    others = {str(run) for run in plan.runs() if key_of(plan, run) != key_of(changed, run)}
    assert others == {"english/dense-pei/1", "english/dense-pei/2"}
    assert len({key_of(plan, run) for run in plan.runs()}) == len(plan.runs())


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
def test_a_faulty_plan_is_refused(
    plan_path: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "faulty.toml"
    path.write_text(plan_path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        read_plan(path)
    with pytest.raises(ConfigError, match="No such file"):
        read_plan(tmp_path / "none.toml")


def test_a_parser_of_ours_is_trained_and_measured(plan: Plan) -> None:
    job = job_of(plan, Run(("gothic", "dense"), 2), OPTIONS)
    assert [step.name for step in job.steps] == ["train", "measure"]
    train = job.steps[0].command
    assert train[:4] == (sys.executable, "-m", "headwise", "train")
    assert train[4] == str(ROOT / "configs/paper-ewt.toml")
    assert train[train.index("--seed") + 1] == "2"
    assert train[-1] == 'model.vectors="/the/data/vectors/gothic"'
    assert job.lane == "device"
    assert job.folder.name.startswith("dense-2-")
    assert job.log_path == Path("/the/out/gothic/dense-2.log")


def test_the_commands_of_another_parser_are_filled_in(plan: Plan) -> None:
    job = job_of(plan, Run(("english", "chain"), 1), OPTIONS)
    names = [step.name for step in job.steps]
    assert names == ["plain", "train", "parse dev", "parse test", "measure"]
    assert job.lane == "cpu"
    assert job.steps[1].command[-2:] == (str(job.folder / "outside.model"), "a=1;b=2")
    assert job.steps[3].command[-2:] == (
        str(job.folder / "test.input.conllu"),
        str(job.folder / "test.parsed.conllu"),
    )
    assert job.steps[4].command[-1] == "--parsed"


def test_saved_commands_do_not_depend_on_the_machine(plan: Plan) -> None:
    job = job_of(plan, Run(("gothic", "dense"), 1), OPTIONS)
    commands = (portable_command(step.command, job.folder, OPTIONS) for step in job.steps)
    text = " ".join(commands)
    assert "python -m headwise train ./configs/paper-ewt.toml" in text
    assert "--out RUN" in text
    for path in ("/the/data", "/the/out", "/plan.toml", str(ROOT), sys.executable):
        assert path not in text
