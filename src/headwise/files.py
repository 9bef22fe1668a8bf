"""Files and streams as bytes: open what may be packed, write so that nothing is left half done."""

import gzip
import io
import lzma
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from headwise.errors import DataError

GZIP_MAGIC = b"\x1f\x8b"
XZ_MAGIC = b"\xfd7zXZ\x00"


@contextmanager
def open_source(source: str | Path | BinaryIO) -> Iterator[tuple[BinaryIO, str]]:
    """Open a path, `-` (stdin) or a binary stream for reading, with the name to use in messages.

    What is packed is known by its first bytes, so a pipe may be gz or xz too. A file that opens
    but breaks off or is damaged becomes a `DataError`; a stream that was passed in stays open.
    """
    is_path = isinstance(source, str | Path) and str(source) != "-"
    if isinstance(source, str | Path):
        name = str(source) if is_path else "<stdin>"
        raw = _open_path(Path(source)) if is_path else standard(sys.stdin, name).buffer
    else:
        name, raw = str(getattr(source, "name", "<stream>")), source
    buffered = cast(
        io.BufferedReader,
        raw if hasattr(raw, "peek") else io.BufferedReader(cast(io.RawIOBase, raw)),
    )
    try:
        yield _unpack(buffered), name
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"packed data is damaged: {error}", name, hint="fetch it again") from error
    except OSError as error:
        raise DataError(_reason(error), name, hint="can the whole of it be read?") from error
    finally:
        if is_path:
            raw.close()
        elif buffered is not raw and not raw.closed:
            buffered.detach()  # or it would close the stream when it goes


def standard(stream: TextIO | None, name: str) -> TextIO:
    """Give stdin or stdout, unless it was closed before we began."""
    if stream is None:
        raise DataError("it is closed", name, hint="name a file instead")
    return stream


def _open_path(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError(_reason(error), str(path), hint="is the path right?") from error


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _unpack(buffered: io.BufferedReader) -> BinaryIO:
    magic = buffered.peek(6)[:6]
    if magic.startswith(GZIP_MAGIC):
        return cast(BinaryIO, gzip.GzipFile(fileobj=buffered))
    if magic.startswith(XZ_MAGIC):
        return cast(BinaryIO, io.BufferedReader(lzma.LZMAFile(buffered)))
    return buffered


@contextmanager
def open_target(target: str | Path) -> Iterator[BinaryIO]:
    """Open a path or `-` (stdout) for writing; `.gz` and `.xz` pack.

    A path appears whole when the block ends and not at all when it fails; a device or a pipe is
    written as it is, never replaced.
    """
    if str(target) == "-":
        with writing("<stdout>", "is there room where it goes?"):
            stream = standard(sys.stdout, "<stdout>").buffer
            yield stream
            stream.flush()
        return
    path = Path(target)
    is_special = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
    with _special_file(path) if is_special else whole_file(path) as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as packed:
                yield cast(BinaryIO, packed)
        elif path.suffix == ".xz":
            with lzma.LZMAFile(raw, mode="wb") as packed_xz:
                yield cast(BinaryIO, packed_xz)
        else:
            yield raw


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, unless it is there."""
    with writing(str(path), "can a folder be made there?"):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Write a file under a temporary name beside `path`, and rename it when it is whole.

    Where `path` is a link, the file that it leads to is written.
    """
    final = Path(os.path.realpath(path))
    with writing(str(path), "can files be made in this folder?"):
        handle, temporary = tempfile.mkstemp(dir=final.parent, prefix=f".{final.name}.")
    try:
        with writing(str(path), "nothing was written"):
            with os.fdopen(handle, "wb") as raw:
                yield raw
                raw.flush()
                os.fsync(raw.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, final)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


@contextmanager
def _special_file(path: Path) -> Iterator[BinaryIO]:
    with writing(str(path), "is there room where it goes?"), path.open("wb") as raw:
        yield raw


@contextmanager
def writing(name: str, hint: str) -> Iterator[None]:
    """Make a failure to write a `DataError`; a pipe that nobody reads any more is no failure."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(_reason(error), name, hint=hint) from error


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
