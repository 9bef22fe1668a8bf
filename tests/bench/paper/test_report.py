import json
from pathlib import Path

from bench.paper.plan import Plan
from bench.paper.report import NO_READING, gather, report

GOLDEN = Path(__file__).with_name("report.md")


def test_the_report_is_as_expected(out: Path, plan: Plan) -> None:
    """After an intended change, check the new report and copy it over `report.md`."""
    markdown, _ = report(gather(plan, out), out, [out / "figure-3.png"])
    assert markdown.read_text(encoding="utf-8") == GOLDEN.read_text(encoding="utf-8")


def test_json_holds_tables_bins_and_runs(out: Path, plan: Plan) -> None:
    _, path = report(gather(plan, out), out, [])
    found = json.loads(path.read_text(encoding="utf-8"))
    assert len(found["runs"]) == 10
    assert found["figure_3"]["english"]["dense"][9][0] == 50
    assert found["tables"][0]["title"] == "Table 1: training sets"


def test_the_reading_is_included(out: Path, plan: Plan) -> None:
    (out / "reading.md").write_text("It is so.\n")
    markdown, _ = report(gather(plan, out), out, [])
    text = markdown.read_text(encoding="utf-8")
    assert "### A plain reading\n\nIt is so.\n\n### Commands" in text
    assert NO_READING not in text


def test_missing_and_outdated_runs_are_listed(out: Path, plan: Plan) -> None:
    (out / "english" / "dense-2.json").unlink()
    path = out / "gothic" / "chain-1.json"
    text = path.read_text()
    path.write_text(text.replace(json.loads(text)["key"], "another"))
    markdown, _ = report(gather(plan, out), out, [])
    text = markdown.read_text(encoding="utf-8")
    assert "Not there yet: english/dense/2." in text
    assert "of the plan now:** gothic/chain/1." in text


def test_a_report_without_results(plan: Plan, tmp_path: Path) -> None:
    markdown, _ = report(gather(plan, tmp_path), tmp_path, [])
    assert "from 0 runs on nothing yet" in markdown.read_text(encoding="utf-8")
