"""Arcs, text and the lines around the words."""

import math
from io import BytesIO

import pytest
from render.made_sentences import KIDS, parse_of, sentence

from headwise import Parse, read_sentences, sentence_from_words
from headwise.render.arcs import Arc, arcs_of, comments_of, other_lines, percent, text_of


def test_arcs_come_from_the_columns() -> None:
    assert arcs_of(sentence(KIDS)) == (
        Arc(1, 2, "nsubj", None),
        Arc(2, 0, "root", None),
        Arc(3, 2, "obj", None),
    )


def test_arcs_of_a_parse_have_probabilities_and_win_over_the_columns() -> None:
    made = sentence("Kids/NOUN/_/_ love/VERB/_/_")
    arcs = arcs_of(made, Parse((2, 0), ("nsubj", "root"), (math.log(0.25), 1e-7), "greedy"))
    assert [(arc.head, arc.label) for arc in arcs] == [(2, "nsubj"), (0, "root")]
    assert arcs[0].probability == pytest.approx(0.25)
    assert arcs[1].probability == 1.0
    assert [arc.is_unsure for arc in arcs] == [True, False]


@pytest.mark.parametrize("head", ["_", "3", "x", "-1", "٢", "9" * 5000])
def test_a_head_that_names_no_word_is_unknown(head: str) -> None:
    made = sentence_from_words([("a", head), ("b", "0")], ["form", "head"])
    assert [arc.head for arc in arcs_of(made)] == [None, 0]


def test_arcs_without_two_ends_are_not_drawn() -> None:
    heads = (None, 2, 0, 1)
    arcs = [Arc(position, head, "dep", None) for position, head in enumerate(heads, 1)]
    assert [arc.is_drawn for arc in arcs] == [False, False, True, True]
    assert arcs[3].span == (1, 4)


def test_a_probability_that_is_no_number_is_unknown() -> None:
    made = sentence("a/X/0/root")
    (arc,) = arcs_of(made, Parse((0,), ("root",), (math.nan,), "greedy"))
    assert arc.probability is None
    assert not arc.is_unsure


def test_a_parse_of_another_sentence_is_refused() -> None:
    with pytest.raises(ValueError, match="3 heads for 1 words"):
        arcs_of(sentence("a/X/0/root"), parse_of(sentence(KIDS), [1, 1, 1]))


@pytest.mark.parametrize(
    ("probability", "shown"),
    [(0.0, "0%"), (0.29, "29%"), (0.4999, "49%"), (0.999, "99%"), (1, "99%")],
)
def test_percent_rounds_down_and_never_claims_certainty(probability: float, shown: str) -> None:
    assert percent(probability) == shown


CONTRACTED = """# sent_id = 1
#text=
1\tNo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\t,\t_\t_\t_\t_\t_\t_\t_\t_
3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
3\tdo\t_\t_\t_\t_\t_\t_\t_\t_
4\tn't\t_\t_\t_\t_\t_\t_\t_\t_
4.1\tgo\t_\t_\t_\t_\t_\t_\t3:dep\t_
5\t!\t_\t_\t_\t_\t_\t_\t_\tGloss=x|SpaceAfter=No
"""


def test_text_is_put_together_from_words_and_ranges() -> None:
    (made,) = read_sentences(BytesIO(CONTRACTED.encode()))
    assert text_of(made) == "No, don't!"
    assert comments_of(made) == ["sent_id = 1", "text="]
    assert [(row, word.id) for row, word in other_lines(made)] == [(4, "3-4"), (7, "4.1")]


def test_text_of_the_comment_is_taken_as_it_stands() -> None:
    (made,) = read_sentences(BytesIO(b"# text = a  b\n" + CONTRACTED.encode()))
    assert text_of(made) == "a  b"


def test_a_block_without_words_has_comments_and_no_text() -> None:
    (made,) = read_sentences(BytesIO(b"# alone\n\n"))
    assert comments_of(made) == ["alone"]
    assert text_of(made) == ""
