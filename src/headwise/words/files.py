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
from typing import BinaryIO, cast

from headwise.errors import DataError

GZIP_MAGIC = b"\x1f\x8b"
XZ_MAGIC = b"\xfd7zXZ\x00"


@contextmanager
def open_source(source: str | Path | BinaryIO) -> Iterator[tuple[BinaryIO, str]]:
    """Open a path, `-` (stdin) or a binary stream for reading, with the name to use in messages.

    What is packed is known by its first bytes, so a pipe may be gz or xz too. A file that opens
    but breaks off or is damaged becomes a `DataError`; a stream that was passed in stays open.
    """
    if isinstance(source, str | Path) and str(source) != "-":
        name, raw = str(source), _open_path(Path(source))
    else:
        raw = sys.stdin.buffer if isinstance(source, str | Path) else source
        name = "<stdin>" if raw is sys.stdin.buffer else str(getattr(raw, "name", "<stream>"))
    try:
        yield _unpack(raw), name
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"packed data is damaged: {error}", name, hint="fetch it again") from error
    finally:
        if name != "<stdin>" and raw is not source:
            raw.close()


def _open_path(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError(str(error.strerror), str(path)) from error


def _unpack(raw: BinaryIO) -> BinaryIO:
    buffered = raw if hasattr(raw, "peek") else io.BufferedReader(cast(io.RawIOBase, raw))
    magic = cast(io.BufferedReader, buffered).peek(6)[:6]
    if magic.startswith(GZIP_MAGIC):
        return cast(BinaryIO, gzip.GzipFile(fileobj=buffered))
    if magic.startswith(XZ_MAGIC):
        return cast(BinaryIO, io.BufferedReader(lzma.LZMAFile(buffered)))
    return buffered


@contextmanager
def open_target(target: str | Path) -> Iterator[BinaryIO]:
    """Open a path or `-` (stdout) for writing; `.gz` and `.xz` pack.

    A path appears whole when the block ends and not at all when it fails.
    """
    if str(target) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    with whole_file(path) as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as packed:
                yield cast(BinaryIO, packed)
        elif path.suffix == ".xz":
            with lzma.LZMAFile(raw, mode="wb") as packed_xz:
                yield cast(BinaryIO, packed_xz)
        else:
            yield raw


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Write a file under a temporary name beside `path`, and rename it when it is whole."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise DataError(str(error.strerror), str(path)) from error
    try:
        with os.fdopen(handle, "wb") as raw:
            yield raw
            raw.flush()
            os.fsync(raw.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise DataError(str(error.strerror), str(path), hint="nothing was written") from error
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
