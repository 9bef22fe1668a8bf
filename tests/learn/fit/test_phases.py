"""The learning rate of every step, and how dev scores a network."""

from pathlib import Path

import pytest
import torch
from made_runs import CPU, changed

from headwise.learn.fit import step
from headwise.learn.fit.phases import Run, plan_adam, plan_sgd
from headwise.learn.recipe import start
from headwise.settings.recipe import Recipe


def state_of(recipe: Recipe, folder: Path, **train: object) -> Run:
    return start(changed(recipe, train={"batch_size": 8, **train}), folder, CPU)


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The learning rate of each step so far."""
    seen: list[float] = []
    set_rate = step.set_rate

    def watch(optimiser: torch.optim.Optimizer, rate: float) -> None:
        seen.append(rate)
        set_rate(optimiser, rate)

    monkeypatch.setattr(step, "set_rate", watch)
    return seen


def test_cosine_rises_for_one_epoch_and_falls_to_zero(
    full_recipe: Recipe, tmp_path: Path, rates: list[float]
) -> None:
    plan = plan_adam(state_of(full_recipe, tmp_path, adam_epochs=4))
    for epoch in range(1, 5):
        list(plan.train_epoch(epoch))
    n = len(rates) // 4
    assert n == 5
    top = full_recipe.train.adam_rate
    assert rates[: n - 1] == sorted(rates[: n - 1])
    assert rates[n:] == sorted(rates[n:], reverse=True)
    assert 0 < rates[0] < top / n
    assert top / 2 < max(rates) < top
    assert rates[2 * n - 1] == pytest.approx(top / 2)
    assert rates[-1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("warmup", "top_at"), [(0.0, 0), (2.0, 9)])
def test_warm_up_lasts_as_long_as_the_recipe_says(
    warmup: float, top_at: int, full_recipe: Recipe, tmp_path: Path, rates: list[float]
) -> None:
    plan = plan_adam(state_of(full_recipe, tmp_path, adam_epochs=1000, warmup=warmup))
    for epoch in range(1, 4):
        list(plan.train_epoch(epoch))
    assert rates.index(max(rates)) == top_at
    assert max(rates) == pytest.approx(full_recipe.train.adam_rate, rel=1e-4)


def test_constant_rates_are_those_of_the_recipe(
    full_recipe: Recipe, tmp_path: Path, rates: list[float]
) -> None:
    state = state_of(full_recipe, tmp_path, schedule="constant", sgd_epochs=1, sgd_rate=0.007)
    for plan in (plan_adam(state), plan_sgd(state)):
        list(plan.train_epoch(1))
    assert set(rates[:5]) == {full_recipe.train.adam_rate}
    assert set(rates[5:]) == {0.007}


@pytest.mark.parametrize(("epochs", "has_las"), [(0, True), (2, False)])
def test_labels_are_scored_with_heads_if_no_phase_of_labels_follows(
    epochs: int, has_las: bool, full_recipe: Recipe, tmp_path: Path
) -> None:
    recipe = changed(full_recipe, label={"epochs": epochs})
    scores = plan_adam(state_of(recipe, tmp_path)).score()
    assert (scores.las is not None) == has_las
    assert set(scores.tags) == {"upos", "xpos"}
    assert all(0 <= score <= 100 for score in scores.tags.values())
