from pathlib import Path

import pytest

from bench.experiment.tables import Average
from bench.paper.plan import Plan
from bench.paper.report import gather
from bench.paper.tables import (
    all_tables,
    average_of,
    by_length,
    claims,
    gain,
    lead_over_others,
)


def test_scores_are_averaged_over_seeds(out: Path, plan: Plan) -> None:
    findings = gather(plan, out)
    dense = average_of(findings.of("english", "dense"), "repaired", "dev", "uas")
    assert dense is not None
    assert (dense.mean, dense.n) == (pytest.approx(88.375), 2)
    assert average_of(findings.of("english", "chain"), "greedy", "dev", "uas") is None


def test_the_gain_of_repair_is_computed_model_by_model(out: Path, plan: Plan) -> None:
    assert gain(gather(plan, out).of("english", "dense"), "test", "uas") == Average(0.25, 0.0, 2)


def test_tables_are_in_the_order_of_the_paper(out: Path, plan: Plan) -> None:
    titles = [table.title.split(":")[0] for table in all_tables(gather(plan, out))]
    assert titles == ["Table 1", "Table 2", "Table 4", "Table 5", "Table 6"]


def test_every_row_has_a_cell_for_each_column(out: Path, plan: Plan) -> None:
    findings = gather(plan, out)
    for table in [*all_tables(findings), claims(findings)]:
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_only_the_papers_systems_have_published_scores(out: Path, plan: Plan) -> None:
    table_2 = all_tables(gather(plan, out))[1]
    beside = {row[1]: row[-3:] for row in table_2.rows}
    assert beside["DeNSe+E"] == ("PTB", (94.30, 91.95), (94.10, 91.90))
    assert beside["DeNSe-Pei"] == ("PTB", (90.77, 88.35), (90.39, 88.05))
    assert beside["Chain"] == (None, None, None)


def test_non_projective_datasets_are_repaired_by_chu_liu_edmonds(out: Path, plan: Plan) -> None:
    table_5 = all_tables(gather(plan, out))[3]
    assert [row[1] for row in table_5.rows] == [
        "DeNSe-Pei",
        "DeNSe-Pei+CLE",
        "DeNSe",
        "DeNSe+CLE",
        "Chain",
    ]


def test_claims_are_differences(out: Path, plan: Plan) -> None:
    english, gothic = claims(gather(plan, out)).rows
    assert english[:3] == ("English", 8.0, 3.63)
    assert english[3:5] == (Average(0.25, 0.0, 2), 0.08)
    assert gothic[-2:] == (pytest.approx(4.125), pytest.approx(4.125))


def test_claims_without_results_are_blank(out: Path, plan: Plan) -> None:
    for path in (out / "english").glob("dense-[12].json"):
        path.unlink()
    findings = gather(plan, out)
    assert claims(findings).rows[0][1] is None
    assert lead_over_others(findings, "english") == (None, None)


def test_bins_without_scored_words_have_no_average(out: Path, plan: Plan) -> None:
    bins = by_length(gather(plan, out).of("english", "dense"))
    assert bins[0] == (5, None)
    assert bins[9][1] is not None
    assert len(bins) == 10
    assert by_length([]) == []
