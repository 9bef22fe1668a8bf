"""One shard, written whole or not at all: CoNLL-U or Parquet, packed, with its checksum.

In CoNLL-U that was made of text, the first sentence of a document has `# newdoc id` and, where
there is any, `# metadata` (a JSON object); `# sent_id` is the id of the document and a number, with
white space, `/` and `%` written `%20`, `%2F` and `%25`, since the format allows neither of the
first two there. What came as CoNLL-U keeps every byte that was not asked for, as in `headwise
parse`.
"""

import gzip
import hashlib
import io
import lzma
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, cast
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from headwise.corpus.columns import SCHEMA, Columns
from headwise.corpus.documents import Document
from headwise.corpus.plan import Compression, ShardFormat
from headwise.errors import ConfigError
from headwise.files import whole_file
from headwise.treebank.sentence import Parse, Sentence

ENDINGS = {"xz": ".xz", "zstd": ".zst", "gzip": ".gz", "none": ""}
XZ_PRESET = 1
"""Packs at many times the speed of the default, for files that are a tenth larger."""
WORDS_A_GROUP = 50_000
"""Of a row group of Parquet; so many are in memory."""
_UNFIT = re.compile(r"[\s/%\x00-\x1f\x7f-\x9f]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Shard(Protocol):
    """Takes sentences, in order."""

    def add(self, document: Document, number: int, sentence: Sentence, parse: Parse) -> None:
        """Write the `number`-th sentence (from 1) of a document."""


class Sealed:
    """What a file is, known when it is closed."""

    size = 0
    sha256 = ""


def shard_name(index: int, form: ShardFormat, compression: Compression) -> str:
    """Name a shard: `shard-00000042.conllu.xz`, `shard-00000042.parquet`."""
    ending = ".parquet" if form == "parquet" else f".conllu{ENDINGS[compression]}"
    return f"shard-{index:08}{ending}"


def check_compression(form: ShardFormat, compression: Compression) -> None:
    """Refuse what a format cannot have."""
    if compression == ("xz" if form == "parquet" else "snappy"):
        fitting = "zstd, gzip, snappy, none" if form == "parquet" else "xz, zstd, gzip, none"
        raise ConfigError(f"--compression {compression}: {form} has {fitting}")


@contextmanager
def open_shard(
    path: Path, form: ShardFormat, compression: Compression, sealed: Sealed
) -> Iterator[Shard]:
    """Write a shard; `sealed` tells its size and checksum when the block has ended."""
    with whole_file(path) as raw:
        stream = _Hashing(raw)
        try:
            if form == "parquet":
                with pq.ParquetWriter(stream, SCHEMA, compression=compression) as writer:
                    rows = _Rows(writer)
                    yield rows
                    rows.flush()
            else:
                with _packing(stream, compression) as packed:
                    yield _Lines(packed)
        except Exception as error:
            if stream.failure is None or stream.failure is error:
                raise
            raise stream.failure from error  # Arrow and the packers hide why they could not write
        sealed.size, sealed.sha256 = stream.size, stream.hash.hexdigest()


class _Hashing(io.RawIOBase):
    """A stream that counts and hashes what goes through, and remembers what went wrong."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.size = 0
        self.hash = hashlib.sha256()
        self.failure: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: "bytes | memoryview") -> int:  # type: ignore[override]
        view = memoryview(data).cast("B")
        try:
            self._raw.write(view)
        except OSError as error:
            self.failure = error
            raise
        self.hash.update(view)
        self.size += len(view)
        return len(view)

    def tell(self) -> int:
        return self.size


@contextmanager
def _packing(stream: _Hashing, compression: Compression) -> Iterator[BinaryIO]:
    raw = cast(BinaryIO, stream)
    if compression == "xz":
        with lzma.LZMAFile(raw, mode="wb", preset=XZ_PRESET) as packed_xz:
            yield cast(BinaryIO, packed_xz)
    elif compression == "gzip":
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
            yield cast(BinaryIO, packed)
    elif compression == "zstd":
        with pa.CompressedOutputStream(pa.PythonFile(stream, "w"), "zstd") as packed_zstd:
            yield cast(BinaryIO, packed_zstd)
    else:
        yield raw


class _Rows:
    """A shard in Parquet."""

    def __init__(self, writer: pq.ParquetWriter) -> None:
        self._writer = writer
        self._columns = Columns()

    def add(self, document: Document, number: int, sentence: Sentence, parse: Parse) -> None:
        if not len(sentence):
            return  # blank lines of CoNLL-U
        self._columns.add(document, number, sentence, parse)
        if self._columns.n_words >= WORDS_A_GROUP:
            self.flush()

    def flush(self) -> None:
        if len(self._columns):
            self._writer.write_table(self._columns.take())


class _Lines:
    """A shard in CoNLL-U."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def add(self, document: Document, number: int, sentence: Sentence, parse: Parse) -> None:
        text = sentence.conllu
        if isinstance(document.content, str):
            before = _document_comments(document) if number == 1 else ""
            name = _UNFIT.sub(lambda found: quote(found[0], safe=""), document.id)
            text = before + text.replace(
                f"# sent_id = {number}\n", f"# sent_id = {name}-{number}\n", 1
            )
        self._stream.write(text.encode("utf-8"))


def _document_comments(document: Document) -> str:
    name = " ".join(_CONTROL.sub(" ", document.id).split())
    # These are line ends to some readers, and JSON leaves them as they are.
    metadata = _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", document.metadata)
    return f"# newdoc id = {name}\n" + (f"# metadata = {metadata}\n" if metadata else "")
