"""Nothing that was accepted is lost, and nobody else's work is overwritten."""

import os
from pathlib import Path

import pytest

from headwise import DataError
from headwise.annotate.file.disk import read_blocks, split_blocks
from headwise.annotate.file.document import Splice
from headwise.annotate.file.journal import SUFFIX
from headwise.annotate.file.saved import (
    AnnotatedFile,
    NothingLeftError,
    StaleError,
    Whose,
)
from tests.annotate.made_blocks import make_block
from tests.serve.made_servers import wait_until

NEVER = 1e6
A, B, C = (make_block(form) for form in "ABC")
DONE = make_block("A", comments=("# status = done",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file.conllu"
    path.write_text(A + B)
    return path


def journal_of(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)


def open_file(path: Path, seconds: float = NEVER) -> AnnotatedFile:
    return AnnotatedFile(path, seconds)


def abandon(file: AnnotatedFile) -> None:
    """Leave a file as a killed process would: not saved, and not locked any more."""
    file.save = lambda: True  # type: ignore[method-assign]
    file.close()


def test_edits_are_saved_at_the_end(path: Path) -> None:
    file = open_file(path)
    assert file.edit(0, Splice(1, 1, (C,))) == 1
    assert path.read_text() == A + B
    assert not file.is_saved
    file.close()
    assert path.read_text() == A + C
    assert file.is_saved


def test_looking_leaves_no_trace(path: Path) -> None:
    before = path.stat()
    open_file(path).close()
    assert path.stat() == before
    assert not journal_of(path).exists()


def test_a_finished_sentence_is_saved_at_once(path: Path) -> None:
    file = open_file(path)
    file.edit(0, Splice(0, 1, (DONE,)))
    wait_until(lambda: path.read_text() == DONE + B)
    file.undo(1)
    wait_until(lambda: path.read_text() == A + B)
    file.close()


def test_other_edits_are_saved_soon(path: Path) -> None:
    file = open_file(path, 0.02)
    file.edit(0, Splice(0, 1, (C,)))
    wait_until(lambda: path.read_text() == C + B)
    file.close()


def test_undo_and_redo_work_after_the_file_was_closed(path: Path) -> None:
    file = open_file(path)
    file.edit(0, Splice(0, 1, (C,)))
    file.edit(1, Splice(2, 0, (A,)))
    file.close()
    file = open_file(path)
    assert file.is_saved
    assert file.undo(2) == (3, Splice(2, 1, ()))
    assert file.undo(3) == (4, Splice(0, 1, (A,)))
    with pytest.raises(NothingLeftError):
        file.undo(4)
    assert file.redo(4) == (5, Splice(0, 1, (C,)))
    file.redo(5)
    with pytest.raises(NothingLeftError):
        file.redo(6)
    file.close()
    assert path.read_text() == C + B + A


def test_an_operation_on_another_state_is_refused(path: Path) -> None:
    file = open_file(path)
    file.edit(0, Splice(0, 1, (C,)))
    for operation in (lambda: file.edit(0, Splice(0, 1, (A,))), lambda: file.undo(0)):
        with pytest.raises(StaleError) as caught:
            operation()
        assert caught.value.seq == 1
    file.close()


def test_what_was_not_saved_comes_back_from_the_journal(path: Path) -> None:
    file = open_file(path)
    file.edit(0, Splice(0, 1, (C,)))
    abandon(file)
    assert path.read_text() == A + B
    file = open_file(path)
    assert file.document.blocks == [C, B]
    assert not file.is_saved
    assert not file.has_conflict
    file.close()
    assert path.read_text() == C + B


def test_a_save_that_was_interrupted_is_made_up_for(path: Path) -> None:
    file = open_file(path)
    file.edit(0, Splice(0, 1, (C,)))
    file.close()
    # As if the process had ended after it announced the save, before or after the rename.
    lines = journal_of(path).read_bytes().splitlines(keepends=True)
    assert b'"saved"' in lines[-1]
    journal_of(path).write_bytes(b"".join(lines[:-1]))
    for text in (C + B, A + B):
        path.write_text(text)
        file = open_file(path)
        assert not file.has_conflict
        assert file.document.blocks == [C, B]
        file.save()
        assert path.read_text() == C + B
        abandon(file)
        journal_of(path).write_bytes(b"".join(lines[:-1]))


def test_a_file_that_others_change_is_not_overwritten(path: Path) -> None:
    file = open_file(path)
    file.edit(0, Splice(0, 1, (C,)))
    path.write_text(A + B + B)
    assert file.check_file()
    assert not file.save()
    assert path.read_text() == A + B + B
    assert file.differing() == (1, 1)
    path.write_text(C + B + B)
    assert file.differing() == (2, 2)
    path.write_text("1\ta\n")
    assert file.differing() is not None
    path.write_bytes(b"\xff")
    assert file.differing() is None
    path.write_text(A + B + B)
    file.edit(1, Splice(1, 1, (A,)))  # work goes on, in the journal
    file.close()
    assert path.read_text() == A + B + B
    file = open_file(path)
    assert file.has_conflict
    assert file.document.blocks == [C, A]
    abandon(file)


def test_my_version_stays_and_theirs_is_kept(path: Path) -> None:
    file = open_file(path)
    file.edit(0, Splice(0, 1, (C,)))
    path.write_text(A + B + B)
    copy = file.resolve("mine")
    assert copy == path.with_name("file.conllu.headwise-theirs-1")
    assert copy.read_text() == A + B + B
    wait_until(lambda: path.read_text() == C + B)
    path.write_text(B)
    copy = file.resolve("mine")
    assert copy == path.with_name("file.conllu.headwise-theirs-2")
    file.close()
    assert path.read_text() == C + B


@pytest.mark.parametrize("keep", ["mine", "theirs"])
def test_a_copy_is_not_written_through_a_link(path: Path, tmp_path: Path, keep: Whose) -> None:
    for whose in ("mine", "theirs"):
        link = path.with_name(f"file.conllu.headwise-{whose}-1")
        link.symlink_to(tmp_path / "elsewhere")
    file = open_file(path)
    path.write_text(C)
    copy = file.resolve(keep)
    file.close()
    assert copy is not None
    assert copy.name.endswith("-2")
    assert not (tmp_path / "elsewhere").exists()


def test_who_may_not_read_the_file_may_not_read_its_copies(path: Path) -> None:
    path.chmod(0o600)
    file = open_file(path)
    file.edit(0, Splice(0, 1, (C,)))
    path.write_text(A + B + B)
    copy = file.resolve("mine")
    file.close()
    assert copy is not None
    assert {one.stat().st_mode & 0o777 for one in (path, copy, journal_of(path))} == {0o600}


def test_their_version_stays_and_mine_is_kept(path: Path) -> None:
    splices = []
    file = open_file(path)
    file.on_splice = splices.append
    file.edit(0, Splice(0, 1, (C,)))
    path.write_text(A + B + B)
    copy = file.resolve("theirs")
    assert copy is not None
    assert copy.read_text() == C + B
    assert file.document.blocks == [A, B, B]
    assert len(splices) == 2
    assert file.is_saved
    assert not file.check_file()
    # Their change is an edit like any other.
    file.undo(2)
    file.close()
    assert path.read_text() == C + B


def test_there_is_nothing_to_resolve_without_a_conflict(path: Path) -> None:
    file = open_file(path)
    assert file.resolve("theirs") is None
    file.close()


def test_a_file_changed_between_two_sessions_is_taken_as_it_is(path: Path) -> None:
    file = open_file(path)
    file.edit(0, Splice(0, 1, (C,)))
    file.close()
    path.write_text(C + A)
    file = open_file(path)
    assert not file.has_conflict
    assert file.document.blocks == [C, A]
    file.undo(2)
    file.undo(3)
    file.close()
    assert path.read_text() == A + B
    file = open_file(path)
    assert file.is_saved
    abandon(file)


def test_touching_a_file_changes_nothing(path: Path) -> None:
    file = open_file(path)
    os.utime(path, (1, 1))
    assert not file.check_file()
    path.write_text(path.read_text())
    assert not file.check_file()
    file.close()


def test_a_file_that_is_gone_is_written_again(path: Path) -> None:
    file = open_file(path)
    file.edit(0, Splice(0, 1, (C,)))
    path.unlink()
    file.close()
    assert path.read_text() == C + B


def test_a_file_that_is_gone_comes_back_from_its_journal(path: Path) -> None:
    file = open_file(path)
    file.edit(0, Splice(0, 1, (C,)))
    file.close()
    path.unlink()
    file = open_file(path)
    assert file.document.blocks == [C, B]
    assert not file.has_conflict
    file.close()
    assert path.read_text() == C + B


@pytest.mark.parametrize("keep", ["mine", "theirs"])
def test_a_conflict_before_the_first_edit_can_be_resolved(path: Path, keep: Whose) -> None:
    file = open_file(path)
    path.write_text(C)
    assert file.resolve(keep) is not None
    file.close()
    expected = A + B if keep == "mine" else C
    assert path.read_text() == expected
    file = open_file(path)
    assert "".join(file.document.blocks) == expected
    assert file.is_saved
    file.close()


def test_a_failed_save_is_reported_and_tried_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = open_file(path, 0.02)
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "disk full")))
        file.edit(0, Splice(0, 1, (C,)))
        wait_until(lambda: "disk full" in file.failure)
    wait_until(lambda: file.is_saved)
    wait_until(lambda: file.failure == "")
    file.close()


def test_saving_goes_on_when_the_folder_is_back(tmp_path: Path) -> None:
    folder, away = tmp_path / "folder", tmp_path / "away"
    folder.mkdir()
    path = folder / "file.conllu"
    path.write_text(A + B)
    file = open_file(path, 0.02)
    folder.rename(away)
    folder.write_text("not a folder")
    file.edit(0, Splice(0, 1, (C,)))
    wait_until(lambda: "Not a directory" in file.failure)
    assert not file.check_file()
    folder.unlink()
    away.rename(folder)
    wait_until(lambda: path.read_text() == C + B)
    file.close()


def test_a_pipe_in_place_of_the_file_is_not_waited_for(path: Path) -> None:
    file = open_file(path)
    path.unlink()
    os.mkfifo(path)
    file.edit(0, Splice(0, 1, (C,)))
    assert not file.check_file()
    with pytest.raises(DataError, match=r"file\.conllu: this is not a regular file"):
        file.save()
    file.close()
    assert path.is_fifo()
    assert "not a regular file" in file.failure
    path.unlink()
    file = open_file(path)
    file.close()
    assert path.read_text() == C + B


def test_a_change_right_after_a_save_is_noticed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = open_file(path)
    file.edit(0, Splice(0, 1, (C,)))
    rename = os.replace

    def rename_and_change(source: Path, target: Path) -> None:
        rename(source, target)
        path.write_text(B)

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", rename_and_change)
        file.save()
    assert file.check_file()
    file.close()
    assert path.read_text() == B


def test_a_link_is_followed(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.conllu"
    link.symlink_to(path)
    file = open_file(link)
    file.edit(0, Splice(0, 1, (C,)))
    file.close()
    assert link.is_symlink()
    assert path.read_text() == C + B
    assert journal_of(path).exists()


def test_every_byte_that_is_not_edited_stays(path: Path) -> None:
    odd = (
        "\n\n# only a comment\n\n1\tbroken\n\n" + A.replace("\n", "\r\n") + "\n \n" + B.rstrip("\n")
    )
    path.write_bytes(odd.encode())
    blocks = read_blocks(path)
    assert "".join(blocks) == odd
    file = open_file(path)
    file.edit(0, Splice(len(blocks) - 2, 1, (C,)))
    file.close()
    assert path.read_bytes().decode() == "".join([*blocks[:-2], C, blocks[-1]])


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x1f\x8bxx", "compressed"),
        (b"\xef\xbb\xbf1\ta", "byte order mark"),
        (b"1\ta\n2\t\xff\n\n", "file.conllu:2: the line is not UTF-8"),
    ],
)
def test_what_cannot_be_opened_is_named(path: Path, data: bytes, what: str) -> None:
    path.write_bytes(data)
    with pytest.raises(DataError, match=what):
        open_file(path)
    assert not journal_of(path).exists()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.conllu: No such file"):
        open_file(tmp_path / "none.conllu")


def test_large_files_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headwise.annotate.file.disk.MAX_SENTENCES", 1)
    with pytest.raises(DataError, match="more than 1 sentences"):
        split_blocks(path.read_bytes(), "file")
    monkeypatch.setattr("headwise.annotate.file.disk.MAX_FILE_BYTES", 10)
    with pytest.raises(DataError, match="MiB"):
        open_file(path)


def test_a_damaged_journal_does_not_touch_the_file(path: Path) -> None:
    journal_of(path).write_text("nonsense\n")
    with pytest.raises(DataError, match="not a record of a journal"):
        open_file(path)
    assert path.read_text() == A + B
    assert journal_of(path).read_text() == "nonsense\n"


def test_a_journal_can_be_started_before_an_edit(path: Path) -> None:
    file = open_file(path)
    file.start_journal()
    file.start_journal()
    file.edit(0, Splice(0, 1, (C,)))
    file.close()
    assert journal_of(path).read_text().count('"opened"') == 1
