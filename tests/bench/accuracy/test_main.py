"""The whole command on a few sentences: a teacher, an ensemble, a student and the report."""

import json
from pathlib import Path

import pytest

from bench.accuracy.__main__ import main
from bench.accuracy.measure import Scores
from bench.accuracy.plan import Plan
from bench.experiment.command import pending_runs
from bench.experiment.plan import Run, key_of, select_runs
from bench.experiment.results import Result, write_json


def call(plan_path: Path, data: Path, out: Path, *more: str) -> int:
    where = ["--plan", str(plan_path), "--data", str(data), "--out", str(out)]
    return main([*where, "--device", "cpu", "--side-by-side", "2", *more])


def test_from_a_teacher_to_the_report(
    plan_path: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = plan_path.read_text(encoding="utf-8")
    plan_path = tmp_path / "one-seed.toml"
    plan_path.write_text(text.replace("seeds = [1, 2]", "seeds = [1]"), encoding="utf-8")
    only = ["--only", "joined", "taught", "w*"]
    assert call(plan_path, data, tmp_path, *only) == 0
    log = capsys.readouterr().err
    assert f"skipped   wordy: no {data / 'vectors/none'}" in log
    assert "0 of 3 runs are done, 3 to do" in log
    found = json.loads((tmp_path / "taught-7.json").read_text())
    assert set(found["scores"]["int8"]) == {"dev", "test"}
    assert "teach.models=" in found["commands"]["train"]
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    for title in ("Small", "Ensemble", "Taught"):
        assert f"| {title} | words |" in report
    assert call(plan_path, data, tmp_path, *only) == 0
    assert "3 of 3 runs are done, 0 to do" in capsys.readouterr().err


def test_a_deleted_teacher_is_trained_again(plan: Plan, tmp_path: Path) -> None:
    runs = [run for run in select_runs(plan) if run.names != ("wordy",)]
    student = Run(("taught",), 7)
    for run in runs:
        if run != student:
            scores = Scores(torch={}, int8={}, machine="", n_bytes=0)
            result = Result(
                row=run.names[0],
                seed=run.seed,
                key=key_of(plan, run),
                commands={},
                seconds={},
                side_by_side=1,
                scores=scores,
            )
            write_json(run.path(tmp_path, ".json"), result)
    teachers = [Run(("small",), 1), Run(("small",), 2)]
    assert pending_runs(plan, runs, tmp_path, Scores) == [*teachers, student]
