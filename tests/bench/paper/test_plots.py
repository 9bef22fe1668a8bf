from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from bench.paper.plan import PLAN_PATH, read_plan
from bench.paper.plots import draw_figure_3
from bench.paper.report import gather


def test_figure_3_is_drawn_the_same_each_time(results: Path, tmp_path: Path) -> None:
    findings = gather(read_plan(PLAN_PATH), results / "paper")
    png, svg = draw_figure_3(findings, tmp_path)
    assert png.read_bytes().startswith(b"\x89PNG")
    first = svg.read_bytes()
    assert b"<svg" in first
    draw_figure_3(findings, tmp_path)
    assert svg.read_bytes() == first
