"""The parser in pipelines of others: a Ray dataset, or any engine that maps over tables.

    documents: a text column, an id column, others  ->  sentences: `columns.SCHEMA` and `error`

A document that cannot be parsed becomes one row without words and with its `error`; the others are
parsed all the same. Columns that are not text or id go along as JSON in `metadata`.
"""

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from headwise.corpus.annotate import Parsed, PoisonedError, annotate, check_model
from headwise.corpus.columns import SCHEMA, Columns
from headwise.corpus.documents import Document, Refused, rows_of
from headwise.errors import ConfigError
from headwise.loading import load_parser
from headwise.model.bundle import DEFAULT_MODEL, find_model, load_bundle
from headwise.runtime.parser import Parser
from headwise.settings.choices import Precision

if TYPE_CHECKING:
    import ray.data

ERROR = pa.field("error", pa.string())
TABLE_SCHEMA = SCHEMA.append(ERROR)
"""What `parse_table` and `parse_dataset` give."""
DOCUMENTS = 256
"""In a batch."""


def parse_table(
    parser: Parser, table: pa.Table, text_column: str = "text", id_column: str | None = None
) -> pa.Table:
    """Parse a table of documents into a table of sentences.

    Without `id_column` the id of a document is the beginning of its SHA-256.
    """
    for column in (text_column, id_column):
        if column is not None and column not in table.column_names:
            there = ", ".join(table.column_names)
            raise ConfigError(f"no column {column}", f"there are {there}")
    parts = [
        _sentences(item) for item in annotate(parser, _documents(table, text_column, id_column))
    ]
    return pa.concat_tables(parts) if parts else TABLE_SCHEMA.empty_table()


def _documents(
    table: pa.Table, text_column: str, id_column: str | None
) -> Iterator[Document | Refused]:
    for row in rows_of(table):
        if isinstance(row, UnicodeDecodeError):
            yield Refused("", "", 0, f"a value of the row is not UTF-8: {row.reason}")
            continue
        text = row.pop(text_column)
        text = text if isinstance(text, str) else ""
        own = row.pop(id_column) if id_column else None
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
        metadata = msgspec.json.encode(row, enc_hook=str).decode() if row else ""
        yield Document(digest if own is None else str(own), "", 0, text, metadata)


def _sentences(item: Parsed | Refused) -> pa.Table:
    if isinstance(item, Parsed):
        columns = Columns()
        try:
            for number, (sentence, parse) in enumerate(item.sentences, 1):
                columns.add(item.document, number, sentence, parse)
        except PoisonedError as poisoned:
            item = Refused(item.document.id, "", 0, poisoned.error)
        else:
            done = columns.take()
            return done.append_column(ERROR, pa.nulls(len(done), pa.string()))
    row = {"document_id": item.id, "sentence_id": f"{item.id}-0", "text": "", "error": item.error}
    return pa.Table.from_pylist([row], schema=TABLE_SCHEMA)


class TableParser:
    """Parses tables with one load of the model: an actor of Ray Data, or any worker."""

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
        self._parser = load_parser([bundle], device=device, precision=precision)
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
    """Parse a dataset of documents into one of sentences; nothing is done until it is read.

    `workers` actors load the model, or as many as there is work for, between two numbers.
    """
    from ray.data import ActorPoolStrategy

    least, most = workers if isinstance(workers, tuple) else (workers, workers)
    return data.map_batches(
        TableParser,
        fn_constructor_kwargs={
            "model": model,
            "device": device,
            "text_column": text_column,
            "id_column": id_column,
        },
        batch_format="pyarrow",
        batch_size=DOCUMENTS,
        num_cpus=1,
        num_gpus=0 if device == "cpu" else gpus_per_worker,
        compute=ActorPoolStrategy(min_size=least, max_size=most),
    )
