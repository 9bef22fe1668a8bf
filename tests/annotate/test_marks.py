"""Marks are written and read again, become constraints, and go without a trace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwise import DataError, Sentence
from headwise.annotate.marks import (
    FIXABLE,
    Marks,
    clean_block,
    constraints_of,
    read_marks,
    status_of,
    with_marks,
)
from headwise.treebank.conllu import read_block
from tests.annotate.made_blocks import fix, make_block

KIDS = read_block(make_block("Kids", "love", "candy"))
columns_of_word = st.frozensets(st.sampled_from(FIXABLE))
heads_of_word = st.lists(st.integers(0, 3), unique=True).map(tuple)


@given(
    st.tuples(*[columns_of_word] * 3),
    st.tuples(*[heads_of_word] * 3),
    st.booleans(),
    st.text(st.characters(codec="utf-8")),
)
def test_marks_are_read_as_they_were_written(
    fixed: tuple[frozenset[str], ...],
    not_heads: tuple[tuple[int, ...], ...],
    is_done: bool,
    note: str,
) -> None:
    marks = Marks(fixed, not_heads, is_done, note)
    marked = with_marks(KIDS, marks)
    assert read_marks(read_block(marked.conllu)) == marks
    assert clean_block(marked.conllu) == KIDS.conllu
    assert with_marks(marked, read_marks(KIDS)).conllu == KIDS.conllu


def test_marks_of_real_sentences_leave_every_other_byte(sentences: list[Sentence]) -> None:
    for sentence in sentences:
        n = len(sentence)
        marks = Marks((frozenset({"Head", "Upos"}),) * n, ((0,),) * n, True, "100%\nsure")
        marked = with_marks(sentence, marks)
        assert "Fixed=Head,Upos|NotHead=0" in marked.conllu
        assert "# note = 100%25%0Asure\n" in marked.conllu
        assert clean_block(marked.conllu) == sentence.conllu
        assert read_block(marked.conllu).words == marked.words


def test_windows_line_ends_stay() -> None:
    windows = read_block(KIDS.conllu.replace("\n", "\r\n"))
    marks = Marks((frozenset({"Head"}),) * 3, ((),) * 3, True, "note")
    marked = with_marks(windows, marks).conllu
    assert marked.count("\n") == marked.count("\r\n") == len(windows.lines) + 2
    assert status_of(marked) == "done"
    assert clean_block(marked) == windows.conllu


def test_a_multi_word_token_stays_before_its_words() -> None:
    block = "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n" + make_block("do", "n't")
    marked = with_marks(read_block(block), Marks((frozenset(),) * 2, ((),) * 2, True))
    assert marked.conllu == "# status = done\n" + block


def test_a_sentence_without_words_can_be_done() -> None:
    marked = with_marks(read_block("# text = \n\n"), Marks((), (), True))
    assert marked.conllu == "# text = \n# status = done\n\n"


def test_comments_of_others_stay() -> None:
    block = "# status = checked\n# notes = mine\n" + KIDS.conllu
    assert clean_block(block) == block
    assert status_of(block) == "new"


def test_a_mark_inside_a_form_is_none() -> None:
    assert status_of(make_block("Fixed=Head")) == "new"


def test_fixed_values_become_constraints() -> None:
    sentence = fix(KIDS, {1: 2}, "Fixed=Head,Deprel")
    sentence = fix(sentence, {3: 2}, "NotHead=1,0")
    words = [word._replace(deprel="nsubj") for word in sentence.words]
    constraints = constraints_of(sentence.with_words(words), read_marks(sentence))
    assert constraints.heads == {1: 2}
    assert constraints.labels == {1: "nsubj"}
    assert list(constraints.forbidden) == [(3, 1), (3, 0)]
    released = constraints_of(sentence, read_marks(sentence), without=[1, 3])
    assert not released.limits_trees


def test_a_blank_cannot_be_fixed() -> None:
    words = [word._replace(misc="Fixed=Head,Deprel,Nonsense") for word in KIDS.words]
    sentence = KIDS.with_words(words)
    assert read_marks(sentence).fixed == (frozenset({"Head", "Deprel"}),) * 3
    assert constraints_of(sentence, read_marks(sentence)).size == 0


@pytest.mark.parametrize("number", ["4", "x", "", "-1", "1,"])
def test_a_refused_head_that_is_no_word_is_named(number: str) -> None:
    sentence = fix(KIDS, {3: 2}, f"NotHead={number}")
    with pytest.raises(DataError, match="NotHead of word 3") as caught:
        read_marks(sentence)
    assert caught.value.line == 3
