"""Rows follow edits, certainties come by themselves, and 5,000 sentences are no burden."""

import threading
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise import ConfigError, Sentence
from headwise.annotate.contradictions import ContradictionError
from headwise.annotate.file.document import EditedDocument, Splice
from headwise.annotate.file.saved import AnnotatedFile
from headwise.annotate.overview import MAX_ROWS, Overview
from tests.annotate.made_blocks import make_block
from tests.serve.made_servers import wait_until

DONE = make_block("b", "c", comments=("# status = done",))
EDITED = make_block("d").replace("\t_\n", "\tFixed=Upos\n")
BLOCKS = [make_block("a"), DONE, EDITED, make_block(*"xyz", comments=("# text = X yz.",))]


def judge(sentence: Sentence) -> tuple[float, int]:
    return 1 / len(sentence), len(sentence)


def test_rows_say_what_the_blocks_are() -> None:
    overview = Overview(list(BLOCKS), threading.RLock(), judge)
    wait_until(lambda: overview.answer(0, 0, 9, None).pending == 0)
    rows = overview.answer(7, 0, 9, None)
    overview.close()
    assert rows.seq == 7
    assert rows.sentences is not None
    assert [row.text for row in rows.sentences] == ["a", "b c", "d", "X yz."]
    assert [row.n_words for row in rows.sentences] == [1, 2, 1, 3]
    assert [row.status for row in rows.sentences] == ["new", "done", "edited", "new"]
    assert [row.certainty for row in rows.sentences] == [1.0, 0.5, 1.0, 0.3333]
    assert [row.n_checks for row in rows.sentences] == [1, 2, 1, 3]


splices = st.tuples(
    st.integers(0, 5), st.integers(0, 3), st.lists(st.sampled_from(BLOCKS), max_size=3)
)


@settings(max_examples=30)
@given(st.lists(splices, max_size=6), st.data())
def test_what_changed_brings_an_older_state_up_to_date(
    changes: list[tuple[int, int, list[str]]], data: st.DataObject
) -> None:
    document = EditedDocument(list(BLOCKS))
    lock = threading.RLock()
    overview = Overview(document.blocks, lock, judge)
    known = overview.answer(0, 0, 99, None)
    rows = list(known.sentences or ())
    for at, n_removed, insert in changes:
        splice = Splice(at, n_removed, tuple(insert))
        if not document.fits(splice):
            continue
        with lock:
            document.edit(splice)
            overview.splice(splice)
        if data.draw(st.booleans()):
            overview.forget()
        if data.draw(st.booleans()):
            continue
        answer = overview.answer(document.seq, 0, 99, known.version)
        if answer.sentences is not None:
            rows = list(answer.sentences)
        for index, row in answer.changed or ():
            rows[index] = row
        known = answer
        assert [row.n_words for row in rows] == [block.count("\n") - 1 - block.count("#") for block
                                                 in document.blocks]  # fmt: skip
    wait_until(lambda: overview.answer(0, 0, 99, None).pending == 0)
    last = overview.answer(0, 0, 99, None)
    overview.close()
    assert last.sentences is not None
    assert all(row.certainty == round(1 / row.n_words, 4) for row in last.sentences)


def test_sentences_that_cannot_be_judged_need_a_person() -> None:
    def refuse(sentence: Sentence) -> tuple[float, int]:
        if len(sentence) == 1:
            raise ContradictionError("no tree", [1])
        raise ConfigError("no")

    overview = Overview([make_block("a"), make_block("a", "b"), "\n"], threading.RLock(), refuse)
    wait_until(lambda: overview.answer(0, 0, 9, None).pending == 0)
    rows = overview.answer(0, 0, 9, None).sentences or []
    overview.close()
    assert [(row.certainty, row.n_checks) for row in rows] == [(0.0, 1), (0.0, 1), (None, 0)]


def test_the_background_waits_for_a_person() -> None:
    judged = threading.Event()

    def tell(sentence: Sentence) -> tuple[float, int]:
        judged.set()
        return 1.0, 0

    blocks: list[str] = []
    lock = threading.RLock()
    overview = Overview(blocks, lock, tell)
    with overview.waiting():
        with lock:
            blocks.append(make_block("a"))
            overview.splice(Splice(0, 0, (blocks[0],)))
        assert not judged.wait(0.1)
    assert judged.wait(10)
    overview.close()


def test_a_version_of_another_life_gets_everything() -> None:
    overview = Overview(list(BLOCKS), threading.RLock(), judge)
    answer = overview.answer(0, 0, 9, since=10**6)
    overview.close()
    assert answer.sentences is not None
    assert len(answer.sentences) == 4


@pytest.mark.slow
def test_five_thousand_sentences_are_no_burden(tmp_path: Path, sentences: list[Sentence]) -> None:
    path = tmp_path / "large.conllu"
    path.write_text("".join(sentence.conllu for sentence in sentences) * 50)
    started = time.perf_counter()
    file = AnnotatedFile(path)
    overview = Overview(file.document.blocks, file.lock, judge)
    file.on_splice = overview.splice
    opened = time.perf_counter() - started
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        data = msgspec.json.encode(overview.answer(0, 0, MAX_ROWS, None))
        seconds.append(time.perf_counter() - started)
    edit_seconds = []
    for seq in range(5):
        started = time.perf_counter()
        file.edit(seq, Splice(2_500, 1, (BLOCKS[0], BLOCKS[0])))
        edit_seconds.append(time.perf_counter() - started)
    file.close()
    overview.close()
    assert opened < 3
    assert min(seconds) < 0.3
    assert len(data) < 5_000 * 250
    assert min(edit_seconds) < 0.1
