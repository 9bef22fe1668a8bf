import json
from pathlib import Path

import pytest

from bench.paper.figures import Figure
from bench.paper.plan import Plan
from bench.paper.report import NO_READING, as_text, gather, write_report
from bench.paper.tables import Cell

GOLDEN = Path(__file__).with_name("report.md")


def test_the_report_of_made_results(out: Path, plan: Plan) -> None:
    """After a change that is meant: look at what was written, and put it in its place."""
    markdown, _ = write_report(gather(plan, out), out, [out / "figure-3.png"])
    assert markdown.read_text(encoding="utf-8") == GOLDEN.read_text(encoding="utf-8")


def test_json_holds_tables_bins_and_runs(out: Path, plan: Plan) -> None:
    _, path = write_report(gather(plan, out), out, [])
    found = json.loads(path.read_text(encoding="utf-8"))
    assert len(found["runs"]) == 10
    assert found["figure_3"]["english"]["dense"][9][0] == 50
    assert found["tables"][0]["title"] == "Table 1: training sets"


def test_a_reading_is_taken_in(out: Path, plan: Plan) -> None:
    (out / "reading.md").write_text("It is so.\n")
    markdown, _ = write_report(gather(plan, out), out, [])
    text = markdown.read_text(encoding="utf-8")
    assert "### A plain reading\n\nIt is so.\n\n### Commands" in text
    assert NO_READING not in text


def test_what_is_missing_or_of_other_settings_is_named(out: Path, plan: Plan) -> None:
    (out / "english" / "dense-2.json").unlink()
    path = out / "gothic" / "chain-1.json"
    text = path.read_text()
    path.write_text(text.replace(json.loads(text)["key"], "another"))
    markdown, _ = write_report(gather(plan, out), out, [])
    report = markdown.read_text(encoding="utf-8")
    assert "Not there yet: english/dense/2." in report
    assert "of the plan now:** gothic/chain/1." in report


def test_without_results_there_is_a_report_too(plan: Plan, tmp_path: Path) -> None:
    markdown, _ = write_report(gather(plan, tmp_path), tmp_path, [])
    assert "from 0 runs on nothing yet" in markdown.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        ("x", "x"),
        (12345, "12,345"),
        (1.234, "1.23"),
        ((1.0, 2.5), "1.00 / 2.50"),
        (Figure(1.0, None, 1), "1.00"),
        (Figure(1.0, 0.126, 3), "1.00 ± 0.13"),
        (Figure(100.0, 0.0, 3), "100.00"),
    ],
)
def test_cells_are_written_for_people(cell: Cell, text: str) -> None:
    assert as_text(cell) == text
