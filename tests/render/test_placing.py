"""Places in a picture: texts beside each other, labels within their arcs, arcs that nest."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from render.made_sentences import head_lists

from headwise.render.arcs import Arc
from headwise.render.placing import MARGIN, WORD_GAP, Places, mirror, place, text_length


def arcs_from(heads: list[int]) -> list[Arc]:
    made = [Arc(position, head, "dep", None) for position, head in enumerate(heads, 1)]
    return [arc for arc in made if arc.is_drawn]


def test_text_length_knows_narrow_broad_wide_and_no_width() -> None:
    assert text_length("", 10) == 0
    assert text_length("il", 10) < text_length("an", 10) < text_length("MW", 10)
    assert text_length("今", 10) == pytest.approx(11)
    assert text_length("e\u0301", 10) == text_length("e", 10)
    assert text_length("ab", 20) == 2 * text_length("ab", 10)


def test_a_single_arc_ends_in_the_middle_of_its_word() -> None:
    places = place([40, 40], arcs_from([2, 0]), [10, 10])
    assert places.centres == (MARGIN + 20, MARGIN + 60 + WORD_GAP)
    (start, end), root = places.legs
    assert end == places.centres[0]
    assert start == pytest.approx(places.centres[1] - 3.5)
    assert root == pytest.approx((places.centres[1] + 3.5,) * 2)


def test_words_move_apart_for_a_long_label() -> None:
    near = place([20, 20], arcs_from([2, 0]), [5, 5])
    far = place([20, 20], arcs_from([2, 0]), [200, 5])
    assert far.width > near.width + 100


@settings(deadline=None)
@given(head_lists(), st.data())
def test_texts_do_not_touch_and_labels_fit_under_their_arcs(
    heads: list[int], data: st.DataObject
) -> None:
    arcs = arcs_from(heads)
    lengths = [data.draw(st.floats(1, 200)) for _ in heads]
    labels = [data.draw(st.floats(1, 200)) for _ in arcs]
    places = place(lengths, arcs, labels)
    edges = [MARGIN]
    for centre, length in zip(places.centres, lengths, strict=True):
        assert centre - length / 2 >= edges[-1] - 1e-6
        edges.append(centre + length / 2 + WORD_GAP)
    assert places.width >= edges[-1]
    for arc, label, (start, end) in zip(arcs, labels, places.legs, strict=True):
        assert abs(start - end) >= label if arc.head else start == end


@settings(deadline=None)
@given(head_lists())
def test_arcs_with_a_common_end_nest(heads: list[int]) -> None:
    arcs = arcs_from(heads)
    places = place([30.0] * len(heads), arcs, [20.0] * len(arcs))
    spans = [
        (arc.span, sorted(legs)) for arc, legs in zip(arcs, places.legs, strict=True) if arc.head
    ]
    for outer, (left, right) in spans:
        for inner, (inner_left, inner_right) in spans:
            if inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]:
                assert left < inner_left < inner_right < right


def test_a_mirrored_picture_mirrored_is_the_picture() -> None:
    places = Places((10.0, 30.0), ((28.0, 10.0),), 50.0)
    assert mirror(places) == Places((40.0, 20.0), ((22.0, 40.0),), 50.0)
    assert mirror(mirror(places)) == places
