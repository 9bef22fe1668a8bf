"""What docs/spacy.md tells a reader to do is done here."""

import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from headwise.integrations.spacy import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "spacy.md").read_text(encoding="utf-8")


def snippets() -> Iterator[tuple[str, str | None]]:
    """Give the Python on the page, with the output shown below it if there is one."""
    for found in re.finditer(r"```python\n(.*?)```\n(?:\n```\n(.*?)```\n)?", PAGE, re.DOTALL):
        yield found[1], found[2]


@pytest.mark.parametrize(("code", "shown"), list(snippets()))
def test_the_page_shows_what_happens(code: str, shown: str | None) -> None:
    printed = StringIO()
    with redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == (shown or "")


def test_the_page_has_every_setting() -> None:
    for name in Settings.__slots__:
        assert f"| `{name}` |" in PAGE
