"""Greedy selection, and repair of exactly what needs it."""

import numpy as np
import pytest
from brute_force import best_total, random_projective_heads, total
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.settings.choices import ArcWeights, Decoder
from headwise.trees.decode import Tree, decode_batch, greedy
from headwise.trees.tree import ScoreMatrix, is_projective, is_tree, n_roots


def decode(
    log_probs: ScoreMatrix, decoder: Decoder, single_root: bool, weights: ArcWeights
) -> Tree:
    return decode_batch([log_probs], decoder, single_root, weights)[0]


def random_log_probs(seed: int, n_words: int, sharpness: float = 1.0) -> np.ndarray:
    """Return log-softmax rows in float32, as a model does, with -inf in row 0."""
    logits = np.random.default_rng(seed).normal(size=(n_words + 1, n_words + 1)) * sharpness
    log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    log_probs[0] = -np.inf
    return log_probs.astype(np.float32)


def log_probs_choosing(heads: list[int]) -> np.ndarray:
    """Return log-probabilities whose argmax is `heads`, ROOT's own entry included."""
    log_probs = random_log_probs(0, len(heads) - 1)
    log_probs[np.arange(len(heads)), heads] = 0.0
    return log_probs


def needs_repair(heads: np.ndarray, decoder: str, single_root: bool) -> bool:
    bad_roots = single_root and n_roots(heads) != 1
    crossing = decoder == "eisner" and not is_projective(heads)
    return bad_roots or crossing or not is_tree(heads)


def test_greedy_is_argmax_over_all_slots_and_may_choose_itself() -> None:
    log_probs = np.log(np.array([[0.1, 0.9, 0.0], [0.2, 0.5, 0.3], [0.4, 0.3, 0.3]]) + 1e-9)
    heads = greedy(log_probs)
    assert heads.tolist() == [0, 1, 0]
    assert heads.dtype == np.int32


def test_worked_example() -> None:
    log_probs = np.array([[0, 0, 0], [-3, -9, -1], [-2, -1, -9]], dtype=np.float32)
    for decoder in ("mst", "eisner"):
        tree = decode(log_probs, decoder, False, "log-probability")
        assert (tree.heads.tolist(), tree.how) == ([0, 2, 0], decoder)
    tree = decode(log_probs, "greedy", False, "log-probability")
    assert (tree.heads.tolist(), tree.how) == ([0, 2, 1], "greedy")


@pytest.mark.parametrize("weights", ["log-probability", "probability"])
@pytest.mark.parametrize("decoder", ["mst", "eisner"])
def test_repair_finds_the_best_tree_by_the_weights_asked_for(
    decoder: Decoder, weights: ArcWeights
) -> None:
    for seed in range(30):
        log_probs = random_log_probs(seed, 5)
        log_probs[0] = 0.0
        scores = np.exp(log_probs, dtype=np.float64) if weights == "probability" else log_probs
        tree = decode(log_probs, decoder, True, weights)
        if tree.how != "greedy":
            expected = best_total(scores, single_root=True, projective=decoder == "eisner")
            assert total(scores, tree.heads) == pytest.approx(expected)


def test_the_two_weights_can_disagree() -> None:
    log_probs = np.log([[1.0, 1.0, 1.0], [0.01, 0.49, 0.50], [0.02, 0.98, 1e-9]])
    # 1 from ROOT: 0.01 + 0.98 and 0.01 * 0.98; 2 from ROOT: 0.50 + 0.02 and 0.50 * 0.02.
    assert decode(log_probs, "mst", True, "probability").heads.tolist() == [0, 0, 1]
    assert decode(log_probs, "mst", True, "log-probability").heads.tolist() == [0, 2, 0]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    n_words=st.integers(0, 12),
    decoder=st.sampled_from(["mst", "eisner"]),
    single_root=st.booleans(),
    is_planted=st.booleans(),
)
def test_greedy_trees_are_untouched_and_all_else_becomes_one(
    seed: int, n_words: int, decoder: Decoder, single_root: bool, is_planted: bool
) -> None:
    log_probs = random_log_probs(seed, n_words)
    log_probs[1:, 0] += 1.0
    if is_planted:
        heads = random_projective_heads(seed, n_words, single_root)
        log_probs[np.arange(n_words + 1), heads] += 20.0
    tree = decode(log_probs, decoder, single_root, "log-probability")
    if n_words > 0 and needs_repair(greedy(log_probs), decoder, single_root):
        assert tree.how == decoder
        assert not needs_repair(tree.heads, decoder, single_root)
    else:
        assert tree.how == "greedy"
        assert tree.heads.tolist() == greedy(log_probs).tolist()


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("decoder", ["greedy", "mst", "eisner"])
def test_batch_equals_one_by_one(decoder: Decoder, single_root: bool) -> None:
    lengths = [0, 30, 1, 7, 2, 31, 8, 60, 33, 9, 0, 5, 29]
    matrices = [random_log_probs(seed, n) for seed, n in enumerate(lengths)]
    alone = [decode(matrix, decoder, single_root, "probability") for matrix in matrices]
    for n_cells in (1, 2500, 10**6):
        together = decode_batch(matrices, decoder, single_root, "probability", n_cells)
        assert [t.heads.tolist() for t in together] == [t.heads.tolist() for t in alone]
        assert [t.how for t in together] == [t.how for t in alone]


@pytest.mark.parametrize(
    ("n_cells", "expected"),
    [
        (5000, [(10, 11, 11)] + [(2, 41, 41)] * 5 + [(1, 100, 100)]),
        (10**6, [(10, 11, 11), (10, 41, 41), (1, 100, 100)]),
    ],
)
def test_eisner_batches_are_bounded_and_of_similar_length(
    n_cells: int, expected: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = []

    def record(scores: np.ndarray, lengths: np.ndarray, single_root: bool) -> list[np.ndarray]:
        shapes.append(scores.shape)
        return [np.zeros(n + 1, dtype=np.int32) for n in lengths]

    monkeypatch.setattr("headwise.trees.decode.best_projective_trees", record)
    matrices = [log_probs_choosing([0, *range(1, n + 1)]) for n in [10, 40] * 10 + [99]]
    decode_batch(matrices, "eisner", True, "log-probability", n_cells)
    assert shapes == expected


@pytest.mark.parametrize("decoder", ["greedy", "mst", "eisner"])
def test_no_words_give_an_empty_tree(decoder: Decoder) -> None:
    tree = decode(np.full((1, 1), -np.inf), decoder, True, "probability")
    assert (tree.heads.tolist(), tree.how) == ([0], "greedy")
    assert decode_batch([], decoder, True, "probability") == []


@pytest.mark.parametrize("decoder", ["greedy", "mst", "eisner"])
@pytest.mark.parametrize("weights", ["log-probability", "probability"])
def test_row_zero_may_hold_anything_and_matrices_stay(
    decoder: Decoder, weights: ArcWeights
) -> None:
    expected = decode(log_probs_choosing([0, 2, 1, 2]), decoder, True, weights).heads.tolist()
    for value in (1e4, np.nan, np.inf):
        matrix = log_probs_choosing([0, 2, 1, 2])
        matrix[0] = value
        before = matrix.copy()
        matrix.flags.writeable = False
        assert decode(matrix, decoder, True, weights).heads.tolist() == expected
        np.testing.assert_array_equal(matrix, before)


@pytest.mark.parametrize("shape", [(3, 4), (3,), (0, 0), (2, 2, 2)])
def test_refuses_a_matrix_that_is_not_square(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"head_log_probs\[0\]: shape is \[.*must be \[N\+1, N"):
        decode(np.zeros(shape), "greedy", False, "log-probability")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_refuses_values_that_are_not_finite(value: float) -> None:
    good, bad = random_log_probs(0, 4), random_log_probs(0, 4)
    bad[2, 3] = value
    with pytest.raises(ValueError, match=r"head_log_probs\[1\]: value at \[2, 3\] is -?(nan|inf)"):
        decode_batch([good, bad], "eisner", False, "log-probability")


def test_refuses_probabilities_above_one() -> None:
    scores = np.full((3, 3), 5.0)
    assert is_tree(decode(scores, "mst", True, "log-probability").heads)
    with pytest.raises(ValueError, match=r"largest value is 5\.0.*\nhint: "):
        decode(scores, "mst", True, "probability")
