from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.paper.figures import Figure, figure, gain, summarise
from bench.paper.plan import Plan
from bench.paper.report import gather


def test_one_seed_has_no_spread() -> None:
    assert summarise([]) is None
    assert summarise([2.0]) == Figure(2.0, None, 1)
    assert summarise([1.0, 3.0]) == Figure(2.0, 1.4142, 2)


@given(st.lists(st.floats(0, 100), min_size=1))
def test_a_mean_lies_between_its_values(values: list[float]) -> None:
    found = summarise(values)
    assert found is not None
    assert min(values) - 1e-4 <= found.mean <= max(values) + 1e-4


def test_scores_are_averaged_over_seeds(out: Path, plan: Plan) -> None:
    findings = gather(plan, out)
    dense = findings.of("english", "dense")
    found = figure(dense, "repaired", "dev", "uas")
    assert found is not None
    assert (found.mean, found.n) == (pytest.approx(88.375), 2)
    assert figure(findings.of("english", "chain"), "greedy", "dev", "uas") is None


def test_what_repair_adds_is_compared_model_by_model(out: Path, plan: Plan) -> None:
    found = gain(gather(plan, out).of("english", "dense"), "test", "uas")
    assert found == Figure(0.25, 0.0, 2)
