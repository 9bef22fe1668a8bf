"""Levels and columns: nothing lies on anything else, and places are used again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from render.made_sentences import head_lists

from headwise.render.layout import columns, forest, levels
from headwise.trees.tree import is_projective

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


@settings(deadline=None)
@given(SPANS)
def test_no_two_arcs_on_a_level_overlap(spans: list[tuple[int, int]]) -> None:
    found = levels(spans)
    for i, (left, right) in enumerate(spans):
        for j, (other_left, other_right) in enumerate(spans[:i]):
            if left < other_right and other_left < right:
                assert found[i] != found[j]


@settings(deadline=None)
@given(SPANS)
def test_an_arc_is_above_what_it_contains_and_on_something(spans: list[tuple[int, int]]) -> None:
    found = levels(spans)
    for (left, right), level in zip(spans, found, strict=True):
        under = [
            other
            for (other_left, other_right), other in zip(spans, found, strict=True)
            if left < other_right and other_left < right and other < level
        ]
        assert max(under, default=0) == level - 1
        for (other_left, other_right), other in zip(spans, found, strict=True):
            is_inside = left <= other_left and other_right <= right
            assert not is_inside or (other_left, other_right) == (left, right) or other < level


def test_forest_keeps_trees_and_cuts_each_circle_once() -> None:
    made = forest([2, 3, 1, 3, 0, None, 7])
    assert made.starts == (1, 5, 6, 7)
    assert made.children[1:] == ((3,), (1,)[:0], (2, 4), (), (), (), ())


def test_forest_cuts_in_the_circle_not_in_what_hangs_on_it() -> None:
    made = forest([2, 3, 2])
    assert made.starts == (2,)
    assert made.children[2] == (1, 3)


@settings(deadline=None)
@given(head_lists())
def test_forest_reaches_every_word_once(heads: list[int]) -> None:
    made = forest(heads)
    reached = sorted(made.starts + tuple(child for own in made.children for child in own))
    assert reached == list(range(1, len(heads) + 1))


def test_columns_of_a_small_tree() -> None:
    bars = columns(forest([2, 0, 4, 2]), limit=10)
    assert bars is not None
    assert {p: (b.column, b.top, b.bottom) for p, b in bars.items()} == {2: (0, 1, 4), 4: (1, 3, 4)}


def test_too_many_columns_are_refused() -> None:
    chain = forest([0, 1, 2, 3, 4])
    assert columns(chain, limit=3) is None
    assert columns(chain, limit=4) is not None


@settings(deadline=None)
@given(head_lists())
def test_bars_in_a_column_share_no_row_and_stand_right_of_their_head(heads: list[int]) -> None:
    trees = forest(heads)
    bars = columns(trees, limit=100)
    assert bars is not None
    assert set(bars) == {p for p, own in enumerate(trees.children) if own}
    seen: set[tuple[int, int]] = set()
    for bar in bars.values():
        cells = {(bar.column, row) for row in range(bar.top, bar.bottom + 1)}
        assert not cells & seen
        seen |= cells
    for head, bar in bars.items():
        for child in trees.children[head]:
            assert child not in bars or bars[child].column > bar.column


@settings(deadline=None)
@given(head_lists())
def test_projective_trees_need_no_more_columns_than_they_are_deep(heads: list[int]) -> None:
    import numpy as np

    trees = forest(heads)
    if heads.count(0) != 1 or trees.starts != (heads.index(0) + 1,):
        return
    if not is_projective(np.array([0, *heads], dtype=np.int32)):
        return
    bars = columns(trees, limit=100)
    assert bars is not None
    for head, bar in bars.items():
        depth, above = 0, heads[head - 1]
        while above:
            depth, above = depth + 1, heads[above - 1]
        assert bar.column == depth
