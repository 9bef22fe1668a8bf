"""The file that is annotated, on disk and in memory: nothing that was accepted is ever lost.

An edit is in the journal, on the disk, before it is accepted. The file itself is written as a whole
or not at all: soon after a sentence is finished or taken back, every few seconds if anything
changed, and at the end. If someone else has changed the file in the meantime, it is not written
until a person has decided whose version stays; a copy of the other is kept.
"""

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from headwise.annotate.file.disk import FileOnDisk, mode_like
from headwise.annotate.file.document import EditedDocument, Splice, difference, join_blocks
from headwise.annotate.file.journal import (
    SUFFIX,
    Checksums,
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
from headwise.annotate.marks import status_of
from headwise.errors import DataError, HeadwiseError
from headwise.files import whole_file

SAVE_SECONDS = 5.0
_OTHERS = "changed by another program"
Whose = Literal["mine", "theirs"]


class StaleError(Exception):
    """An operation on another state than the present one, whose number is `seq`."""

    def __init__(self, seq: int) -> None:
        """Keep the number of the present state."""
        super().__init__(f"the document is at {seq}")
        self.seq = seq


class NothingLeftError(Exception):
    """There is nothing to undo or to redo."""


class AnnotatedFile:
    """A CoNLL-U file, its document and its journal; safe to call from several threads."""

    def __init__(self, path: Path, save_seconds: float = SAVE_SECONDS) -> None:
        """Open the file, and its journal if there is one; start to save in the background."""
        self.path = Path(os.path.realpath(path))
        self.lock = threading.RLock()
        """Held while the document changes; hold it to read several things that fit together."""
        self.on_splice: Callable[[Splice], object] = lambda _: None
        """Called after every change, with the lock held."""
        self.failure = ""
        """Why the file could not be saved the last time; empty if it could."""
        self._save_lock = threading.Lock()  # taken before the other, never after it
        self._file = FileOnDisk(self.path)
        journal_path = self.path.with_name(self.path.name + SUFFIX)
        if not journal_path.exists():
            self._file.read()  # what cannot be opened gets no journal
        self._journal = Journal(journal_path, mode_like(self.path))
        try:
            self._restore()
        except BaseException:
            self._journal.close()
            raise
        self._wake = threading.Event()
        self._ending = False
        self._seconds = save_seconds
        self._saver = threading.Thread(target=self._save_now_and_then, name="headwise-save")
        self._saver.start()

    def _restore(self) -> None:
        replayed = replay(self._journal.read(), self._journal.path)
        self.is_journal_new = replayed is None
        # The journal alone suffices: a file that is gone is written again.
        read = self._file.read() if replayed is None or self.path.exists() else []
        if replayed is None:
            self.document, self._sums = EditedDocument(read), Checksums(self._file.sha256)
            self._saved_seq, self.has_conflict = 0, False
            return
        self.document, self._sums = replayed
        sha256 = _checksum(self.document.blocks)
        was_saved = sha256 == self._sums.saved
        self.has_conflict = False
        self._saved_seq = self.document.seq if sha256 == self._file.sha256 else -1
        if self._file.sha256 in ("", sha256) or self._sums.allow(self._file.sha256):
            return
        if not was_saved:
            self.has_conflict = True
        elif self.document.blocks != read:
            # All our work was in the file when it was changed: the change is one more edit.
            self._take_theirs(read)

    @property
    def is_saved(self) -> bool:
        """Whether the file has all edits."""
        return self._saved_seq == self.document.seq

    def edit(self, seq: int, splice: Splice, name: str = "") -> int:
        """Apply an edit made on state `seq`; return the number of the new state."""
        with self.lock:
            self._require(seq)
            removed = self.document.blocks[splice.at : splice.at + splice.remove]
            self._append(Edited(splice.at, splice.remove, splice.insert, name))
            self.document.edit(splice)
            self._changed(splice, removed)
            return self.document.seq

    def undo(self, seq: int) -> tuple[int, Splice]:
        """Take back the last edit; return the new state and the splice that led to it."""
        with self.lock:
            self._require(seq)
            if not self.document.can_undo:
                raise NothingLeftError("undo")
            self._append(Undone())
            return self._moved(self.document.undo)

    def redo(self, seq: int) -> tuple[int, Splice]:
        """Apply again what was taken back last; return the new state and the splice."""
        with self.lock:
            self._require(seq)
            if not self.document.can_redo:
                raise NothingLeftError("redo")
            self._append(Redone())
            return self._moved(self.document.redo)

    def _moved(self, move: Callable[[], Splice]) -> tuple[int, Splice]:
        before = list(self.document.blocks)
        splice = move()
        self._changed(splice, before[splice.at : splice.at + splice.remove])
        return self.document.seq, splice

    def _require(self, seq: int) -> None:
        if seq != self.document.seq:
            raise StaleError(self.document.seq)

    def _append(self, *records: Record) -> None:
        """Add to the journal; the first record is that of the file as it was opened."""
        if self.is_journal_new:
            opened = OpenedFile(list(self.document.blocks), self._file.sha256)
            self._journal.append(opened, *records)
            self.is_journal_new = False
        else:
            self._journal.append(*records)

    def start_journal(self) -> None:
        """Begin the journal before there is an edit: the file is ours from now on."""
        with self.lock:
            self._append()

    def _changed(self, splice: Splice, removed: list[str]) -> None:
        self.on_splice(splice)
        n_done = [sum(status_of(b) == "done" for b in part) for part in (removed, splice.insert)]
        if n_done[0] != n_done[1]:
            self._wake.set()

    def check_file(self) -> bool:
        """Look whether the file was changed by others since it was read or written.

        If it cannot be read, this is unknown as yet: no conflict, but it is not written either.
        """
        try:
            return self._was_changed()
        except DataError:
            return self.has_conflict

    def _was_changed(self) -> bool:
        with self._save_lock:
            if not self.has_conflict and self._file.was_changed():
                self.has_conflict = True
            return self.has_conflict

    def differing(self) -> tuple[int, int] | None:
        """Return the first and last sentence, from 1, in which a changed file differs from ours.

        None without a conflict, and if the file can no longer be read.
        """
        if not self.has_conflict:
            return None
        try:
            with self._save_lock:
                theirs = self._file.peek()
        except DataError:
            return None
        with self.lock:
            splice = difference(self.document.blocks, theirs)
            first = min(splice.at + 1, len(self.document.blocks))
        return first, max(first, splice.at + splice.remove)

    def save(self) -> bool:
        """Write the file if anything changed; say whether it has all edits now."""
        with self.lock:
            seq, snapshot = self.document.seq, list(self.document.blocks)
        if self._saved_seq == seq:
            return True
        if self._was_changed():
            return False
        with self._save_lock:
            data = "".join(join_blocks(snapshot)).encode("utf-8")
            sha256 = hashlib.sha256(data).hexdigest()
            with self.lock:
                self._append(Saving(sha256))
            self._file.write(data, sha256)
            with self.lock:
                self._append(Saved(sha256))
                self._sums.saved = sha256
                self._saved_seq = seq
        return self.is_saved

    def resolve(self, keep: Whose) -> Path | None:
        """End a conflict: one version stays, a copy of the other is kept beside the file.

        Returns the path of the copy, None if there is no conflict.
        """
        if not self._was_changed():
            return None
        with self._save_lock, self.lock:
            theirs = self._file.read()
            if keep == "mine":
                copy = _keep_copy(self.path, "theirs", "".join(theirs))
                self._saved_seq = -1
            else:
                mine = "".join(join_blocks(self.document.blocks))
                copy = _keep_copy(self.path, "mine", mine)
                self._take_theirs(theirs)
            self._file.forget()
            self.has_conflict = False
        self._wake.set()
        return copy

    def _take_theirs(self, theirs: list[str]) -> None:
        splice = difference(self.document.blocks, theirs)
        edited = Edited(splice.at, splice.remove, splice.insert, _OTHERS)
        self._append(edited, Saved(self._file.sha256))
        self.document.edit(splice)
        self._sums = Checksums(self._file.sha256)
        self._saved_seq = self.document.seq
        self.on_splice(splice)

    def close(self) -> None:
        """Save for the last time, and let go of the journal."""
        self._ending = True
        self._wake.set()
        self._saver.join()
        self._try_to_save()
        self._journal.close()

    def _save_now_and_then(self) -> None:
        while not self._ending:
            self._wake.wait(self._seconds)
            self._wake.clear()
            self._try_to_save()

    def _try_to_save(self) -> None:
        """Save; what cannot be saved is in the journal, and is tried again."""
        try:
            self.save()
        except (HeadwiseError, OSError) as error:
            self.failure = str(error)
        else:
            self.failure = ""


def _checksum(parts: list[str]) -> str:
    return hashlib.sha256("".join(join_blocks(parts)).encode("utf-8")).hexdigest()


def _keep_copy(path: Path, whose: Whose, text: str) -> Path:
    """Write a version beside the file under a name that is free; whoever reads one reads both."""
    names = (path.with_name(f"{path.name}.headwise-{whose}-{n}") for n in range(1, 10_000))
    copy = next(name for name in names if not os.path.lexists(name))
    with whole_file(copy, mode_like(path)) as stream:
        stream.write(text.encode("utf-8"))
    return copy
