"""The layout of a picture: texts beside each other, labels within their arcs, arcs that nest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from render.made_sentences import head_lists

from headwise.render.arcs import Arc
from headwise.render.layout import (
    MARGIN,
    MAX_FEATURES,
    WORD_GAP,
    lay_out,
    levels,
    place,
    text_length,
)
from headwise.treebank.sentence import sentence_from_words

SPANS = st.lists(
    st.tuples(st.integers(1, 12), st.integers(1, 12)).filter(lambda span: span[0] < span[1])
)


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], []),
        ([(1, 2), (2, 3), (1, 3)], [1, 1, 2]),
        ([(1, 3), (2, 4)], [1, 2]),
        ([(1, 6), (1, 2), (3, 5), (4, 5)], [3, 1, 2, 1]),
        ([(1, 2), (1, 2)], [1, 2]),
    ],
)
def test_levels_of_small_cases(spans: list[tuple[int, int]], expected: list[int]) -> None:
    assert levels(spans) == expected


@given(SPANS)
def test_an_arc_is_above_what_it_contains_on_something_and_overlaps_nothing(
    spans: list[tuple[int, int]],
) -> None:
    found = levels(spans)
    for (left, right), level in zip(spans, found, strict=True):
        overlapping = [
            (span, other)
            for span, other in zip(spans, found, strict=True)
            if left < span[1] and span[0] < right
        ]
        assert [other for _, other in overlapping].count(level) == 1
        assert max((other for _, other in overlapping if other < level), default=0) == level - 1
        for span, other in overlapping:
            is_inside = left <= span[0] and span[1] <= right
            assert not is_inside or span == (left, right) or other < level


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
    centres, [(start, end), root], _ = place([40, 40], arcs_from([2, 0]), [10, 10])
    assert centres == [MARGIN + 20, MARGIN + 60 + WORD_GAP]
    assert end == centres[0]
    assert start == pytest.approx(centres[1] - 3.5)
    assert root == pytest.approx((centres[1] + 3.5,) * 2)


@given(head_lists(), st.data())
def test_texts_do_not_touch_and_labels_fit_under_their_arcs(
    heads: list[int], data: st.DataObject
) -> None:
    arcs = arcs_from(heads)
    lengths = [data.draw(st.floats(1, 200)) for _ in heads]
    labels = [data.draw(st.floats(1, 200)) for _ in arcs]
    centres, ends, width = place(lengths, arcs, labels)
    edges = [MARGIN]
    for centre, length in zip(centres, lengths, strict=True):
        assert centre - length / 2 >= edges[-1] - 1e-6
        edges.append(centre + length / 2 + WORD_GAP)
    assert width >= edges[-1]
    for arc, label, (start, end) in zip(arcs, labels, ends, strict=True):
        assert abs(start - end) >= label if arc.head else start == end


@given(head_lists())
def test_arcs_with_a_common_end_nest(heads: list[int]) -> None:
    arcs = arcs_from(heads)
    _, ends, _ = place([30.0] * len(heads), arcs, [20.0] * len(arcs))
    spans = [(arc.span, sorted(both)) for arc, both in zip(arcs, ends, strict=True) if arc.head]
    for outer, (left, right) in spans:
        for inner, (inner_left, inner_right) in spans:
            if inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]:
                assert left < inner_left < inner_right < right


def test_many_features_are_cut_short_and_end_with_an_ellipsis() -> None:
    few, many = ("|".join(f"F{i}=1" for i in range(n)) for n in (MAX_FEATURES, 1_000))
    words = [("a", few), ("b", many), ("c", "_")]
    layout = lay_out(sentence_from_words(words, ["form", "feats"]), columns=("feats",))
    assert layout.words[0].lines == tuple(few.split("|"))
    assert layout.words[1].lines == (*few.split("|")[:-1], "…")
    assert {len(word.lines) for word in layout.words} == {MAX_FEATURES}
