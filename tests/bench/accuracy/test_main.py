"""The whole bench on a few sentences: trains, joins, teaches, measures, reports."""

import json
from pathlib import Path

import pytest

from bench.accuracy.__main__ import main, to_do
from bench.accuracy.plan import Plan, Run, runs_of


def call(plan_path: Path, data: Path, out: Path, *more: str) -> int:
    where = ["--plan", str(plan_path), "--data", str(data), "--out", str(out)]
    return main([*where, "--device", "cpu", "--side-by-side", "2", *more])


def test_everything_from_two_teachers_to_the_table(
    plan_path: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = ["--only", "joined", "taught", "wordy"]
    assert call(plan_path, data, tmp_path, *only) == 0
    said = capsys.readouterr().err
    assert f"passed over: wordy: no {data / 'vectors/none'}" in said
    assert "0 of 4 runs are done, 4 to do" in said
    found = json.loads((tmp_path / "taught-7.json").read_text())
    assert set(found["scores"]["int8"]) == {"dev", "test"}
    assert "teach.models=" in found["commands"]["train"]
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    for title in ("Small", "Ensemble", "Taught"):
        assert f"| {title} | words |" in report
    assert call(plan_path, data, tmp_path, *only) == 0
    assert "4 of 4 runs are done, 0 to do" in capsys.readouterr().err


def test_the_time_limit_ends_it_well(
    plan_path: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(plan_path, data, tmp_path, "--only", "taught", "--time-limit", "0") == 0
    assert "time is up: 3 runs are not finished; call again" in capsys.readouterr().err


def test_what_a_student_needs_is_made_again_if_it_is_gone(out: Path, plan: Plan) -> None:
    (out / "taught-7.json").unlink()
    runs = [run for run in runs_of(plan) if run.row != "wordy"]
    assert to_do(plan, runs, out) == [Run("small", 1), Run("small", 2), Run("taught", 7)]


def test_data_is_needed_but_for_the_report(
    plan_path: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--plan", str(plan_path), "--out", str(out)]
    assert main(where) == 1
    assert "--data is missing" in capsys.readouterr().err
    assert main([*where, "--report-only"]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("report.md")
