import sys
from pathlib import Path

from bench.jobs import Place, as_shell
from bench.paper.plan import ROOT, Plan, Run
from bench.paper.steps import describe_job, job_of

PLACE = Place(Path("/plan.toml"), Path("/the/data"), Path("/the/out"), "cpu", "float32", 2)


def test_a_run_of_ours_is_trained_and_measured(plan: Plan) -> None:
    job = job_of(plan, Run("gothic", "dense", 2), PLACE)
    assert [step.name for step in job.steps] == ["train", "measure"]
    train = job.steps[0].command
    assert train[:4] == (sys.executable, "-m", "headwise", "train")
    assert train[4] == str(ROOT / "configs/paper-ewt.toml")
    assert train[train.index("--seed") + 1] == "2"
    assert train[-1] == 'model.vectors="/the/data/vectors/gothic"'
    assert job.lane == "device"
    assert job.folder.name.startswith("dense-2-")
    assert job.log_path == Path("/the/out/gothic/dense-2.log")


def test_an_outside_parser_gets_its_commands_filled(plan: Plan) -> None:
    job = job_of(plan, Run("english", "chain", 1), PLACE)
    names = [step.name for step in job.steps]
    assert names == ["plain", "train", "parse dev", "parse test", "measure"]
    assert job.lane == "cpu"
    assert job.steps[1].command[-2:] == (str(job.folder / "outside.model"), "a=1;b=2")
    assert job.steps[3].command[-2:] == (
        str(job.folder / "test.input.conllu"),
        str(job.folder / "test.parsed.conllu"),
    )
    assert job.steps[4].command[-1] == "--parsed"


def test_commands_for_people_name_no_machine(plan: Plan) -> None:
    job = job_of(plan, Run("gothic", "dense", 1), PLACE)
    shown = " ".join(as_shell(step, job, PLACE) for step in job.steps)
    assert "python -m headwise train ./configs/paper-ewt.toml" in shown
    assert "--out RUN" in shown
    for path in ("/the/data", "/the/out", "/plan.toml", str(ROOT), sys.executable):
        assert path not in shown


def test_counting_a_treebank_is_a_job(plan: Plan) -> None:
    job = describe_job("english", PLACE)
    assert job.steps[0].output == Path("/the/out/english/treebank.json")
