"""The columns of a table; their values are tested with the shards."""

import re
from pathlib import Path

from headwise.corpus.columns import SCHEMA

PAGE = Path(__file__).parent.parent.parent / "docs" / "scale.md"


def test_the_page_lists_every_column() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for field in SCHEMA:
        kind = re.sub("list<(item|element): ", "list<", str(field.type))
        assert f"| `{field.name}` | `{kind}` |" in page, field
