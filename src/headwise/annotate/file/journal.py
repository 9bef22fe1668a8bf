"""The journal beside a file: every operation on it, one JSON line each, flushed before it counts.

The first line holds the blocks as they were when the file was opened first; then come edits, undos
and redos, and what was written to the file and when. So the journal alone gives the present state
with all its history, whatever happened to the server or to the file. Only the last line may be cut
off: it was never confirmed.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from headwise.annotate.file.document import EditedDocument, Splice
from headwise.errors import ConfigError, DataError
from headwise.files import writing

SUFFIX = ".headwise-journal"
VERSION_OF_JOURNAL = 1
_START = b'{"type":"opened"'
"""What a journal begins with; nothing is cut off a file that begins with something else."""
_HINT = "move the journal away to start over from the file; keep it, because it contains the edits"


class OpenedFile(msgspec.Struct, frozen=True, tag="opened"):
    """The blocks of the file when it was opened first, and the checksum of its bytes."""

    blocks: list[str]
    sha256: str
    version: int = VERSION_OF_JOURNAL


class Edited(msgspec.Struct, frozen=True, tag="edit"):
    """A splice, and what the page calls it."""

    at: int
    remove: int
    insert: tuple[str, ...]
    label: str = msgspec.field(default="", name="name")


class Undone(msgspec.Struct, frozen=True, tag="undo"):
    """The last edit was taken back."""


class Redone(msgspec.Struct, frozen=True, tag="redo"):
    """What was taken back last was done again."""


class Saving(msgspec.Struct, frozen=True, tag="saving"):
    """The file is about to get these bytes."""

    sha256: str


class Saved(msgspec.Struct, frozen=True, tag="saved"):
    """The file has these bytes."""

    sha256: str


Operation = Edited | Undone | Redone
Record = OpenedFile | Operation | Saving | Saved


class Journal:
    """The journal of one file, open and locked: one workbench at a time writes to it."""

    def __init__(self, path: Path, mode: int = 0o600) -> None:
        """Open it, or create it with these permissions."""
        self.path = path
        with writing(str(path), "the journal stands beside the file; can files be made there?"):
            self._file = os.fdopen(_open(path, mode), "a+b", buffering=0)
            _flush_folder(path.parent)
        try:
            _lock(self._file, path)
            self._size = os.path.getsize(path)
        except BaseException:
            self._file.close()
            raise

    def read(self) -> Iterator[Record]:
        """Read all records; a last line that was cut off is removed."""
        self._file.seek(0)
        with os.fdopen(os.dup(self._file.fileno()), "rb") as stream:
            end = 0
            for number, line in enumerate(stream, 1):
                if not line.endswith(b"\n"):
                    if not (end or line.startswith(_START) or _START.startswith(line)):
                        raise DataError("this is not a journal", str(self.path), 1, _HINT)
                    break
                try:
                    record = msgspec.json.decode(line, type=Record)
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                    what = f"not a record of a journal: {error}"
                    raise DataError(what, str(self.path), number, _HINT) from error
                end += len(line)
                yield record
        self._truncate(end)

    def append(self, *records: Record) -> None:
        """Add records and flush them to the disk; if that fails, none is added."""
        data = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
        try:
            with writing(str(self.path), "nothing was changed; is the disk full?"):
                _write_all(self._file, data)
                os.fsync(self._file.fileno())
        except DataError:
            with suppress(OSError):
                self._truncate(self._size)
            raise
        self._size += len(data)

    def close(self) -> None:
        """Close it; without a record it is removed."""
        if not self._size:
            with suppress(OSError):  # the folder may be gone
                self.path.unlink()
        self._file.close()

    def _truncate(self, size: int) -> None:
        if size != os.fstat(self._file.fileno()).st_size:
            os.ftruncate(self._file.fileno(), size)
        self._size = size


def _open(path: Path, mode: int) -> int:
    """Open or create a regular file; a link could lead to any file, and is not followed."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):  # not on every system
        flags |= getattr(os, name, 0)
    what, hint = "a journal is a regular file, and this is not", "look what it is, and move it away"
    refused = DataError(what, str(path), hint=hint)
    if path.is_symlink():
        raise refused
    descriptor = os.open(path, flags, mode)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise refused
    return descriptor


def _flush_folder(folder: Path) -> None:
    """Flush the name of a new file to the disk, where a system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_all(file: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _lock(file: BinaryIO, path: Path) -> None:
    """Refuse a second workbench on the same file; the lock goes with the process."""
    try:
        import fcntl
    except ModuleNotFoundError:  # not on every system
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        what = f"{path}: another headwise annotate has this file open"
        raise ConfigError(what, "close it first, or use its page") from error


def replay(records: Iterable[Record], path: Path) -> tuple[EditedDocument, "Checksums"] | None:
    """Make the document of a journal, and the checksums that its file may have; None if empty."""
    document: EditedDocument | None = None
    checksums = Checksums()
    for number, record in enumerate(records, 1):
        if isinstance(record, OpenedFile):
            if record.version != VERSION_OF_JOURNAL or document is not None:
                what = f"a journal of version {record.version}, or two in one file"
                raise DataError(what, str(path), number, _HINT)
            document = EditedDocument(list(record.blocks))
            checksums = Checksums(record.sha256)
        elif document is None or not _replay_one(record, document, checksums):
            raise DataError("this operation does not fit the file", str(path), number, _HINT)
    return None if document is None else (document, checksums)


class Checksums:
    """Which bytes the file has: those saved last or, if that was interrupted, those before."""

    def __init__(self, saved: str = "") -> None:
        """Start with the bytes that the file had when it was opened."""
        self.saved = saved
        self.saving = ""

    def allow(self, sha256: str) -> bool:
        """Return whether a file with this checksum was written by us."""
        return sha256 in (self.saved, self.saving)


def _replay_one(
    record: Operation | Saving | Saved, document: EditedDocument, sums: Checksums
) -> bool:
    """Apply a record to the document; say whether it fits."""
    match record:
        case Edited():
            splice = Splice(record.at, record.remove, record.insert)
            if not document.fits(splice):
                return False
            document.edit(splice)
        case Undone():
            if not document.can_undo:
                return False
            document.undo()
        case Redone():
            if not document.can_redo:
                return False
            document.redo()
        case Saving():
            sums.saving = record.sha256
        case Saved():
            sums.saved, sums.saving = record.sha256, ""
    return True
