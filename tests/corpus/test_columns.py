"""The columns of a table; their values are tested with the shards."""

import re
from pathlib import Path

from headwise.corpus.columns import SCHEMA, TableBuilder
from headwise.corpus.documents import Document
from headwise.corpus.parsing import ParsedDocument, parse_documents
from headwise.runtime.parser import Parser

ROOT = Path(__file__).parent.parent.parent


def test_rows_are_counted_and_taken(parser: Parser) -> None:
    builder = TableBuilder()
    (item,) = parse_documents(parser, [Document("d", "s", 0, "Kids love candy. So do I.")])
    assert isinstance(item, ParsedDocument)
    for number, (sentence, parse) in enumerate(item.sentences, 1):
        builder.add(item.document, number, sentence, parse)
    assert (len(builder), builder.n_words) == (2, 8)
    table = builder.take()
    assert table.schema.equals(SCHEMA)
    assert table["sentence_id"].to_pylist() == ["d-1", "d-2"]
    assert (len(builder), builder.n_words) == (0, 0)


def test_the_page_lists_every_column() -> None:
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    for field in SCHEMA:
        kind = re.sub("list<(item|element): ", "list<", str(field.type))
        assert f"| `{field.name}` | `{kind}` |" in page, field
