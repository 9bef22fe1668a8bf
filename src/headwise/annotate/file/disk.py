"""The bytes of the file: read into blocks, replaced as a whole, watched for changes by others."""

import errno
import hashlib
import io
import os
import stat
from collections.abc import Callable
from pathlib import Path

from headwise.errors import DataError
from headwise.files import GZIP_MAGIC, XZ_MAGIC, about_path, whole_file
from headwise.treebank.conllu import blocks

MAX_SENTENCES = 200_000
MAX_FILE_BYTES = 2**29
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
Signature = tuple[int, int, int]
"""Time of the last change, size and inode: while these stay, the bytes do."""


class FileOnDisk:
    """The bytes of the file as they were read or written last."""

    def __init__(self, path: Path) -> None:
        """Know nothing of the file yet."""
        self._path = path
        self.sha256 = ""
        self._signature: Signature | None = None
        self._peeked: tuple[Signature | None, list[str]] | None = None

    def read(self) -> list[str]:
        """Read the blocks of the file."""
        signature = self._look()
        data = _read_bytes(self._path, _open_regular)
        self.sha256, self._signature = hashlib.sha256(data).hexdigest(), signature
        return split_blocks(data, str(self._path))

    def peek(self) -> list[str]:
        """Read the blocks that others wrote, once, without taking them for the known ones."""
        signature = self._look()
        if self._peeked is None or signature != self._peeked[0]:
            self._peeked = (
                signature,
                split_blocks(_read_bytes(self._path, _open_regular), str(self._path)),
            )
        return self._peeked[1]

    def forget(self) -> None:
        """Let go of the blocks that `peek` keeps."""
        self._peeked = None

    def write(self, data: bytes, sha256: str) -> None:
        """Replace the file."""
        with whole_file(self._path) as stream:
            stream.write(data)
        # Others may change it at any time: `was_changed` looks first, then compares the bytes.
        self.sha256, self._signature = sha256, None

    def was_changed(self) -> bool:
        """Return whether others have changed the bytes; a file that is gone is written again."""
        signature = self._look()
        if signature is None or signature == self._signature:
            return False
        if hashlib.sha256(_read_bytes(self._path, _open_regular)).hexdigest() != self.sha256:
            return True
        self._signature = signature
        return False

    def _look(self) -> Signature | None:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(self._path, error) from error
        return found.st_mtime_ns, found.st_size, found.st_ino


def mode_like(path: Path) -> int:
    """Return the permissions of a new file that others may read only if they may read this one."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return 0o600
    return mode & 0o666 | 0o600


def _open_regular(name: str, flags: int) -> int:
    """Open a regular file; a pipe that has taken its place is not waited for."""
    descriptor = os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "this is not a regular file")
    return descriptor


def _read_bytes(path: Path, opener: Callable[[str, int], int] | None = None) -> bytes:
    name = str(path)
    try:
        with open(path, "rb", opener=opener) as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(data) > MAX_FILE_BYTES:
        what = f"the file has more than {MAX_FILE_BYTES >> 20} MiB"
        raise DataError(what, name, hint="annotate it in parts")
    if data.startswith((GZIP_MAGIC, XZ_MAGIC)):
        raise DataError("the file is compressed", name, hint="unpack it first: gunzip, unxz")
    if data.startswith(_BYTE_ORDER_MARK):
        raise DataError("the file starts with a byte order mark", name, 1, "save it without BOM")
    return data


def _unreadable(path: Path, error: OSError) -> DataError:
    return DataError(error.strerror or str(error), str(path), hint=about_path(str(path)))


def read_blocks(path: Path) -> list[str]:
    """Read the sentences of a file, well-formed or not."""
    return split_blocks(_read_bytes(path), str(path))


def split_blocks(data: bytes, name: str) -> list[str]:
    """Split a file into its sentences, well-formed or not; joined, they are the file again."""
    found: list[str] = []
    for line, block in blocks(io.BytesIO(data), name):
        try:
            found.append(b"".join(block).decode("utf-8"))
        except UnicodeDecodeError as error:
            at = line + error.object[: error.start].count(b"\n")
            hint = "convert the file first: iconv -f ENCODING -t UTF-8"
            raise DataError("the line is not UTF-8", name, at, hint) from None
        if len(found) > MAX_SENTENCES:
            what = f"the file has more than {MAX_SENTENCES:,} sentences"
            raise DataError(what, name, hint="annotate it in parts")
    return found
