from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from bench.paper.plan import Plan
from bench.paper.plots import draw_figure_3
from bench.paper.report import gather


def test_figure_3_is_drawn_the_same_each_time(out: Path, plan: Plan) -> None:
    findings = gather(plan, out)
    png, svg = draw_figure_3(findings, out)
    assert png.read_bytes().startswith(b"\x89PNG")
    first = svg.read_bytes()
    assert b"<svg" in first
    draw_figure_3(findings, out)
    assert svg.read_bytes() == first


def test_without_results_there_is_no_figure(plan: Plan, tmp_path: Path) -> None:
    assert draw_figure_3(gather(plan, tmp_path), tmp_path) == []


def test_panels_that_are_not_needed_stay_empty(out: Path, plan: Plan) -> None:
    for path in (out / "gothic").glob("*.json"):
        path.unlink()
    assert len(draw_figure_3(gather(plan, out), out)) == 2
