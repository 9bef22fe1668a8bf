"""Write one shard, CoNLL-U or Parquet, completely or not at all, with its checksum.

In CoNLL-U made from text, the first sentence of a document has `# newdoc id` and, if there is any,
`# metadata` (a JSON object). `# sent_id` is the id of the document and a number, with white space,
`/` and `%` written as `%20`, `%2F` and `%25`, because the format allows neither white space nor `/`
there. Input that was CoNLL-U keeps every byte except the columns to fill, as in `headwise parse`.
"""

import gzip
import hashlib
import io
import lzma
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from headwise.corpus.columns import SCHEMA, sentence_row
from headwise.corpus.documents import Document
from headwise.corpus.plan import Compression, ShardFormat
from headwise.errors import ConfigError
from headwise.files import whole_file
from headwise.treebank.sentence import Parse, Sentence

_SUFFIXES = {"xz": ".xz", "zstd": ".zst", "gzip": ".gz", "none": ""}
_XZ_PRESET = 1
"""Many times as fast as the default, for files that are a tenth larger."""
_ROW_GROUP_WORDS = 50_000
"""Words in a row group of Parquet, and so in memory."""
_ESCAPED = re.compile(r"[\s/%\x00-\x1f\x7f-\x9f]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


ShardEntry = tuple[Document, int, Sentence, Parse]
"""A parsed sentence, its document, and its number there (from 1)."""


@dataclass(frozen=True, slots=True)
class FileDigest:
    """Size and checksum of a file."""

    size: int
    sha256: str


def shard_name(index: int, shard_format: ShardFormat, compression: Compression) -> str:
    """Name a shard: `shard-00000042.conllu.xz`, `shard-00000042.parquet`."""
    is_parquet = shard_format == "parquet"
    suffix = ".parquet" if is_parquet else f".conllu{_SUFFIXES[compression]}"
    return f"shard-{index:08}{suffix}"


def check_compression(shard_format: ShardFormat, compression: Compression) -> None:
    """Refuse a compression that the format does not have."""
    if compression == ("xz" if shard_format == "parquet" else "snappy"):
        is_parquet = shard_format == "parquet"
        possible = "zstd, gzip, snappy, none" if is_parquet else "xz, zstd, gzip, none"
        what = f"--compression {compression} is not possible with --format {shard_format}"
        raise ConfigError(what, f"choose one of {possible}")


def write_shard(
    path: Path,
    shard_format: ShardFormat,
    compression: Compression,
    entries: Iterable[ShardEntry],
    row_group_words: int = _ROW_GROUP_WORDS,
) -> FileDigest:
    """Write sentences, in order, to a shard."""
    with whole_file(path) as raw:
        stream = _HashingStream(raw)
        if shard_format == "parquet":
            _write_parquet(stream, compression, entries, row_group_words)
        else:
            with _compressed(stream, compression) as compressed:
                for entry in entries:
                    compressed.write(_as_conllu(entry).encode("utf-8"))
    return FileDigest(stream.size, stream.hash.hexdigest())


class _HashingStream(io.RawIOBase):
    """Counts and hashes what is written."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.size = 0
        self.hash = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: "bytes | memoryview") -> int:  # type: ignore[override]
        view = memoryview(data).cast("B")
        self._raw.write(view)
        self.hash.update(view)
        self.size += len(view)
        return len(view)

    def tell(self) -> int:
        return self.size


@contextmanager
def _compressed(stream: _HashingStream, compression: Compression) -> Iterator[BinaryIO]:
    raw = cast(BinaryIO, stream)
    if compression == "xz":
        with lzma.LZMAFile(raw, mode="wb", preset=_XZ_PRESET) as xz_stream:
            yield cast(BinaryIO, xz_stream)
    elif compression == "gzip":
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as gzip_stream:
            yield cast(BinaryIO, gzip_stream)
    elif compression == "zstd":
        with pa.CompressedOutputStream(pa.PythonFile(stream, "w"), "zstd") as zstd_stream:
            yield cast(BinaryIO, zstd_stream)
    else:
        yield raw


def _write_parquet(
    stream: _HashingStream,
    compression: Compression,
    entries: Iterable[ShardEntry],
    row_group_words: int,
) -> None:
    rows: list[dict[str, object]] = []
    n_words = 0
    with pq.ParquetWriter(stream, SCHEMA, compression=compression) as writer:
        for document, number, sentence, parse in entries:
            if len(sentence):  # not blank lines of CoNLL-U
                rows.append(sentence_row(document, number, sentence, parse))
                n_words += len(sentence)
            if n_words >= row_group_words:
                writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))
                rows, n_words = [], 0
        if rows:
            writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))


def _as_conllu(entry: ShardEntry) -> str:
    document, number, sentence, _ = entry
    if isinstance(document.content, bytes):
        return sentence.conllu
    comments = _document_comments(document) if number == 1 else ""
    name = _ESCAPED.sub(lambda match: quote(match[0], safe=""), document.id)
    old, new = f"# sent_id = {number}\n", f"# sent_id = {name}-{number}\n"
    return comments + sentence.conllu.replace(old, new, 1)


def _document_comments(document: Document) -> str:
    name = " ".join(_CONTROL.sub(" ", document.id).split())
    # Some readers end a line at these characters, and JSON does not escape them.
    metadata = _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", document.metadata)
    return f"# newdoc id = {name}\n" + (f"# metadata = {metadata}\n" if metadata else "")
