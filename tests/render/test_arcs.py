"""The arcs of a picture."""

import math

import pytest
from render.made_sentences import KIDS, parse_of, sentence

from headwise import Parse
from headwise.render.arcs import Arc, arcs_of, percent


def test_arcs_come_from_the_columns() -> None:
    assert arcs_of(sentence(KIDS)) == (
        Arc(1, 2, "nsubj", None),
        Arc(2, 0, "root", None),
        Arc(3, 2, "obj", None),
    )


def test_arcs_of_a_parse_have_probabilities_and_win_over_the_columns() -> None:
    made = sentence("Kids/NOUN/_/_ love/VERB/_/_ candy/NOUN/_/_")
    log_probs = (math.log(0.25), 1e-7, math.nan)
    arcs = arcs_of(made, Parse((2, 0, 2), ("nsubj", "root", "obj"), log_probs, "greedy"))
    assert [(a.head, a.label) for a in arcs] == [(2, "nsubj"), (0, "root"), (2, "obj")]
    assert [arc.probability for arc in arcs] == [pytest.approx(0.25), 1.0, None]
    assert [arc.is_unsure for arc in arcs] == [True, False, False]


def test_arcs_without_two_ends_are_not_drawn() -> None:
    heads = (None, 2, 0, 1)
    arcs = [Arc(position, head, "dep", None) for position, head in enumerate(heads, 1)]
    assert [arc.is_drawn for arc in arcs] == [False, False, True, True]
    assert arcs[3].span == (1, 4)


def test_a_parse_of_another_sentence_is_refused() -> None:
    with pytest.raises(ValueError, match="3 heads for 1 words"):
        arcs_of(sentence("a/X/0/root"), parse_of(sentence(KIDS), [1, 1, 1]))


@pytest.mark.parametrize(
    ("probability", "shown"),
    [(0.0, "0%"), (0.29, "29%"), (0.4999, "49%"), (0.999, "99%"), (1, "99%")],
)
def test_percent_rounds_down_and_never_claims_certainty(probability: float, shown: str) -> None:
    assert percent(probability) == shown
