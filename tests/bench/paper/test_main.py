"""The whole command on a treebank of a few sentences: trained, measured and reported."""

import json
import sys
from pathlib import Path

import pytest

from bench.paper.__main__ import main

NEEDED = ["--device", "cpu", "--threads", "1", "--cpu-side-by-side", "1"]


def call(plan_path: Path, data: Path, out: Path, *more: str) -> int:
    given = ["--plan", str(plan_path), "--data", str(data), "--out", str(out), *NEEDED]
    return main([*given, *more])


def test_train_measure_report_and_resume(
    plan_path: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = ["--only", "english/dense/1", "english/chain"]
    assert call(plan_path, data, tmp_path, *only, "--drop-models") == 0
    dense = json.loads((tmp_path / "english" / "dense-1.json").read_text())
    assert dense["scores"]["repaired"]["dev"]["tree_rate"] == 100
    assert dense["scores"]["repaired"]["dev"]["projective_rate"] == 100
    assert dense["scores"]["greedy"]["test"]["n_sentences"] == 8
    chain = json.loads((tmp_path / "english" / "chain-1.json").read_text())
    assert "greedy" not in {key for key, value in chain["scores"].items() if value}
    assert 0 < chain["scores"]["repaired"]["test"]["uas"] < 90
    assert dense["seconds"]["train"] > 0
    assert not list((tmp_path / "english").glob("*-1-*"))
    assert "DeNSe+E" in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "finished  english/dense/1" in capsys.readouterr().err

    assert call(plan_path, data, tmp_path, *only) == 0
    assert "2 of 2 runs are done, 0 to do" in capsys.readouterr().err


def test_a_missing_dataset_is_skipped_or_refused(
    plan_path: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lanes = ["--side-by-side", "0"]
    assert call(plan_path, data, tmp_path, *lanes, "--time-limit", "30") == 0
    assert "skipped   gothic/dense: no " in capsys.readouterr().err
    assert (tmp_path / "english" / "chain-1.json").exists()
    assert list((tmp_path / "english").glob("chain-1-*"))
    chosen = ["--only", "english/chain", "--drop-models"]
    assert call(plan_path, data, tmp_path, *chosen) == 0
    assert not list((tmp_path / "english").glob("chain-1-*"))
    assert call(plan_path, data, tmp_path, "--only", "gothic") == 1
    assert "bench/paper/README.md" in capsys.readouterr().err


def test_a_failure_is_reported_and_exits_with_1(
    plan_path: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.toml"
    text = plan_path.read_text(encoding="utf-8")
    broken.write_text(text.replace("import sys; from pathlib", "import nothing_at_all; from x"))
    assert call(broken, data, tmp_path, "--only", "english/chain") == 1
    found = capsys.readouterr().err
    assert "failed    english/chain/1: parse dev exited with 1; see" in found
    assert "nothing_at_all" in (tmp_path / "english" / "chain-1.log").read_text()


def test_training_needs_data_and_reporting_does_not(
    plan_path: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments = ["--plan", str(plan_path), "--out", str(tmp_path)]
    assert main(arguments) == 1
    assert "--data is missing" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "bench.paper.plots", None)
    assert main([*arguments, "--report-only"]) == 0
    captured = capsys.readouterr()
    assert "no plots" in captured.err
    assert captured.out.splitlines()[0].endswith("report.md")


def test_running_out_of_time_is_no_failure(
    plan_path: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = tmp_path / "slow.toml"
    text = plan_path.read_text(encoding="utf-8")
    slow.write_text(text.replace("import sys; open(", "import time; time.sleep(60); open("))
    only = ["--only", "english/chain", "--time-limit", "1.5"]
    assert call(slow, data, tmp_path, *only) == 0
    log = capsys.readouterr().err
    assert "time is up: 1 runs are not finished; call again" in log
    assert "cannot resume training" in log
