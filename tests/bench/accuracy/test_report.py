"""The committed report is reproduced from the committed results."""

import json
from collections.abc import Callable
from pathlib import Path

from bench.accuracy.__main__ import main
from bench.accuracy.plan import PLAN_PATH, Plan, read_plan
from bench.accuracy.report import gather, main_table, other_tests, report
from bench.experiment.tables import Average

Check = Callable[[Path, Callable[[], int]], bool]


def test_the_committed_report_is_reproduced(results: Path, reproduces: Check) -> None:
    out, peers = str(results / "accuracy"), [str(results / "paper"), str(results / "peers")]
    arguments = ["--out", out, "--peers", *peers, "--report-only"]
    assert reproduces(results / "accuracy", lambda: main(arguments))


def test_other_parsers_come_before_our_rows(results: Path) -> None:
    findings = gather(read_plan(PLAN_PATH), results / "accuracy", [results / "paper"])
    ewt = [row for row in main_table(findings).rows if row[0] == "UD_English-EWT"]
    assert [row[1] for row in ewt[:3]] == [
        "UDPipe 1, projective", "UDPipe 1, swap", "DeNSe, the paper's recipe",
    ]  # fmt: skip
    udpipe, _, dense, ours = ewt[:4]
    assert udpipe[8:10] == dense[6:8] == (None, None)
    assert all(isinstance(cell, Average) for cell in (*udpipe[6:8], *dense[8:10], *ours[4:11]))
    titles = {row[0] for row in other_tests(findings).rows}
    assert titles == {"UD_English-GUM", "UD_English-PUD"}


def test_missing_and_outdated_runs_are_listed(results: Path) -> None:
    out = results / "accuracy"
    (out / "gothic-2.json").unlink()
    path = out / "gothic-1.json"
    path.write_text(path.read_text().replace(json.loads(path.read_text())["key"], "another"))
    markdown, _ = report(gather(read_plan(PLAN_PATH), out, []), out)
    lines = markdown.read_text(encoding="utf-8").splitlines()
    assert "gothic/2" in next(line for line in lines if line.startswith("Not there yet:"))
    assert "gothic/1" in next(line for line in lines if line.startswith("**Made with"))


def test_a_report_without_results(plan: Plan, tmp_path: Path) -> None:
    markdown, _ = report(gather(plan, tmp_path, []), tmp_path)
    assert "### Accuracy" not in markdown.read_text(encoding="utf-8")
