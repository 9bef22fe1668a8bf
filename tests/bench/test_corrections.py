"""The simulated annotator: what it counts, what re-decoding changes, and what weights learn."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bench.corrections import (
    ORDERS,
    STRATEGIES,
    Annotator,
    Case,
    Strategy,
    best_tree_around,
    labels_of,
    learn,
    main,
    measure,
    measure_crossed,
)
from bench.rescoring import FEATURES, FirstTree, State, features_of, fit_weights, rescore

MASKS = np.array([False, True]), np.array([True, False])
NO_WEIGHTS = np.zeros(len(FEATURES))


def case_of(
    scores: Sequence[Sequence[float]], gold: Sequence[int], labels: Sequence[int] | None = None
) -> Case:
    """Make a sentence of scores [N, N+1]; all arcs are labelled 0, as is gold unless given."""
    n_slots = len(gold) + 1
    logits = np.vstack([np.zeros(n_slots), np.array(scores, float)])
    np.fill_diagonal(logits, -9.0)
    log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    table = np.zeros((n_slots, n_slots), np.int32)
    first = best_tree_around({}, log_probs)
    gold_labels = np.array([-1, *(labels or [0] * len(gold))], np.int32)
    tree = FirstTree(first, labels_of(table, first), *MASKS)
    return Case(
        log_probs, table, np.zeros(table.shape), np.array([0, *gold], np.int32), gold_labels, tree
    )


# The parser takes word 2 for the root, with 1 and 3 below it. Word 1 is; 2 and 3 hang on it. Word 2
# prefers ROOT by far, but 1 to 3; so once ROOT is taken, it is right.
TAKEN_ROOT = case_of([[1, 0, 2, 0], [5, 3, 0, 1], [0, 1, 4, 0]], [0, 1, 1])


@pytest.mark.parametrize("order", ORDERS)
def test_without_redecoding_every_wrong_word_is_corrected(order: str) -> None:
    effort = measure([TAKEN_ROOT], Strategy(order, "none"), None)  # type: ignore[arg-type]
    assert (effort.n_words, effort.n_corrections) == (3, 3)


@pytest.mark.parametrize("redecoding", ["tree", "projective", "joint"])
def test_redecoding_repairs_what_hangs_on_a_correction(redecoding: str) -> None:
    strategy = Strategy("left to right", redecoding)  # type: ignore[arg-type]
    effort = measure([TAKEN_ROOT], strategy, None)
    assert effort.n_corrections == 2
    assert effort.n_looked_at == 3


def test_a_wrong_label_is_a_correction_too() -> None:
    case = case_of([[9, 0, 0], [0, 9, 0]], [0, 1], labels=[0, 1])
    assert measure([case], Strategy("left to right", "tree"), None).n_corrections == 1


def test_words_that_were_accepted_stay() -> None:
    # 2 and 3 look at each other; 1 is the root. Only with 2 fixed does the answer for 3 not matter.
    case = case_of([[9, 0, 0, 0], [0, 3, 0, 2.5], [0, 1, 3, 0]], [0, 1, 1])
    annotator = Annotator(case, Strategy("left to right", "tree", accept=True), None)
    annotator.work()
    assert annotator.fixed == {1: 0, 2: 1, 3: 1}
    assert (annotator.n_corrections, annotator.n_looks) == (1, 3)
    careless = Annotator(case, Strategy("left to right", "tree"), None)
    careless.work()
    assert careless.fixed == {3: 1}


def test_a_perfect_parse_needs_no_look() -> None:
    case = case_of([[9, 0, 0], [0, 9, 0]], [0, 1])
    for strategy in STRATEGIES:
        assert measure([case], strategy, NO_WEIGHTS).n_looked_at == 0


def test_features_say_how_an_arc_is_related_to_a_correction() -> None:
    first = FirstTree(
        np.array([0, 2, 0, 2, 3], np.int32), np.array([0, 0, 0, 0, 1], np.int32), *MASKS
    )
    log_probs = np.full((5, 5), -2.0)

    def arcs(moved: dict[int, int], name: str) -> set[tuple[int, int]]:
        features = features_of(log_probs, first, moved, dict.fromkeys(moved, 0))
        found = np.argwhere(features[..., FEATURES.index(name)])
        return {(int(word), int(head)) for word, head in found}

    assert arcs({}, "follow") == set()
    assert arcs({1: 3}, "follow") >= {(3, 3)}  # and word 1 itself, which is fixed
    assert arcs({4: 1}, "follow, punctuation") == {(4, 1)}
    assert arcs({3: 0}, "under the new root") == {(1, 3), (3, 3)}
    assert arcs({3: 0}, "old root under the new") == {(2, 3)}
    assert arcs({4: 2}, "old head under the raised word") == {(3, 4)}
    assert arcs({4: 2}, "replaced") == {(1, 2), (3, 2)}
    assert arcs({4: 2}, "replaced, under the new one") == {(1, 4), (3, 4)}
    assert (2, 4) in arcs({1: 3}, "crosses")
    assert (4, 1) not in arcs({1: 3}, "crosses")
    assert arcs({1: 3}, "between") == {(2, 1), (2, 3)}


def test_weights_learn_what_corrections_tell() -> None:
    random = np.random.default_rng(1)
    states = []
    for _ in range(50):
        logits = random.normal(size=(4, 4))
        log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        features = np.zeros((4, 4, len(FEATURES)))
        features[:, 1, 0] = 1.0  # the first feature is always right, the second never
        features[:, 2, 1] = 1.0
        states.append(State(log_probs, features, np.array([0, 1, 1, 1]), np.array([2, 3])))
    weights = fit_weights(states, NO_WEIGHTS)
    assert weights[0] > 1.0
    assert weights[1] < -0.5
    assert not weights[2:].any()
    scores = rescore(states[0].log_probs, states[0].features, weights)
    assert np.exp(scores[1:]).sum(axis=1) == pytest.approx(1.0)


def test_halves_are_measured_with_the_weights_of_each_other() -> None:
    cases = [TAKEN_ROOT] * 4
    weights = learn(cases, "left to right")
    strategy = Strategy("left to right", "learned", accept=True)
    effort = measure_crossed(cases, strategy, [weights, weights])
    assert effort == measure(cases, strategy, weights)
    assert (
        effort.n_corrections < measure(cases, Strategy("left to right", "tree"), None).n_corrections
    )


def test_tables_and_results_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "corrections.json"
    pair = f"en={Path(__file__).parents[1] / 'fixtures' / 'ewt-dev-100.conllu'}"
    assert main([pair, pair, "--sentences", "4", "--out", str(out)]) == 0
    assert capsys.readouterr().out.count("| least certain first | none |") == 2
    first, second = json.loads(out.read_text())["treebanks"]
    assert len(first["results"]) == len(STRATEGIES)
    assert first["results"][0] == second["results"][0]
