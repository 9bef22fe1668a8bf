"""Open files and streams as bytes: decompress on reading, write atomically.

A failure of the file itself becomes a `DataError` that names it. Errors of the code that uses the
file pass through unchanged. The streams remember their own failures, so the two can be
distinguished.
"""

import gzip
import io
import lzma
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import SequenceMatcher, get_close_matches
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

from headwise.errors import DataError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

GZIP_MAGIC = b"\x1f\x8b"
XZ_MAGIC = b"\xfd7zXZ\x00"
_DAMAGE = (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile)
_XZ_ALIGNMENT = 4
"""Stream padding between or after xz streams is zeros, a multiple of four of them."""
_DESCRIPTORS = "/proc/self/fd"
_SIMILAR = 0.8
"""How alike two names are if one may be a mistyped form of the other, from 0 to 1."""
_SIMILAR_STARTS = 0.6
_MOST_SIMILAR = 5
_MAX_NAMES = 5_000
"""Names in a folder that are compared with a mistyped one."""


@contextmanager
def open_source(source: str | Path | BinaryIO) -> Iterator[tuple[BinaryIO, str]]:
    """Open a path, `-` (stdin) or a binary stream for reading, with the name to use in messages.

    gzip and xz are recognised by their first bytes, so a pipe may be compressed too. A file that
    cannot be read to its end, or is damaged, is a `DataError`. A stream that was passed in stays
    open.
    """
    is_path = isinstance(source, str | Path) and str(source) != "-"
    if isinstance(source, str | Path):
        name = str(source) if is_path else "<stdin>"
        raw = open_file(Path(source)) if is_path else standard(sys.stdin, name).buffer
    else:
        name, raw = str(getattr(source, "name", "<stream>")), source
    buffered = cast(
        io.BufferedReader,
        raw if hasattr(raw, "peek") else io.BufferedReader(cast(io.RawIOBase, raw)),
    )
    reader = None
    try:
        reader = _Reader(_decompress(buffered))
        with io.BufferedReader(reader) as stream:
            yield cast(BinaryIO, stream), name
    except (OSError, *_DAMAGE) as error:
        if reader is not None and error is not reader.failure:
            raise
        if isinstance(error, _DAMAGE):
            what, hint = f"compressed data is damaged: {error}", "fetch it again"
        else:
            what, hint = _reason(error), "can all of it be read?"
        raise DataError(what, name, hint=hint) from error
    finally:
        if is_path:
            raw.close()
        elif buffered is not raw and not raw.closed:
            buffered.detach()  # or it would close the stream when it is collected


def standard(stream: TextIO | None, name: str) -> TextIO:
    """Return stdin or stdout, unless it was closed before the program started."""
    if stream is None:
        raise DataError("it is closed", name, hint="name a file instead")
    return stream


def open_file(path: str | Path) -> BinaryIO:
    """Open a file for reading; a failure is a `DataError` that names it."""
    try:
        return open(path, "rb")
    except OSError as error:
        raise DataError(_reason(error), str(path), hint=about_path(str(path))) from error


def about_path(path: str) -> str:
    """Describe what may be wrong with the path of a file that cannot be opened."""
    if os.path.isdir(path):
        return "name a file in this folder"
    similar = None if os.path.exists(path) else similar_name(path)
    return f"did you mean {quote(similar)}?" if similar else "is the path right?"


def similar_name(path: str) -> str | None:
    """Find the file that was probably meant: spelt nearly alike, or the same but for its ending."""
    folder, name = os.path.split(path)
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for entry in islice(entries, _MAX_NAMES)]
    except (OSError, ValueError):  # ValueError: the name has a zero byte
        return None
    names = [other for other in names if len(other.split()) == len(name.split())]
    without_ending = [other for other in names if name and os.path.splitext(other)[0] == name]
    similar = get_close_matches(name, names, _MOST_SIMILAR, _SIMILAR)
    close = without_ending or [other for other in similar if _start_alike(other, name)]
    return os.path.join(folder, close[0]) if close else None


def _start_alike(one: str, other: str) -> bool:
    """Compare names up to their endings, which are long and often the same."""
    start, other_start = (name.partition(".")[0] or name for name in (one, other))
    return SequenceMatcher(None, start, other_start).ratio() >= _SIMILAR_STARTS


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _decompress(buffered: io.BufferedReader) -> "io.BufferedIOBase | _XzReader":
    magic = buffered.peek(6)[:6]
    if magic.startswith(GZIP_MAGIC):
        return gzip.GzipFile(fileobj=buffered)
    return _XzReader(buffered) if magic.startswith(XZ_MAGIC) else buffered


def unpack_start(data: bytes, max_bytes: int) -> bytes:
    """Decompress the first bytes of a file as far as they go; damage is left for later."""
    try:
        if data.startswith(GZIP_MAGIC):
            return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, max_bytes)
        if data.startswith(XZ_MAGIC):
            return lzma.LZMADecompressor().decompress(data, max_bytes)
    except _DAMAGE:
        return b""
    return data[:max_bytes]


class _Reader(io.RawIOBase):
    """Reads from a stream, and remembers the error that it failed with."""

    def __init__(self, stream: "io.BufferedIOBase | _XzReader") -> None:
        self._stream = stream
        self.failure: BaseException | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int | None:
        try:
            if isinstance(self._stream, _XzReader):
                return self._stream.readinto(buffer)
            # `readinto1` may read once more although it has data, and lose a Ctrl-D.
            room = memoryview(buffer).cast("B")
            data = self._stream.read1(len(room))
            room[: len(data)] = data
            return len(data)
        except (OSError, *_DAMAGE) as error:
            self.failure = error
            raise


class _XzReader:
    """Decompresses one xz stream after the other.

    `lzma.LZMAFile` stops silently after the first stream if what follows is not a valid header, so
    a damaged second stream would be lost.
    """

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ)

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer).cast("B")
        data, compressed = b"", b""
        while not data:
            if self._decompressor.eof:
                compressed = self._skip_padding()
                if not compressed:
                    return 0
                self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ)
            elif self._decompressor.needs_input:
                compressed = self._stream.read1()
                if not compressed:
                    raise EOFError("it ends before the end of the xz stream")
            data = self._decompressor.decompress(compressed, len(view))
            compressed = b""
        view[: len(data)] = data
        return len(data)

    def _skip_padding(self) -> bytes:
        """Skip the zeros after a stream, and return the start of what follows."""
        rest, n_zeros = b"", 0
        data = self._decompressor.unused_data or self._stream.read1()
        while data and not rest:
            rest = data.lstrip(b"\0")
            n_zeros += len(data) - len(rest)
            data = b"" if rest else self._stream.read1()
        if n_zeros % _XZ_ALIGNMENT:
            raise lzma.LZMAError(f"{n_zeros} zeros after a stream, not a multiple of four")
        return rest


@contextmanager
def open_target(target: str | Path) -> Iterator[BinaryIO]:
    """Open a path or `-` (stdout) for writing; `.gz` and `.xz` are compressed.

    A file appears complete when the block ends, and not at all if the block fails. A device or a
    pipe is written to directly and never replaced.
    """
    if str(target) == "-":
        stdout = standard(sys.stdout, "<stdout>").buffer
        writer = _Writer(stdout)
        with writing("<stdout>", "is there enough space on the disk?", writer):
            yield cast(BinaryIO, writer)
            writer.flush()
        return
    path = Path(target)
    is_special = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
    with _special_file(path) if is_special else whole_file(path) as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as gzip_stream:
                yield cast(BinaryIO, gzip_stream)
        elif path.suffix == ".xz":
            with lzma.LZMAFile(raw, mode="wb") as xz_stream:
                yield cast(BinaryIO, xz_stream)
        else:
            yield raw


def make_folder(path: Path) -> None:
    """Create a folder and its parents, unless they exist."""
    with writing(str(path), "can a folder be created there?"):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def whole_file(path: Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """Write a file beside `path`, and put it in place when it is complete.

    If `path` is a link, the file that it leads to is written. A file that is replaced keeps its
    permissions. Where the system allows it, the new file has no name until it is complete, so that
    nothing is left behind even if the process is killed.

    With `mode`, it is a new file with these permissions, less the umask; a link is not followed.
    """
    final = Path(os.path.realpath(path)) if mode is None else path
    keeps = mode is None and os.path.exists(final)
    if mode is None:
        mode = 0o600 if keeps else 0o666  # what is replaced may be private
    temporary = final.with_name(f".{final.name}.{secrets.token_hex(4)}")
    hint = "can files be created in this folder?"
    if not final.parent.exists():
        hint = f"there is no such folder; create it first: mkdir -p {quote(str(path.parent))}"
    with writing(str(path), hint):
        descriptor = _create(temporary, mode)
    try:
        with (
            io.FileIO(descriptor, "wb") as file,
            _buffered(file, path, "nothing was written") as raw,
        ):
            yield raw
            raw.flush()
            with writing(str(path), "nothing was written"):
                if keeps:
                    _keep_permissions(descriptor, final)
                _complete(descriptor, temporary)
        with writing(str(path), "nothing was written"):
            os.replace(temporary, final)  # Windows does not rename what is open
    finally:
        temporary.unlink(missing_ok=True)


def _create(temporary: Path, mode: int) -> int:
    """Open a file without a name in the folder of `temporary`, or else one with that name."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir(_DESCRIPTORS):
        with suppress(OSError):  # not every file system can
            return os.open(temporary.parent, os.O_TMPFILE | os.O_WRONLY, mode)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    return os.open(temporary, flags, mode)


def _keep_permissions(descriptor: int, final: Path) -> None:
    """Give a file the permissions of the one that it replaces."""
    if hasattr(os, "fchmod"):  # on Windows since Python 3.13
        with suppress(FileNotFoundError):
            os.fchmod(descriptor, stat.S_IMODE(final.stat().st_mode))


def _complete(descriptor: int, temporary: Path) -> None:
    """Give a file that is written its name, `temporary`."""
    os.fsync(descriptor)
    if not os.fstat(descriptor).st_nlink:
        # Only with a folder given does os.link follow the link to the file that has no name.
        path = f"{_DESCRIPTORS}/{descriptor}"
        os.link(path, temporary, src_dir_fd=descriptor, follow_symlinks=True)


@contextmanager
def _special_file(path: Path) -> Iterator[BinaryIO]:
    hint = "is there enough space on the disk?"
    with writing(str(path), hint):
        file = io.FileIO(path, "wb")
    with file, _buffered(file, path, hint) as raw:
        yield raw


@contextmanager
def _buffered(file: io.FileIO, path: Path, hint: str) -> Iterator[BinaryIO]:
    writer = _Writer(file)
    with writing(str(path), hint, writer), io.BufferedWriter(writer) as raw:
        yield cast(BinaryIO, raw)


class _Writer(io.RawIOBase):
    """Writes to a stream, and remembers the error that it failed with."""

    def __init__(self, stream: BinaryIO | io.FileIO) -> None:
        self._stream = stream
        self.failure: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer") -> int | None:
        try:
            return self._stream.write(data)
        except OSError as error:
            self.failure = error
            raise

    def flush(self) -> None:
        try:
            if not self._stream.closed:
                self._stream.flush()
        except OSError as error:
            self.failure = error
            raise


@contextmanager
def writing(name: str, hint: str, writer: _Writer | None = None) -> Iterator[None]:
    """Turn a failure to write into a `DataError`, except for a pipe without a reader.

    With `writer`, other errors than its own pass through.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if writer is not None and error is not writer.failure:
            raise
        raise DataError(_reason(error), name, hint=hint) from error
