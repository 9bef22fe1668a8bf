"""Inputs as files: found in folders and by patterns, on any file system; opened and unpacked.

A path is local, or a URI of whatever Arrow knows (`s3://`, `gs://`, `hdfs://`, `file://`) or
fsspec does. A name with `*`, `?` or `[` that is no file is a pattern; `**` stands for any number
of folders. A folder means all files below it; files and folders whose names begin with `.` or `_`
are left out there, as Spark and Arrow do: such are the records beside the shards of a corpus.
"""

import gzip
import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast

import pyarrow as pa
from pyarrow import fs

from headwise.errors import DataError
from headwise.files import GZIP_MAGIC, XZ_MAGIC, open_source

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_MAGICS = (GZIP_MAGIC, XZ_MAGIC, ZSTD_MAGIC)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_PATTERN = re.compile(r"[*?\[]")
_DAMAGE = re.compile(r"ZSTD|Truncated compressed stream")
"""What Arrow says of zstd that is damaged: it is an OSError like any other."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file: how to open it again, its size in bytes, and when it was changed (ns; 0: unknown)."""

    path: str
    size: int
    modified: int


class DamagedError(DataError):
    """A file that can be read but not unpacked: what follows in it is lost."""


def find_files(inputs: Sequence[str]) -> list[Found]:
    """Find the files that inputs stand for, each once, sorted by path."""
    found = {file.path: file for given in inputs for file in _expand(given)}
    return [found[path] for path in sorted(found)]


def _expand(given: str) -> list[Found]:
    system, path = locate(given)
    prefix = given[: len(given) - len(path)] if given.endswith(path) else ""
    if _SCHEME.match(given) and not prefix:
        prefix = given[: given.index("://") + 3]
    with _reaching(given):
        info = system.get_file_info(path)
        if info.type == fs.FileType.File:
            return [_found(info, prefix)]
        if info.type == fs.FileType.Directory:
            files = _below(system, path, path)
        elif _PATTERN.search(path):
            files = _matching(system, path)
        else:
            raise DataError("No such file or directory", given, hint="is the path right?")
    if not files:
        raise DataError("no files here", given, hint="names that begin with . or _ are left out")
    return [_found(info, prefix) for info in files]


def _found(info: fs.FileInfo, prefix: str) -> Found:
    return Found(prefix + info.path, info.size or 0, info.mtime_ns or 0)


def _below(system: fs.FileSystem, folder: str, root: str) -> list[fs.FileInfo]:
    """List the files of a folder and the folders in it, the hidden ones left out."""
    infos = system.get_file_info(fs.FileSelector(folder, recursive=True))
    n_root = len(root.rstrip("/"))
    return [
        info
        for info in infos
        if info.type == fs.FileType.File
        and not any(part.startswith((".", "_")) for part in info.path[n_root:].split("/"))
    ]


def _matching(system: fs.FileSystem, pattern: str) -> list[fs.FileInfo]:
    match = _PATTERN.search(pattern)
    assert match
    root = pattern[: match.start()].rpartition("/")[0] or ("/" if pattern[0] == "/" else "")
    rule = re.compile(_as_regex(pattern))
    folder = root or "."
    if system.get_file_info(folder).type != fs.FileType.Directory:
        return []
    files = _below(system, folder, folder)
    return [info for info in files if rule.fullmatch(info.path.removeprefix("./"))]


def _as_regex(pattern: str) -> str:
    r"""Write a pattern of the shell as a regular expression: `a/*.txt` as `a/[^/]*\.txt`."""
    parts = re.split(r"(\*\*/|\*|\?|\[[^\]]+\])", pattern)
    known = {"**/": "(.*/)?", "*": "[^/]*", "?": "[^/]"}
    return "".join(
        known.get(part) or (part.replace("[!", "[^") if part[:1] == "[" else re.escape(part))
        for part in parts
    )


def locate(path: str) -> tuple[fs.FileSystem, str]:
    """Find the file system of a path or URI, and the path on it."""
    if not _SCHEME.match(path):
        return fs.LocalFileSystem(), path
    with _reaching(path):
        try:
            system, inside = fs.FileSystem.from_uri(path)
        except pa.ArrowInvalid:
            return _locate_by_fsspec(path)
    return system, inside


def _locate_by_fsspec(path: str) -> tuple[fs.FileSystem, str]:
    import fsspec

    try:
        system, inside = fsspec.core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        hint = "Arrow and fsspec know no such file system; is a package for it missing?"
        raise DataError(str(error), path, hint=hint) from error
    return fs.PyFileSystem(fs.FSSpecHandler(system)), inside


@contextmanager
def _reaching(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        hint = "can it be read from here? the same command goes on where it stopped"
        what = os.strerror(error.errno) if error.errno else str(error)
        raise DataError(what, path, hint=hint) from error


def is_packed(path: str) -> bool:
    """Look whether a file is gz, xz or zstd, by its first bytes."""
    system, inside = locate(path)
    with _reaching(path), system.open_input_stream(inside, compression=None) as stream:
        return bytes(stream.read(6)).startswith(_MAGICS)


@contextmanager
def open_random(path: str) -> Iterator[pa.NativeFile]:
    """Open a file to read here and there, as it is."""
    system, inside = locate(path)
    with _reaching(path), system.open_input_file(inside) as file:
        yield file


@contextmanager
def open_at(path: str, start: int) -> Iterator[BinaryIO]:
    """Open a file from byte `start` on; from 0 on, what is packed is unpacked.

    Packed data that is damaged raises `DamagedError`; what cannot be read, another `DataError`.
    """
    with open_random(path) as file:
        packing = b"" if start else file.read(6)
        file.seek(start)
        try:
            if packing.startswith(ZSTD_MAGIC):
                yield _buffered(pa.CompressedInputStream(file, "zstd"))
            elif packing.startswith(_MAGICS):
                with open_source(_buffered(file)) as (stream, _):
                    yield stream
            else:
                yield _buffered(file)
        except OSError as error:
            if error.errno is None and _DAMAGE.search(str(error)):
                raise DamagedError(f"compressed data is damaged: {error}", path) from error
            raise
        except DataError as error:
            cause = error.__cause__
            is_damage = not isinstance(cause, OSError) or isinstance(cause, gzip.BadGzipFile)
            what = error.what.removeprefix(f"{error.source}: ")
            raise (DamagedError if is_damage else DataError)(what, path, hint=error.hint) from error


def _buffered(stream: pa.NativeFile) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, stream), 2**16))
