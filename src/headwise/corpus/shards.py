"""Write one shard, CoNLL-U or Parquet, completely or not at all, with its checksum.

In CoNLL-U made from text, the first sentence of a document has `# newdoc id` and, if there is any,
`# metadata` (a JSON object). `# sent_id` is the id of the document and a number, with white space,
`/` and `%` written as `%20`, `%2F` and `%25`, because the format allows neither white space nor `/`
there. Input that was CoNLL-U keeps every byte except the columns to fill, as in `headwise parse`.

In Parquet and in Arrow tables, a row is a sentence, and the columns of its words are lists. Slot i
of each list belongs to word i + 1, so `heads` counts from 1, and 0 is ROOT. Offsets count the
characters of the document as it was given; a word of a multi-word token that does not occur in the
text has none. `docs/corpus.md` lists the columns.
"""

import gzip
import hashlib
import io
import lzma
import math
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from headwise.corpus.documents import SourceDocument
from headwise.corpus.plan import Compression, ShardFormat
from headwise.errors import ConfigError
from headwise.files import whole_file
from headwise.treebank.sentence import Parse, Sentence, filled, filled_lemma

_SUFFIXES = {"xz": ".xz", "zstd": ".zst", "gzip": ".gz", "none": ""}
_XZ_PRESET = 1
"""Many times as fast as the default, for files that are a tenth larger."""
_ROW_GROUP_WORDS = 50_000
"""Words in a row group of Parquet, and so in memory."""
_ESCAPED = re.compile(r"[\s/%\x00-\x1f\x7f-\x9f]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

_MULTIWORD = pa.struct(
    [
        pa.field("first", pa.int32(), nullable=False),
        pa.field("last", pa.int32(), nullable=False),
        pa.field("form", pa.string(), nullable=False),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
    ]
)
_NO_SPAN = (None, None)
SCHEMA = pa.schema(
    [
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("sentence_id", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("tokens", pa.list_(pa.string())),
        pa.field("lemmas", pa.list_(pa.string())),
        pa.field("upos", pa.list_(pa.string())),
        pa.field("xpos", pa.list_(pa.string())),
        pa.field("feats", pa.list_(pa.string())),
        pa.field("heads", pa.list_(pa.int32())),
        pa.field("labels", pa.list_(pa.string())),
        pa.field("starts", pa.list_(pa.int64())),
        pa.field("ends", pa.list_(pa.int64())),
        pa.field("probabilities", pa.list_(pa.float32())),
        pa.field("lemma_probabilities", pa.list_(pa.float32())),
        pa.field("upos_probabilities", pa.list_(pa.float32())),
        pa.field("xpos_probabilities", pa.list_(pa.float32())),
        pa.field("feats_probabilities", pa.list_(pa.float32())),
        pa.field("label_probabilities", pa.list_(pa.float32())),
        pa.field("multiword", pa.list_(_MULTIWORD)),
        pa.field("how", pa.string()),
        pa.field("metadata", pa.string()),
    ]
)
"""`how` names the decoder that made the tree; `metadata` is a JSON object."""

ShardEntry = tuple[SourceDocument, int, Sentence, Parse]
"""A parsed sentence, its document, and its number there (from 1)."""


def shard_name(index: int, shard_format: ShardFormat, compression: Compression) -> str:
    """Name a shard: `shard-00000042.conllu.xz`, `shard-00000042.parquet`."""
    suffix = "" if shard_format == "parquet" else _SUFFIXES[compression]
    return f"shard-{index:08}.{shard_format}{suffix}"


def check_compression(shard_format: ShardFormat, compression: Compression) -> None:
    """Refuse a compression that the format does not have."""
    possible = ["zstd", "gzip", "snappy", "none"]
    if shard_format == "conllu":
        possible = list(_SUFFIXES)
    if compression not in possible:
        what = f"--compression {compression} is not possible with --format {shard_format}"
        raise ConfigError(what, f"choose one of {', '.join(possible)}")


def write_shard(
    path: Path,
    shard_format: ShardFormat,
    compression: Compression,
    entries: Iterable[ShardEntry],
    with_probabilities: bool = False,
    row_group_words: int = _ROW_GROUP_WORDS,
) -> tuple[int, str]:
    """Write sentences, in order, to a shard; give its size and its SHA-256."""
    with whole_file(path) as raw:
        stream = _HashingStream(raw)
        if shard_format == "parquet":
            _write_parquet(stream, compression, entries, with_probabilities, row_group_words)
        else:
            with _compressor(stream, compression) as compressed:
                for entry in entries:
                    compressed.write(_as_conllu(entry).encode("utf-8"))
    return stream.size, stream.hash.hexdigest()


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


def _compressor(stream: _HashingStream, compression: Compression) -> AbstractContextManager[Any]:
    raw = cast(BinaryIO, stream)
    if compression == "xz":
        return lzma.LZMAFile(raw, mode="wb", preset=_XZ_PRESET)
    if compression == "gzip":
        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)
    if compression == "zstd":
        zstd: AbstractContextManager[Any] = pa.CompressedOutputStream(
            pa.PythonFile(stream, "w"), "zstd"
        )
        return zstd
    return nullcontext(raw)


def _write_parquet(
    stream: _HashingStream,
    compression: Compression,
    entries: Iterable[ShardEntry],
    with_probabilities: bool,
    row_group_words: int,
) -> None:
    rows: list[dict[str, object]] = []
    n_words = 0
    with pq.ParquetWriter(stream, SCHEMA, compression=compression) as writer:
        for document, number, sentence, parse in entries:
            if len(sentence):  # not blank lines of CoNLL-U
                rows.append(sentence_row(document, number, sentence, parse, with_probabilities))
                n_words += len(sentence)
            if n_words >= row_group_words:
                writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))
                rows, n_words = [], 0
        if rows:
            writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))


def sentence_row(
    document: SourceDocument,
    number: int,
    sentence: Sentence,
    parse: Parse,
    with_probabilities: bool = False,
) -> dict[str, object]:
    """Make the row of the `number`-th sentence of a document.

    The probabilities of heads are always there, those of other values `with_probabilities`.
    """
    words = sentence.words
    spans = [word.span or _NO_SPAN for word in words]
    # A sentence of CoNLL-U keeps its own id.
    given_id = sentence.metadata.get("sent_id") if isinstance(document.content, bytes) else None
    return {
        "document_id": document.id,
        "sentence_id": given_id or f"{document.id}-{number}",
        "text": sentence.text,
        "tokens": [word.form for word in words],
        "lemmas": [filled_lemma(word) for word in words],
        "upos": [filled(word.upos) for word in words],
        "xpos": [filled(word.xpos) for word in words],
        "feats": [filled(word.feats) for word in words],
        "heads": parse.heads,
        "labels": parse.labels,
        "starts": [start for start, _ in spans],
        "ends": [end for _, end in spans],
        "probabilities": parse.probabilities,
        **(_column_probs(parse) if with_probabilities else {}),
        "multiword": [
            {"first": token.first, "last": token.last, "form": token.form, "start": i, "end": j}
            for token in sentence.multi_word_tokens
            for i, j in [token.span or _NO_SPAN]
        ],
        "how": parse.how,
        "metadata": document.metadata or None,
    }


def _column_probs(parse: Parse) -> dict[str, list[float | None]]:
    return {
        f"{column.removesuffix('s') if column == 'labels' else column}_probabilities": [
            None if math.isnan(prob) else prob for prob in probs
        ]
        for column, probs in parse.column_probs.items()
    }


def _as_conllu(entry: ShardEntry) -> str:
    document, number, sentence, _ = entry
    if isinstance(document.content, bytes):
        return sentence.conllu
    name = _ESCAPED.sub(lambda match: quote(match[0], safe=""), document.id)
    old, new = f"# sent_id = {number}\n", f"# sent_id = {name}-{number}\n"
    text = sentence.conllu.replace(old, new, 1)
    if number > 1:
        return text
    title = " ".join(_CONTROL.sub(" ", document.id).split())
    # Some readers end a line at these characters, and JSON does not escape them.
    metadata = _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", document.metadata)
    return f"# newdoc id = {title}\n" + (f"# metadata = {metadata}\n" if metadata else "") + text
