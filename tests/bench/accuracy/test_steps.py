import sys
from pathlib import Path

from bench.accuracy.plan import Plan, Run
from bench.accuracy.steps import job_of
from bench.jobs import ROOT, Place, as_shell

PLACE = Place(Path("/plan.toml"), Path("/the/data"), Path("/the/out"), "cpu", "float32", 2)


def test_a_run_is_trained_on_all_its_treebanks_and_measured(plan: Plan) -> None:
    job = job_of(plan, Run("both", 2), PLACE)
    assert [step.name for step in job.steps] == ["train", "measure"]
    train = job.steps[0].command
    assert train[:5] == (
        sys.executable,
        "-m",
        "headwise",
        "train",
        str(ROOT / "configs/best-lstm.toml"),
    )
    given = [train[i + 1] for i, part in enumerate(train) if part == "--train"]
    assert given == ["/the/data/ud/English/train.conllu", "/the/data/ud/More/train.conllu"]
    assert train[train.index("--seed") + 1] == "2"
    assert train[train.index("--precision") + 1] == "float32"
    assert job.needs == ()


def test_a_student_waits_for_its_teachers(plan: Plan) -> None:
    job = job_of(plan, Run("taught", 7), PLACE)
    assert [path.parts[-3][:8] for path in job.needs] == ["small-1-", "small-2-"]
    settings = job.steps[0].command
    assert f'teach.models=["{job.needs[0].parent}", "{job.needs[1].parent}"]' in settings
    assert 'teach.text=["/the/data/ud/More/train.conllu"]' in settings


def test_an_ensemble_is_measured_only(plan: Plan) -> None:
    job = job_of(plan, Run("joined", 0), PLACE)
    assert [step.name for step in job.steps] == ["measure"]
    assert job.steps[0].command[-2:] == tuple(str(path.parent) for path in job.needs)


def test_paths_are_below_the_data_and_commands_name_no_machine(plan: Plan) -> None:
    job = job_of(plan, Run("wordy", 1), PLACE)
    assert 'model.vectors="/the/data/vectors/none"' in job.steps[0].command
    shown = " ".join(as_shell(step, job, PLACE) for step in job.steps)
    assert "python -m headwise train ./configs/best-lstm.toml" in shown
    for path in ("/the/data", "/the/out", "/plan.toml", str(ROOT), sys.executable):
        assert path not in shown
