"""The parser in other pipelines: a Ray dataset, or any engine that maps over Arrow tables.

    documents: text column, id column, others  ->  sentences: `shards.SCHEMA` and `error`

A document with an error becomes one row without words and with `error`; the others are parsed all
the same. Columns other than text and id are kept as JSON in `metadata`.
"""

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from headwise import load
from headwise.corpus.documents import (
    Rejected,
    SourceDocument,
    encode_metadata,
    not_utf8,
    table_rows,
)
from headwise.corpus.parsing import BadDocumentError, ParsedDocument, check_model, parse_documents
from headwise.corpus.shards import SCHEMA, sentence_row
from headwise.errors import ConfigError
from headwise.model.bundle import load_bundle
from headwise.model.find import DEFAULT_MODEL, find_model
from headwise.runtime.parser import Parser
from headwise.settings.choices import Precision

if TYPE_CHECKING:
    import ray.data

TABLE_SCHEMA = SCHEMA.append(pa.field("error", pa.string()))
"""The schema of the tables that `parse_table` and `parse_dataset` return."""
_BATCH_DOCUMENTS = 256


def parse_table(
    parser: Parser, table: pa.Table, text_column: str = "text", id_column: str | None = None
) -> pa.Table:
    """Parse a table of documents into a table of sentences.

    Without `id_column` the id of a document is the start of the SHA-256 of its text.
    """
    for column in (text_column, id_column):
        if column is not None and column not in table.column_names:
            columns = ", ".join(table.column_names)
            raise ConfigError(f"no column {column}", f"the columns are {columns}")
    documents = _read_table(table, text_column, id_column)
    probs = parser.settings.probabilities
    rows = (
        row for item in parse_documents(parser, documents) for row in _sentence_rows(item, probs)
    )
    return pa.Table.from_pylist(list(rows), schema=TABLE_SCHEMA)


def _read_table(
    table: pa.Table, text_column: str, id_column: str | None
) -> Iterator[SourceDocument | Rejected]:
    for row in table_rows(table):
        if isinstance(row, UnicodeDecodeError):
            yield Rejected("", "", 0, not_utf8(row))
            continue
        text = row.pop(text_column)
        text = text if isinstance(text, str) else ""
        document_id = row.pop(id_column) if id_column else None
        if document_id is None:
            document_id = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
        yield SourceDocument(str(document_id), "", 0, text, encode_metadata(row))


def _sentence_rows(
    item: ParsedDocument | Rejected, with_probabilities: bool
) -> list[dict[str, object]]:
    if isinstance(item, ParsedDocument):
        try:
            return [
                sentence_row(item.document, number, sentence, parse, with_probabilities)
                for number, (sentence, parse) in enumerate(item.sentences, 1)
            ]
        except BadDocumentError as error:
            item = Rejected(item.document.id, "", 0, error.error)
    sentence_id = f"{item.id}-0"
    return [{"document_id": item.id, "sentence_id": sentence_id, "text": "", "error": item.error}]


class TableParser:
    """Parses tables with one load of the model, for Ray Data actors and other workers."""

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        device: str = "cpu",
        precision: Precision = "int8",
        text_column: str = "text",
        id_column: str | None = None,
    ) -> None:
        """Load the model."""
        bundle = load_bundle(find_model(model))
        check_model(bundle, has_text=True)
        self._parser = load(bundle, device=device, precision=precision)
        self._text_column, self._id_column = text_column, id_column

    def __call__(self, table: pa.Table) -> pa.Table:
        """Parse a table of documents."""
        return parse_table(self._parser, table, self._text_column, self._id_column)


def parse_dataset(
    data: "ray.data.Dataset",
    *,
    text_column: str = "text",
    id_column: str | None = None,
    model: str = DEFAULT_MODEL,
    device: str = "cpu",
    workers: int | tuple[int, int] = 1,
    gpus_per_worker: float = 1.0,
) -> "ray.data.Dataset":
    """Parse a dataset of documents into one of sentences; nothing runs until it is read.

    `workers` is the number of actors, each with its own model, or a minimum and a maximum.
    """
    from ray.data import ActorPoolStrategy

    n_min, n_max = workers if isinstance(workers, tuple) else (workers, workers)
    return data.map_batches(
        TableParser,
        fn_constructor_kwargs={
            "model": model,
            "device": device,
            "text_column": text_column,
            "id_column": id_column,
        },
        batch_format="pyarrow",
        batch_size=_BATCH_DOCUMENTS,
        num_cpus=1,
        num_gpus=0 if device == "cpu" else gpus_per_worker,
        compute=ActorPoolStrategy(min_size=n_min, max_size=n_max),
    )
