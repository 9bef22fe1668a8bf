"""A journal gives back the document with all its history, even if its last line is cut off."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise import ConfigError, DataError
from headwise.annotate.file.document import EditedDocument, Splice
from headwise.annotate.file.journal import (
    Edited,
    Journal,
    OpenedFile,
    Record,
    Redone,
    Saved,
    Saving,
    Undone,
    replay,
)

texts = st.text(st.characters(codec="utf-8"), max_size=5)
steps = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.lists(texts, max_size=3)),
        st.sampled_from(["undo", "redo", "save"]),
    ),
    max_size=15,
)


def perform(document: EditedDocument, step: object) -> list[Record]:
    """Do a step if it is possible, and say what the journal gets."""
    if isinstance(step, tuple):
        splice = Splice(step[0], step[1], tuple(step[2]))
        if not document.fits(splice):
            return []
        document.edit(splice)
        return [Edited(splice.at, splice.remove, splice.insert, "a name")]
    if step == "undo" and document.can_undo:
        document.undo()
        return [Undone()]
    if step == "redo" and document.can_redo:
        document.redo()
        return [Redone()]
    return [Saving("1"), Saved("1")] if step == "save" else []


@settings(max_examples=40)
@given(st.lists(texts, max_size=4), steps, st.data())
def test_replay_gives_the_same_document(
    start: list[str], steps: list[object], data: st.DataObject
) -> None:
    document = EditedDocument(list(start))
    states = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal"
        journal = Journal(path)
        journal.append(OpenedFile(start, "0"))
        states.append((path.stat().st_size, list(document.blocks), document.seq))
        for step in steps:
            for record in perform(document, step):
                journal.append(record)
                states.append((path.stat().st_size, list(document.blocks), document.seq))
        journal.close()
        # Wherever the file is cut, what was complete by then is there.
        cut = data.draw(st.integers(states[0][0], states[-1][0]))
        with path.open("r+b") as stream:
            stream.truncate(cut)
        journal = Journal(path)
        replayed = replay(journal.read(), path)
        assert replayed is not None
        known = [state for state in states if state[0] <= cut][-1]
        assert (path.stat().st_size, replayed[0].blocks, replayed[0].seq) == known
        # It goes on where it ended.
        journal.append(Edited(0, 0, ("new",)))
        (again, _) = replay(journal.read(), path) or (None, None)
        journal.close()
    assert again is not None
    assert again.blocks == ["new", *known[1]]


def test_replay_keeps_what_can_be_undone(tmp_path: Path) -> None:
    records = [OpenedFile(["a"], "0"), Edited(0, 1, ("b",)), Edited(0, 1, ("c",)), Undone()]
    document, _ = replay(records, tmp_path) or (None, None)
    assert document is not None
    assert document.blocks == ["b"]
    document.redo()
    assert document.blocks == ["c"]
    document.undo()
    document.undo()
    assert document.blocks == ["a"]


def test_a_journal_without_a_record_is_removed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    assert replay(journal.read(), journal.path) is None
    journal.close()
    assert list(tmp_path.iterdir()) == []


def test_a_journal_whose_folder_is_gone_can_be_closed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    journal = Journal(tmp_path / "folder" / "journal")
    (tmp_path / "folder").rename(tmp_path / "away")
    (tmp_path / "folder").touch()
    journal.close()


def test_a_second_workbench_is_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    with pytest.raises(ConfigError, match="another headwise annotate"):
        Journal(tmp_path / "journal")
    journal.close()
    Journal(tmp_path / "journal").close()


@pytest.mark.parametrize(
    "second",
    [
        b"{}",
        b"nonsense",
        b"\xff",
        b'{"type":"edit","more":' + b"[" * 100_000,
        b'{"type":"edit","at":9,"remove":1,"insert":[]}',
        b'{"type":"undo"}',
        b'{"type":"redo"}',
        b'{"type":"opened","blocks":[],"sha256":""}',
    ],
)
def test_a_damaged_journal_is_named_with_its_line(tmp_path: Path, second: bytes) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b'{"type":"opened","blocks":["a"],"sha256":"0"}\n' + second + b"\n")
    journal = Journal(path)
    with pytest.raises(DataError, match=r"journal:2: .*\nhint: move the journal away"):
        replay(journal.read(), path)
    journal.close()


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_in_place_of_a_journal_is_not_followed(tmp_path: Path, exists: bool) -> None:
    path, victim = tmp_path / "journal", tmp_path / "victim"
    if exists:
        victim.write_bytes(b"one line without an end")
    path.symlink_to(victim)
    with pytest.raises(DataError, match="journal: a journal is a regular file"):
        Journal(path)
    assert victim.exists() == exists
    assert not exists or victim.read_bytes() == b"one line without an end"


def test_a_pipe_in_place_of_a_journal_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "journal")
    with pytest.raises(DataError, match="journal: a journal is a regular file"):
        Journal(tmp_path / "journal")


def test_nothing_is_cut_off_a_file_that_is_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b"one line without an end")
    journal = Journal(path)
    with pytest.raises(DataError, match="journal:1: this is not a journal\nhint: move"):
        replay(journal.read(), path)
    journal.close()
    assert path.read_bytes() == b"one line without an end"


@pytest.mark.parametrize("n_bytes", [0, 5, 17, 40])
def test_a_journal_that_was_killed_in_its_first_line_starts_again(
    tmp_path: Path, n_bytes: int
) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b'{"type":"opened","blocks":["a"],"sha256":"0"}'[:n_bytes])
    journal = Journal(path)
    assert replay(journal.read(), path) is None
    journal.append(OpenedFile(["b"], "0"))
    document, _ = replay(journal.read(), path) or (None, None)
    journal.close()
    assert document is not None
    assert document.blocks == ["b"]


def test_a_journal_of_a_later_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="version 2"):
        replay([OpenedFile([], "", version=2)], tmp_path)


def test_an_operation_before_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not fit"):
        replay([Undone()], tmp_path)


def test_what_cannot_be_written_is_not_in_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "journal")
    journal.append(OpenedFile(["a"], "0"))
    size = journal.path.stat().st_size

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        with pytest.raises(DataError, match="No space left"):
            journal.append(Edited(0, 1, ("b",)))
    assert journal.path.stat().st_size == size
    journal.append(Edited(0, 1, ("c",)))
    document, _ = replay(journal.read(), journal.path) or (None, None)
    assert document is not None
    assert document.blocks == ["c"]
    journal.close()
