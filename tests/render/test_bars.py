"""Bars of a text drawing: none overlap, and columns are used again."""

import numpy as np
from hypothesis import given
from render.made_sentences import head_lists

from headwise.render.bars import build_forest, place_bars
from headwise.trees.tree import is_projective


def test_forest_keeps_trees_and_cuts_each_cycle_once() -> None:
    trees = build_forest([2, 3, 1, 3, 0, None, 7])
    assert trees.roots == (1, 5, 6, 7)
    assert trees.children[1:] == ((3,), (), (2, 4), (), (), (), ())


def test_forest_cuts_inside_the_cycle() -> None:
    trees = build_forest([2, 3, 2])
    assert trees.roots == (2,)
    assert trees.children[2] == (1, 3)


@given(head_lists())
def test_forest_reaches_every_word_once(heads: list[int]) -> None:
    trees = build_forest(heads)
    reached = [*trees.roots, *(child for below in trees.children for child in below)]
    assert sorted(reached) == list(range(1, len(heads) + 1))


def test_bars_of_a_small_tree() -> None:
    bars = place_bars(build_forest([2, 0, 4, 2]), limit=10)
    assert bars is not None
    assert {p: (b.column, b.top, b.bottom) for p, b in bars.items()} == {2: (0, 1, 4), 4: (1, 3, 4)}


def test_too_many_columns_are_refused() -> None:
    chain = build_forest([0, 1, 2, 3, 4])
    assert place_bars(chain, limit=3) is None
    assert place_bars(chain, limit=4) is not None


@given(head_lists())
def test_bars_do_not_overlap_and_stand_right_of_their_head(heads: list[int]) -> None:
    trees = build_forest(heads)
    bars = place_bars(trees, limit=100)
    assert bars is not None
    assert set(bars) == {p for p, below in enumerate(trees.children) if below}
    cells = [(bar.column, row) for bar in bars.values() for row in range(bar.top, bar.bottom + 1)]
    assert len(cells) == len(set(cells))
    for head, bar in bars.items():
        for child in trees.children[head]:
            assert child not in bars or bars[child].column > bar.column


@given(head_lists())
def test_projective_trees_need_no_more_columns_than_they_are_deep(heads: list[int]) -> None:
    trees = build_forest(heads)
    if heads.count(0) != 1 or trees.roots != (heads.index(0) + 1,):
        return
    if not is_projective(np.array([0, *heads], dtype=np.int32)):
        return
    bars = place_bars(trees, limit=100)
    assert bars is not None
    for head, bar in bars.items():
        depth, above = 0, heads[head - 1]
        while above:
            depth, above = depth + 1, heads[above - 1]
        assert bar.column == depth
