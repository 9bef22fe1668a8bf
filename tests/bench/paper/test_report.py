"""The committed report is reproduced from the committed results."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.experiment.tables import Average
from bench.paper.__main__ import main
from bench.paper.plan import PLAN_PATH, read_plan
from bench.paper.report import NO_READING, gather, report
from bench.paper.tables import average_of, by_length, claims, gain, lead_over_others

PLAN = read_plan(PLAN_PATH)
Check = Callable[[Path, Callable[[], int]], bool]


@pytest.fixture
def out(results: Path) -> Path:
    return results / "paper"


def test_the_committed_report_is_reproduced(out: Path, reproduces: Check) -> None:
    assert reproduces(out, lambda: main(["--out", str(out), "--report-only"]))


def test_missing_and_outdated_runs_are_listed(out: Path) -> None:
    (out / "ewt/dense-2.json").unlink()
    (out / "reading.md").unlink()
    path = out / "gothic/dense-1.json"
    path.write_text(path.read_text().replace(json.loads(path.read_text())["key"], "another"))
    markdown, _ = report(gather(PLAN, out), out, [])
    text = markdown.read_text(encoding="utf-8")
    assert "ewt/dense/2" in next(line for line in text.splitlines() if "Not there yet:" in line)
    assert "gothic/dense/1" in next(line for line in text.splitlines() if "**Made with" in line)
    assert NO_READING in text


def test_a_report_without_results(tmp_path: Path) -> None:
    markdown, _ = report(gather(PLAN, tmp_path), tmp_path, [])
    assert "from 0 runs on nothing yet" in markdown.read_text(encoding="utf-8")


def test_scores_are_averaged_over_seeds(out: Path) -> None:
    findings = gather(PLAN, out)
    dense = findings.of("ewt", "dense")
    repaired = average_of(dense, "repaired", "test", "uas")
    greedy = average_of(dense, "greedy", "test", "uas")
    added = gain(dense, "test", "uas")
    assert isinstance(repaired, Average)
    assert greedy
    assert added
    assert added.mean == pytest.approx(repaired.mean - greedy.mean, abs=1e-3)
    assert repaired.n == 3
    assert average_of(findings.of("ewt", "udpipe-swap"), "greedy", "dev", "uas") is None
    assert len(by_length(dense)) == 10
    assert by_length([]) == []


def test_claims_without_results_are_blank(out: Path) -> None:
    for path in (out / "ewt").glob("dense-[123].json"):
        path.unlink()
    findings = gather(PLAN, out)
    assert claims(findings).rows[0][1] is None
    assert lead_over_others(findings, "ewt") == (None, None)
