"""Calibration error, and the temperature that takes it away without changing a tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from headwise.evaluate.confidence import (
    MAX_TEMPERATURE,
    MIN_TEMPERATURE,
    HeadScores,
    calibration_error,
)
from headwise.settings.choices import Decoder
from headwise.trees.decode import decode_batch

Matrix = NDArray[np.float32]


def log_softmax(scores: NDArray[np.floating]) -> Matrix:
    return (scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)).astype(np.float32)


def drawn(n_sentences: int, factor: float) -> tuple[list[Matrix], list[NDArray[np.int32]]]:
    """Draw gold heads from distributions, and scale the scores by `factor`."""
    rng = np.random.default_rng(7)
    log_probs, gold = [], []
    for _ in range(n_sentences):
        true = log_softmax(rng.normal(scale=2, size=(9, 9)))
        heads = [rng.choice(9, p=row / row.sum()) for row in np.exp(true.astype(np.float64))]
        log_probs.append(log_softmax(true * factor))
        gold.append(np.array(heads, np.int32))
    return log_probs, gold


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0, 5.0])
def test_the_temperature_of_made_scores_is_found(factor: float) -> None:
    scores = HeadScores(*drawn(600, factor))
    assert scores.n_words == 4800
    assert scores.temperature() == pytest.approx(factor, rel=0.05)
    assert scores.error(factor) < 3
    if factor != 1:
        assert scores.error() > 8


@pytest.mark.parametrize(("factor", "end"), [(0.05, MIN_TEMPERATURE), (40.0, MAX_TEMPERATURE)])
def test_the_temperature_stays_within_bounds(factor: float, end: float) -> None:
    assert HeadScores(*drawn(200, factor)).temperature() == pytest.approx(end, rel=1e-3)


def test_heads_without_probability_do_not_matter() -> None:
    log_probs, gold = drawn(300, 2.0)
    for matrix, heads in zip(log_probs, gold, strict=True):
        other = (heads[1] + 1) % 9
        matrix[1, other] = -np.inf
    assert HeadScores(log_probs, gold).temperature() == pytest.approx(2, rel=0.1)


def test_words_without_a_head_are_left_out() -> None:
    log_probs, gold = drawn(50, 2.0)
    some = [np.where(np.arange(9) % 2, heads, -1).astype(np.int32) for heads in gold]
    scores = HeadScores(log_probs, some)
    assert scores.n_words == 200
    rows = [0, 1, 3, 5, 7]
    others = HeadScores([matrix[rows] for matrix in log_probs], [heads[rows] for heads in gold])
    assert scores.temperature() == others.temperature()


@pytest.mark.parametrize("n_sentences", [0, 3])
def test_without_gold_heads_nothing_changes(n_sentences: int) -> None:
    log_probs, gold = drawn(n_sentences, 2.0)
    scores = HeadScores(log_probs, [np.full_like(heads, -1) for heads in gold])
    assert (scores.temperature(), scores.error()) == (1.0, 0.0)
    assert calibration_error(np.array([]), np.array([], bool)) == 0


def test_the_error_is_a_mean_over_intervals() -> None:
    probabilities = np.array([0.62, 0.63, 0.98, 0.98, 1.0])
    is_right = np.array([True, False, True, True, True])
    # (0.62 + 0.63 - 1) + |0.98 + 0.98 + 1.0 - 3|, of five
    assert calibration_error(probabilities, is_right) == pytest.approx(100 * (0.25 + 0.04) / 5)


@given(st.integers(0, 10_000), st.floats(0.3, 5), st.sampled_from(["mst", "eisner"]))
def test_no_tree_changes(seed: int, temperature: float, decoder: Decoder) -> None:
    scores = np.random.default_rng(seed).normal(scale=3, size=(7, 7))
    matrices = [log_softmax(scores / divisor) for divisor in (1.0, temperature)]
    plain, calibrated = decode_batch(matrices, decoder, True, "log-probability")
    assert plain.heads.tolist() == calibrated.heads.tolist()
