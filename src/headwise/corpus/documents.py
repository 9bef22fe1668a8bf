"""The documents of a unit: text to segment, or CoNLL-U with its words.

A document that is wrong in itself (not UTF-8, not JSON, no text, too long) is `Rejected`, and
reading continues. So is the rest of a compressed file from the point where it is damaged. A file
that cannot be reached is an error that ends the run: it may be back tomorrow.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from headwise.corpus.plan import CorpusJob, Slice, Unit
from headwise.corpus.splitting import (
    MAX_DOCUMENT_BYTES,
    BoundaryRule,
    choose_conllu_rule,
    first_byte,
    split_stream,
)
from headwise.corpus.storage import DamagedError, open_at, open_random
from headwise.errors import ConfigError, DataError
from headwise.treebank.sentence import split_comment

_SNIFF_BYTES = 2**16
_BATCH_ROWS = 64
"""Rows of Parquet in memory at a time."""
_TOO_LONG = f"longer than {MAX_DOCUMENT_BYTES >> 20} MiB"


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document to parse; `position` is its first byte (or row) in `source`.

    `content` is text, or the bytes of CoNLL-U; `metadata` is a JSON object, or empty.
    """

    id: str
    source: str
    position: int
    content: str | bytes
    metadata: str = ""


class Rejected(msgspec.Struct, frozen=True, rename={"id": "document"}):
    """A document that cannot be read or parsed, and why: a line of `_quarantine.jsonl`."""

    id: str
    source: str
    position: int
    error: str


class _RejectError(Exception):
    """Why a document is rejected, and its id if it has one of its own."""

    def __init__(self, what: str, name: str | None = None) -> None:
        super().__init__(what)
        self.name = name


def read_documents(unit: Unit, job: CorpusJob) -> Iterator[SourceDocument | Rejected]:
    """Read the documents of a unit in order."""
    for piece in unit.slices:
        read = _read_rows if piece.format == "parquet" else _read_bytes
        is_document = piece.format == "text" and job.split == "file"
        position = piece.start
        try:
            for position, content in read(piece, job):
                name = piece.name if is_document else f"{piece.name}:{position}"
                try:
                    document = _make_document(content, name, piece, position, job)
                except _RejectError as error:
                    yield Rejected(error.name or name, piece.path, position, str(error))
                else:
                    if document is not None:
                        yield document
        except DamagedError as error:
            what = f"the file is damaged after this document: {error.what}"
            yield Rejected(f"{piece.name}:{position}", piece.path, position, what)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            yield Rejected(piece.name, piece.path, piece.start, f"not Parquet: {error}")


def _read_bytes(piece: Slice, job: CorpusJob) -> Iterator[tuple[int, bytes | None]]:
    """Read documents as bytes, each with its position; None if there are too many."""
    if piece.format == "text" and job.split == "file":
        with open_at(piece.path, 0) as stream:
            data = stream.read(MAX_DOCUMENT_BYTES + 1)
        yield 0, data if len(data) <= MAX_DOCUMENT_BYTES else None
        return
    rule: BoundaryRule = "paragraph"
    if piece.format == "conllu":
        with open_at(piece.path, 0) as stream:
            rule = choose_conllu_rule(stream.read(_SNIFF_BYTES))
    elif piece.format == "jsonl" or job.split == "line":
        rule = "line"
    with open_at(piece.path, first_byte(piece.start)) as stream:
        yield from split_stream(stream, piece.start, piece.end, rule)


_Row = dict[str, Any] | UnicodeDecodeError


def _read_rows(piece: Slice, job: CorpusJob) -> Iterator[tuple[int, _Row]]:
    """Read documents as rows of Parquet, each with its number."""
    with open_random(piece.path) as stream:
        file = pq.ParquetFile(stream, buffer_size=2**20)
        groups = range(piece.start, piece.end or file.metadata.num_row_groups)
        first_row = sum(file.metadata.row_group(i).num_rows for i in range(piece.start))
        _check_columns(file.schema_arrow.names, piece.path, job)
        batches = file.iter_batches(_BATCH_ROWS, row_groups=list(groups))
        yield from enumerate((row for batch in batches for row in table_rows(batch)), first_row)


def table_rows(table: pa.RecordBatch | pa.Table) -> Iterator[_Row]:
    """Give rows as dictionaries; Arrow does not check that strings are UTF-8."""
    try:
        yield from table.to_pylist()
    except UnicodeDecodeError as error:
        if len(table) == 1:
            yield error
        else:
            for i in range(len(table)):
                yield from table_rows(table.slice(i, 1))


def _make_document(
    content: bytes | _Row | None, name: str, piece: Slice, position: int, job: CorpusJob
) -> SourceDocument | None:
    """Decode a document; None for white space, except in CoNLL-U, where every byte is kept."""
    if content is None:
        raise _RejectError(_TOO_LONG)
    if isinstance(content, UnicodeDecodeError):
        raise _RejectError(not_utf8(content))
    if isinstance(content, dict):
        return _from_object(content, name, piece, position, job)
    if piece.format == "conllu":
        return SourceDocument(_newdoc_id(content) or name, piece.path, position, content)
    data = content.removeprefix(BOM_UTF8) if position == 0 else content
    if not data.strip():
        return None
    try:
        if piece.format == "jsonl":
            return _from_object(msgspec.json.decode(data), name, piece, position, job)
        return SourceDocument(name, piece.path, position, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        what = f"not UTF-8 at byte {error.start} of the document (counted from 0)"
        raise _RejectError(what) from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _RejectError(f"not JSON: {error}") from error


def _newdoc_id(data: bytes) -> str | None:
    """Read `# newdoc id = ...` from the comments of the first sentence."""
    for line in data.lstrip(b" \t\r\n").split(b"\n"):
        if not line.startswith(b"#"):
            return None
        key, value = split_comment(line[1:].decode("utf-8", "replace"))
        if key == "newdoc id" and value:
            return value
    return None


def _from_object(
    value: Any, name: str, piece: Slice, position: int, job: CorpusJob
) -> SourceDocument:
    """Take text, id and metadata from a JSON object or a row of a table."""
    if not isinstance(value, dict):
        raise _RejectError("not a JSON object")
    if job.text_column not in value:
        raise _RejectError(f"no column {job.text_column}; the columns are {_list_keys(value)}")
    text = value.pop(job.text_column)
    text = "" if text is None else text
    document_id = name if job.id_column is None else value.pop(job.id_column, None)
    if not isinstance(document_id, str | int) or document_id == "":
        raise _RejectError(f"no id: {job.id_column} is not a string or integer, or is empty")
    name = str(document_id)
    if not isinstance(text, str):
        raise _RejectError(f"{job.text_column} is not a string", name)
    if len(text) > MAX_DOCUMENT_BYTES:
        raise _RejectError(_TOO_LONG, name)
    return SourceDocument(name, piece.path, position, text, encode_metadata(value))


def encode_metadata(row: dict[str, Any]) -> str:
    """Write the other columns of a row as a JSON object, empty if there are none."""
    return msgspec.json.encode(row, enc_hook=str).decode() if row else ""


def _list_keys(value: dict[str, Any]) -> str:
    return ", ".join(str(key)[:40] for key in list(value)[:8]) or "no columns"


def not_utf8(error: UnicodeDecodeError) -> str:
    """Explain why a row of a table is rejected."""
    return f"a value of the row is not UTF-8: {error.reason}"


def _check_columns(names: list[str], path: str, job: CorpusJob) -> None:
    for flag, column in (("--text-column", job.text_column), ("--id-column", job.id_column)):
        if column is not None and column not in names:
            hint = f"{flag}: the columns are {', '.join(names)}"
            raise DataError(f"no column {column}", path, hint=hint)


def check_first_line(path: str, job: CorpusJob) -> None:
    """Check the first line of JSONL, so that a wrong column name is reported at once."""
    with open_at(path, 0) as stream:
        line = stream.readline(_SNIFF_BYTES)
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return
    if isinstance(value, dict) and job.text_column not in value:
        raise ConfigError(
            f"{path}: no column {job.text_column} in the first line",
            f"--text-column: the columns are {_list_keys(value)}",
        )
