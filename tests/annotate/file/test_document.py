"""Splices, undo and redo against the plainest possible model: a list of all states."""

from hypothesis import given
from hypothesis import strategies as st

from headwise.annotate.file.document import (
    EditedDocument,
    Splice,
    difference,
    ends_blank,
    join_blocks,
)

blocks = st.lists(st.sampled_from("abcdefgh"), max_size=6)
actions = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 8), st.integers(0, 8), blocks),
        st.sampled_from(["undo", "redo"]),
    ),
    max_size=30,
)


@given(blocks, actions)
def test_undo_and_redo_walk_through_all_states(start: list[str], steps: list[object]) -> None:
    document = EditedDocument(list(start))
    states, at, n_done = [list(start)], 0, 0
    for step in steps:
        before = list(document.blocks)
        if isinstance(step, tuple):
            first, n_removed, insert = step
            splice = Splice(first, n_removed, tuple(insert))
            if not document.fits(splice):
                assert first + n_removed > len(before)
                continue
            document.edit(splice)
            changed = [*before[:first], *insert, *before[first + n_removed :]]
            del states[at + 1 :]
            states.append(changed)
            at += 1
        elif step == "undo":
            assert document.can_undo == (at > 0)
            if not at:
                continue
            at -= 1
            splice = document.undo()
        else:
            assert document.can_redo == (at + 1 < len(states))
            if not document.can_redo:
                continue
            at += 1
            splice = document.redo()
        n_done += 1
        assert document.blocks == states[at]
        assert document.seq == n_done
        # The splice that is reported leads from the state before to the one after.
        before[splice.at : splice.at + splice.remove] = splice.insert
        assert before == document.blocks


def test_negative_positions_do_not_fit() -> None:
    document = EditedDocument(["a", "b"])
    assert not document.fits(Splice(-1, 1, ()))
    assert not document.fits(Splice(1, -1, ()))
    assert document.fits(Splice(2, 0, ("c",)))


@given(blocks, blocks)
def test_the_difference_leads_from_one_to_the_other(mine: list[str], theirs: list[str]) -> None:
    splice = difference(mine, theirs)
    changed = list(mine)
    changed[splice.at : splice.at + splice.remove] = splice.insert
    assert changed == theirs
    if mine == theirs:
        assert splice.remove == len(splice.insert) == 0


def test_only_the_last_block_may_lack_its_blank_line() -> None:
    assert "".join(join_blocks(["1\ta\n\n", "1\tb\n"])) == "1\ta\n\n1\tb\n"
    assert "".join(join_blocks(["1\tb\n", "1\ta\n\n"])) == "1\tb\n\n1\ta\n\n"
    assert "".join(join_blocks(["1\tb", "1\ta"])) == "1\tb\n\n1\ta"
    assert "".join(join_blocks([])) == ""


def test_a_blank_line_may_have_white_space() -> None:
    assert ends_blank("1\ta\n\n")
    assert ends_blank("1\ta\r\n \t\r\n")
    assert ends_blank("\n")
    assert not ends_blank("1\ta\n")
    assert not ends_blank("1\ta")
    assert not ends_blank("")
