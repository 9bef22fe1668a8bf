import json
from pathlib import Path

from bench.accuracy.plan import Plan
from bench.accuracy.report import gather, main_table, other_tests, report
from bench.experiment.results import Result, write_json
from bench.experiment.tables import Average
from bench.paper.scores import Output, PartScores, Scores


def peer(out: Path, system: str, las: float) -> None:
    part = PartScores(
        n_sentences=1, n_words=1, uas=1, las=1, uem=1, lem=1, label_accuracy=1, tree_rate=1,
        projective_rate=1, all_words=(las + 3, las), bins=(),
    )  # fmt: skip
    scores = Scores(repaired=Output(dev=part, test=part), machine="m", versions={})
    result = Result(
        dataset="english", system=system, seed=1, key="k", commands={}, seconds={},
        side_by_side=1, scores=scores,
    )  # fmt: skip
    write_json(out / "english" / f"{system}-1.json", result)


def test_other_parsers_come_before_our_rows(out: Path, plan: Plan, tmp_path: Path) -> None:
    peer(tmp_path / "peers", "udpipe-swap", 70.0)
    peer(tmp_path / "peers", "dense", 72.0)
    rows = main_table(gather(plan, out, [tmp_path / "peers"])).rows
    assert [row[1] for row in rows] == [
        "UDPipe 1, swap", "DeNSe, the paper's recipe", "Small", "Both", "Ensemble", "Taught",
    ]  # fmt: skip
    swap, dense, small = rows[:3]
    assert swap[6:10] == (Average(73.0, None, 1), Average(70.0, None, 1), None, None)
    assert dense[6:10] == (None, None, Average(75.0, None, 1), Average(72.0, None, 1))
    assert small[3] == 2
    assert small[4] == Average(81.25, 1.0607, 2)
    assert small[10] == Average(0.25, 0.0, 2)
    assert small[11:] == ("50.0 / 40.0", 3.0)


def test_other_tests_have_a_table_of_their_own(out: Path, plan: Plan) -> None:
    rows = other_tests(gather(plan, out, [])).rows
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("More", "Both", 2),
        ("More", "Ensemble", 1),
    ]


def test_missing_and_outdated_runs_are_listed(out: Path, plan: Plan) -> None:
    path = out / "small-2.json"
    content = path.read_text()
    path.write_text(content.replace(json.loads(content)["key"], "another"))
    markdown, data = report(gather(plan, out, []), out)
    text = markdown.read_text(encoding="utf-8")
    assert "Not there yet: wordy/1." in text
    assert "settings than those of the plan now:** small/2." in text
    assert "| English | Small | words | 2 | 81.25 ± 1.06 |" in text
    assert json.loads(data.read_text())["runs"]["small"][0]["seed"] == 1


def test_a_report_without_results(plan: Plan, tmp_path: Path) -> None:
    markdown, _ = report(gather(plan, tmp_path, []), tmp_path)
    assert "### Accuracy" not in markdown.read_text(encoding="utf-8")
