"""Eq. 5 and 6 without a tanh are Eq. 5 and 6."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.runtime import pairs
from headwise.runtime.pairs import exponentials, head_log_probs


def by_the_equation(heads: np.ndarray, dependents: np.ndarray, v_a: np.ndarray) -> np.ndarray:
    pair = np.tanh(dependents[:, None].astype(np.float64) + heads[None])
    scores = pair @ v_a.astype(np.float64)
    return scores - np.log(np.exp(scores).sum(1, keepdims=True))


@settings(derandomize=True, database=None, max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 30), st.floats(0.01, 8.0), st.integers(0, 1_000_000))
def test_it_is_the_equation(n_slots: int, k: int, scale: float, seed: int) -> None:
    draw = np.random.default_rng(seed)
    heads, dependents = draw.normal(scale=scale, size=(2, n_slots, k)).astype(np.float32)
    v_a = draw.normal(size=k).astype(np.float32)
    both = exponentials(np.concatenate([2 * heads, -2 * dependents], axis=1))
    found = head_log_probs(both, v_a)
    assert found.dtype == np.float32
    expected = by_the_equation(heads, dependents, v_a)
    np.testing.assert_allclose(found[1:], expected[1:], atol=2e-4)
    np.testing.assert_allclose(np.exp(found[0]), 1 / n_slots, rtol=1e-5)  # never read


def test_the_example() -> None:
    both = exponentials(np.zeros((4, 2), np.float32))
    found = head_log_probs(both, np.ones(1, np.float32))
    np.testing.assert_allclose(found, np.full((4, 4), np.log(0.25)), rtol=1e-6)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    both = exponentials(np.random.default_rng(1).normal(size=(50, 14)).astype(np.float32))
    v_a = np.linspace(-1, 1, 7, dtype=np.float32)
    whole = head_log_probs(both, v_a)
    monkeypatch.setattr(pairs, "_ONE_THREAD", 7 * 9)
    monkeypatch.setattr(pairs, "_BLOCK_BYTES", 4 * 7 * 9 * 4)
    np.testing.assert_allclose(head_log_probs(both, v_a), whole, atol=1e-5)


def test_values_of_any_size_give_probabilities() -> None:
    huge = np.array([[1e30, -1e30], [-1e30, 1e30], [90, 90], [-90, -90]], np.float32)
    found = head_log_probs(exponentials(huge), np.ones(1, np.float32))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.exp(found).sum(1), 1, rtol=1e-5)
