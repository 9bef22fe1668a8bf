"""Tables of documents; `parse_dataset` is tested with Ray in `test_engine.py`."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from headwise.corpus.dataset import TABLE_SCHEMA, TableParser, parse_table
from headwise.errors import ConfigError, DataError, ModelError
from headwise.runtime.parser import Parser
from headwise.treebank.sentence import Sentence


def test_a_table_of_documents_becomes_one_of_sentences(parser: Parser) -> None:
    table = pa.table({"text": ["Kids love candy. So do I.", None, ""], "lang": ["en", "fr", None]})
    parsed = parse_table(parser, table)
    assert parsed.schema.equals(TABLE_SCHEMA)
    name = hashlib.sha256(b"Kids love candy. So do I.").hexdigest()[:16]
    assert parsed["sentence_id"].to_pylist() == [f"{name}-1", f"{name}-2"]
    assert parsed["metadata"].to_pylist() == ['{"lang":"en"}'] * 2
    assert parse_table(parser, table.slice(1)).num_rows == 0
    assert parse_table(parser, table.slice(3)).schema.equals(TABLE_SCHEMA)


def test_ids_are_taken_from_a_column() -> None:
    parse = TableParser(text_column="body", id_column="n")
    parsed = parse(pa.table({"body": ["Kids love candy."], "n": [7]}))
    assert parsed["document_id"].to_pylist() == ["7"]
    assert parsed["metadata"].to_pylist() == [None]
    with pytest.raises(ConfigError, match="no column n\nhint: the columns are body"):
        parse(pa.table({"body": ["Kids love candy."]}))


@pytest.mark.parametrize("n_sentences", [1, 10_000])
def test_a_bad_document_is_a_row_with_its_error(
    parser: Parser, n_sentences: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert parser.segmenter
    segment = parser.segmenter.segment

    def fragile(text: str) -> Iterator[Sentence]:
        yield from segment(text[:100])
        if "candy" in text:
            raise DataError("sticky", "text")

    monkeypatch.setattr(parser.segmenter, "segment", fragile)
    texts = ["So do I.", "Kids love candy. " * n_sentences, "So do we."]
    table = pa.table({"text": texts, "id": ["a", "b", "c"]})
    parsed = parse_table(parser, table, id_column="id").to_pylist()
    assert [row["document_id"] for row in parsed] == ["a", "b", "c"]
    assert [row["error"] for row in parsed] == [None, "text: sticky", None]
    assert parsed[1]["tokens"] is None


def test_a_row_that_is_not_utf8(parser: Parser) -> None:
    text = pa.array([b"So do I.", b"\xff"]).view(pa.string())
    parsed = parse_table(parser, pa.table({"text": text})).to_pylist()
    assert [row["error"] is None for row in parsed] == [True, False]


def test_a_model_that_cannot_parse_text_is_refused(model_without_segmenter: Path) -> None:
    with pytest.raises(ModelError, match="without a segmenter"):
        TableParser(str(model_without_segmenter))
