"""The documents of a unit: text to segment, or CoNLL-U with its words; or why one is none.

Whatever is wrong with one document (no UTF-8, no JSON, no text in it, too long) makes it `Refused`,
and reading goes on. A file that breaks off is `Refused` from there on. A file that cannot be
reached is an error that ends the run: it may be there tomorrow.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from headwise.corpus.cut import MAX_DOCUMENT_BYTES, Cut, Rule, conllu_rule, cut, first_byte
from headwise.corpus.places import DamagedError, open_at, open_random
from headwise.corpus.plan import Job, Slice, Unit
from headwise.errors import ConfigError, DataError
from headwise.treebank.sentence import split_comment

SNIFFED_BYTES = 2**16
ROWS = 64
"""Rows of Parquet that are in memory at a time."""
_MARK = b"\xef\xbb\xbf"
_TOO_LONG = f"more than {MAX_DOCUMENT_BYTES >> 20} MiB"


@dataclass(frozen=True, slots=True)
class Document:
    """What is parsed together; `position` is its first byte (or row) in `source`.

    `content` is text, or the bytes of sentences in CoNLL-U; `metadata` a JSON object, or nothing.
    """

    id: str
    source: str
    position: int
    content: str | bytes
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """What could not be read as a document, and why."""

    id: str
    source: str
    position: int
    error: str


def read_documents(unit: Unit, job: Job) -> Iterator[Document | Refused]:
    """Read the documents of a unit in order."""
    for piece in unit.slices:
        read = _read_parquet if piece.form == "parquet" else _read_cuts
        yield from read(piece, job)


def _read_cuts(piece: Slice, job: Job) -> Iterator[Document | Refused]:
    at = piece.start
    try:
        for document in _cuts(piece, job):
            at = document.position
            read = _read_one(document, piece, job)
            if read is not None:
                yield read
    except DamagedError as error:
        yield Refused(f"{piece.name}:{at}", piece.path, at, f"after this: {error.what}")


def _cuts(piece: Slice, job: Job) -> Iterator[Cut]:
    if piece.form == "text" and job.split == "file":
        with open_at(piece.path, 0) as stream:
            data = stream.read(MAX_DOCUMENT_BYTES + 1)
        is_whole = len(data) <= MAX_DOCUMENT_BYTES
        yield Cut(0, data if is_whole else None, len(data))
        return
    rule = _rule(piece, job)
    with open_at(piece.path, first_byte(piece.start)) as stream:
        yield from cut(stream, piece.start, piece.end, rule)


def _rule(piece: Slice, job: Job) -> Rule:
    if piece.form == "conllu":
        with open_at(piece.path, 0) as stream:
            return conllu_rule(stream.read(SNIFFED_BYTES))
    return "line" if piece.form == "jsonl" or job.split == "line" else "paragraph"


def _read_one(found: Cut, piece: Slice, job: Job) -> Document | Refused | None:
    """Make a document of its bytes; nothing of white space alone, where no byte must be kept."""
    position = found.position
    is_file = piece.form == "text" and job.split == "file"
    name = piece.name if is_file else f"{piece.name}:{position}"
    if found.data is None:
        return Refused(name, piece.path, position, _TOO_LONG)
    if piece.form == "conllu":
        return Document(_newdoc_id(found.data) or name, piece.path, position, found.data)
    data = found.data.removeprefix(_MARK) if position == 0 else found.data
    if not data.strip():
        return None
    try:
        if piece.form == "jsonl":
            return _from_object(msgspec.json.decode(data), name, piece.path, position, job)
        return Document(name, piece.path, position, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        what = f"byte {error.start} of it (counting from 0) is not UTF-8"
    except (msgspec.MsgspecError, RecursionError) as error:
        what = f"not JSON: {error}"
    return Refused(name, piece.path, position, what)


def _newdoc_id(data: bytes) -> str | None:
    """Read `# newdoc id = ...` from the comments of the first sentence."""
    for line in data.lstrip(b" \t\r\n").split(b"\n"):
        if not line.startswith(b"#"):
            return None
        key, value = split_comment(line[1:].decode("utf-8", "replace"))
        if key == "newdoc id" and value:
            return value
    return None


def _from_object(value: Any, name: str, source: str, position: int, job: Job) -> Document | Refused:
    """Take text, id and metadata out of a JSON object or a row."""
    if not isinstance(value, dict):
        return Refused(name, source, position, "not a JSON object")
    if job.text_column not in value:
        return Refused(name, source, position, f"no {job.text_column} among {_some(value)}")
    text = value.pop(job.text_column)
    if job.id_column is not None:
        own = value.pop(job.id_column, None)
        if not isinstance(own, str | int) or own == "":
            return Refused(name, source, position, f"no {job.id_column} that could be its id")
        name = str(own)
    if text is not None and not isinstance(text, str):
        return Refused(name, source, position, f"{job.text_column} is no text")
    metadata = msgspec.json.encode(value, enc_hook=str).decode() if value else ""
    return Document(name, source, position, text or "", metadata)


def _some(value: dict[str, Any]) -> str:
    return ", ".join(str(key)[:40] for key in list(value)[:8]) or "no columns"


def _read_parquet(piece: Slice, job: Job) -> Iterator[Document | Refused]:
    with open_random(piece.path) as stream:
        try:
            file = pq.ParquetFile(stream, buffer_size=2**20)
            groups = range(piece.start, piece.end or file.metadata.num_row_groups)
            row = sum(file.metadata.row_group(i).num_rows for i in range(piece.start))
            _check_columns(file.schema_arrow.names, piece.path, job)
            for batch in file.iter_batches(ROWS, row_groups=list(groups)):
                for value in rows_of(batch):
                    yield _from_row(value, piece, row, job)
                    row += 1
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            yield Refused(piece.name, piece.path, piece.start, f"not Parquet: {error}")


def rows_of(table: pa.RecordBatch | pa.Table) -> Iterator[dict[str, Any] | UnicodeDecodeError]:
    """Give rows as dictionaries; Arrow takes strings on trust, and some are no UTF-8."""
    try:
        yield from table.to_pylist()
    except UnicodeDecodeError as error:
        if len(table) == 1:
            yield error
        else:
            for i in range(len(table)):
                yield from rows_of(table.slice(i, 1))


def _from_row(
    value: dict[str, Any] | UnicodeDecodeError, piece: Slice, row: int, job: Job
) -> Document | Refused:
    name = f"{piece.name}:{row}"
    if isinstance(value, UnicodeDecodeError):
        return Refused(name, piece.path, row, f"a value of the row is not UTF-8: {value.reason}")
    text = value.get(job.text_column)
    if isinstance(text, str) and len(text) > MAX_DOCUMENT_BYTES:
        return Refused(name, piece.path, row, _TOO_LONG)
    return _from_object(value, name, piece.path, row, job)


def _check_columns(names: list[str], path: str, job: Job) -> None:
    for flag, column in (("--text-column", job.text_column), ("--id-column", job.id_column)):
        if column is not None and column not in names:
            raise DataError(
                f"no column {column}", path, hint=f"{flag}: there are {', '.join(names)}"
            )


def check_first_line(path: str, job: Job) -> None:
    """Look at the first line of JSONL, so that a wrong name of a column is seen at once."""
    with open_at(path, 0) as stream:
        line = io.BytesIO(stream.readline(SNIFFED_BYTES)).getvalue()
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return
    if isinstance(value, dict) and job.text_column not in value:
        raise ConfigError(
            f"{path}: no {job.text_column} in the first line",
            f"--text-column: there are {_some(value)}",
        )
