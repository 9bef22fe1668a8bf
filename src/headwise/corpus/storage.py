"""Input files: find them in folders and by pattern, on any file system; open and decompress them.

A path is local, or a URI that Arrow (`s3://`, `gs://`, `hdfs://`, `file://`) or fsspec supports. If
no file has that name, `*`, `?` and `[` make it a pattern; `**` matches any number of folders. A
folder stands for all files below it. Files and folders whose names start with `.` or `_` are
skipped there, as in Spark and Arrow: the records of a corpus beside its shards have such names.
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

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_MAGICS = (GZIP_MAGIC, XZ_MAGIC, _ZSTD_MAGIC)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_WILDCARD = re.compile(r"[*?\[]")
_ZSTD_DAMAGE = re.compile(r"ZSTD|Truncated compressed stream")
"""Arrow reports damaged zstd as a plain OSError; only the message tells it from a failed read."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file: its path or URI, size in bytes, and modification time (ns; 0 if unknown)."""

    path: str
    size: int
    modified: int


class DamagedError(DataError):
    """A file that can be read but not decompressed; the rest of it is lost."""


def list_inputs(inputs: Sequence[str]) -> list[InputFile]:
    """List the files that the inputs stand for, each once, sorted by path."""
    files = {file.path: file for given in inputs for file in _expand(given)}
    return [files[path] for path in sorted(files)]


def _expand(given: str) -> list[InputFile]:
    system, path = _locate(given)
    prefix = given[: len(given) - len(path)] if given.endswith(path) else ""
    if _SCHEME.match(given) and not prefix:
        prefix = given[: given.index("://") + 3]
    with _read_errors(given):
        info = system.get_file_info(path)
        if info.type == fs.FileType.File:
            infos = [info]
        elif info.type == fs.FileType.Directory:
            infos = _list_folder(system, path)
        elif _WILDCARD.search(path):
            infos = _match_pattern(system, path)
        else:
            raise DataError("No such file or directory", given, hint="check the path")
    if not infos:
        raise DataError("no files here", given, hint="names that start with . or _ are skipped")
    return [InputFile(prefix + info.path, info.size or 0, info.mtime_ns or 0) for info in infos]


def _list_folder(system: fs.FileSystem, folder: str) -> list[fs.FileInfo]:
    """List the files at any depth below a folder, without hidden ones."""
    n_folder = len(folder.rstrip("/"))
    return [
        info
        for info in system.get_file_info(fs.FileSelector(folder, recursive=True))
        if info.type == fs.FileType.File
        and not any(part.startswith((".", "_")) for part in info.path[n_folder:].split("/"))
    ]


def _match_pattern(system: fs.FileSystem, pattern: str) -> list[fs.FileInfo]:
    from fsspec.utils import glob_translate  # only here: its import takes a twentieth of a second

    try:
        expression = re.compile(glob_translate(pattern))
    except ValueError as error:
        raise DataError(str(error), pattern, hint="for example 'crawl/**/*.txt'") from error
    folder, slash, _ = _WILDCARD.split(pattern)[0].rpartition("/")
    folder = folder or slash
    if system.get_file_info(folder).type != fs.FileType.Directory:
        return []
    return [info for info in _list_folder(system, folder) if expression.fullmatch(info.path)]


def _locate(path: str) -> tuple[fs.FileSystem, str]:
    """Find the file system of a path or URI, and the path on it."""
    if not _SCHEME.match(path):
        return fs.LocalFileSystem(), os.path.abspath(path)
    with _read_errors(path):
        try:
            return cast("tuple[fs.FileSystem, str]", fs.FileSystem.from_uri(path))
        except pa.ArrowInvalid:
            import fsspec  # not one of Arrow's own
        try:
            system, path_inside = fsspec.core.url_to_fs(path)
        except (ImportError, ValueError) as error:
            hint = "neither Arrow nor fsspec supports it; it may need another package"
            raise DataError(str(error), path, hint=hint) from error
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path_inside


@contextmanager
def _read_errors(path: str) -> Iterator[None]:
    """Turn a failure to reach a file into a `DataError`."""
    try:
        yield
    except OSError as error:
        what = os.strerror(error.errno) if error.errno else str(error)
        hint = "check that it can be read; the same command continues where it stopped"
        raise DataError(what, path, hint=hint) from error


def is_compressed(path: str) -> bool:
    """Tell from the first bytes of a file whether it is gz, xz or zstd."""
    with open_random(path) as file:
        return bytes(file.read(6)).startswith(_MAGICS)


@contextmanager
def open_random(path: str) -> Iterator[pa.NativeFile]:
    """Open a file for random access, without decompressing it."""
    system, path_inside = _locate(path)
    with _read_errors(path), system.open_input_file(path_inside) as file:
        yield file


@contextmanager
def open_at(path: str, start: int) -> Iterator[BinaryIO]:
    """Open a file at byte `start`; at 0, decompress it if it is compressed.

    Damaged compressed data raises `DamagedError`; a failed read raises another `DataError`.
    """
    with open_random(path) as file:
        magic = b"" if start else file.read(6)
        file.seek(start)
        try:
            if magic.startswith(_ZSTD_MAGIC):
                yield _buffered(pa.CompressedInputStream(file, "zstd"))
            elif magic.startswith(_MAGICS):
                with open_source(_buffered(file)) as (stream, _):
                    yield stream
            else:
                yield _buffered(file)
        except OSError as error:
            if error.errno is None and _ZSTD_DAMAGE.search(str(error)):
                raise DamagedError(f"compressed data is damaged: {error}", path) from error
            raise
        except DataError as error:
            cause = error.__cause__
            is_damage = not isinstance(cause, OSError) or isinstance(cause, gzip.BadGzipFile)
            what = error.what.removeprefix(f"{error.source}: ")
            raise (DamagedError if is_damage else DataError)(what, path, hint=error.hint) from error


def _buffered(stream: pa.NativeFile) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, stream), 2**16))
