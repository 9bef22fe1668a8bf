"""Sentences as a page of HTML: for each its number, its text and its tree.

The page is one file without scripts, fonts or links to elsewhere, and is written piece by piece, so
a treebank of any size can become one.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from headwise.render.cells import is_right_to_left, visible
from headwise.render.layout import LONGEST_TITLE
from headwise.render.svg import to_svg
from headwise.settings.choices import PredictedColumn
from headwise.treebank.sentence import Parse, Sentence

_STYLE = (
    "body{font:16px/1.5 system-ui,'Segoe UI',Roboto,'Noto Sans',sans-serif;color:#1f2328;"
    "background:#fff;margin:2rem auto;max-width:70rem;padding:0 1rem}"
    "figure{margin:0 0 2.5rem}"
    "figcaption{margin-bottom:.5rem}"
    "figcaption a{color:#656d76;text-decoration:none;margin-inline-end:.75em}"
    ".tree{overflow-x:auto}"
    ".tree svg{display:block}"
    "@media (prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}"
    "figcaption a{color:#8d96a0}}"
    "@media print{.tree{overflow:visible}.tree svg{max-width:100%;height:auto}"
    "figure{break-inside:avoid}}"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser may load or run for the page: its own style."""


def html_page(
    sentences: Iterable[tuple[Sentence, Parse | None]],
    *,
    title: str = "headwise",
    columns: Sequence[PredictedColumn] = ("upos",),
) -> Iterator[str]:
    """Write a page piece by piece: its head, each sentence, and its end."""
    yield (
        '<!doctype html>\n<html><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>\n"
    )
    for number, (sentence, parse) in enumerate(sentences, 1):
        text = visible(sentence.text[:LONGEST_TITLE])
        direction = ' dir="rtl"' if is_right_to_left(text) else ""
        yield (
            f'<figure id="s{number}"{direction}><figcaption><a href="#s{number}">{number}</a>'
            f"{escape(text)}</figcaption>"
            f'<div class="tree">{to_svg(sentence, parse, columns=columns)}</div></figure>\n'
        )
    yield "</body></html>\n"
