"""A sentence as one SVG picture: words in a row, columns below, arcs above; no script, no fonts.

It follows the reader's light or dark scheme, tells its tree in words for readers who cannot see
it, and has no ids, so that many pictures fit into one page. `layout` says where everything goes.
A notebook displays a `Picture` that is the last value of a cell:

    headwise.show(parser.annotate_text("Kids love candy. So do I."))
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import msgspec

from headwise.errors import ConfigError, refuse
from headwise.files import open_target
from headwise.render.cells import is_right_to_left
from headwise.render.layout import (
    LINE_HEIGHT,
    SMALL_SIZE,
    WORD_SIZE,
    Layout,
    PlacedArc,
    PlacedWord,
    lay_out,
)
from headwise.settings.choices import PredictedColumn
from headwise.treebank.sentence import Parse, Sentence, sentence_from_words

CORNER = 8.0
ARROW = 5
STACK_GAP = 16
"""Pixels between two pictures below each other."""
_SIZE = re.compile(r'width="(\d+)" height="(\d+)"')
_GROUND = '<rect class="ground" width="100%" height="100%"/>'

_FONTS = "system-ui,'Segoe UI',Roboto,'Noto Sans',Helvetica,Arial,sans-serif"
_STYLE = (
    f".headwise{{color:#1f2328;font-family:{_FONTS}}}"
    ".headwise .ground{fill:#fff}"
    ".headwise text{fill:currentColor;text-anchor:middle}"
    f".headwise .word{{font-size:{WORD_SIZE}px}}"
    f".headwise .tag,.headwise .label{{font-size:{SMALL_SIZE}px}}"
    ".headwise .tag{fill:#656d76}"
    ".headwise .line{fill:none;stroke:#57606a;stroke-width:1.3}"
    ".headwise .head{fill:#57606a}"
    ".headwise .label{stroke:#fff;stroke-width:3;stroke-linejoin:round;paint-order:stroke}"
    ".headwise .unsure .line{stroke:#bf8700;stroke-dasharray:5 3}"
    ".headwise .unsure .head{fill:#bf8700}"
    ".headwise .unsure .label{fill:#8a6100}"
    "@media (prefers-color-scheme:dark){"
    ".headwise{color:#e6edf3}"
    ".headwise .ground{fill:#0d1117}"
    ".headwise .tag{fill:#8d96a0}"
    ".headwise .line{stroke:#9198a1}"
    ".headwise .head{fill:#9198a1}"
    ".headwise .label{stroke:#0d1117}"
    ".headwise .unsure .line{stroke:#bb8009}"
    ".headwise .unsure .head{fill:#bb8009}"
    ".headwise .unsure .label{fill:#e3b341}}"
)


def to_svg(
    sentence: Sentence,
    parse: Parse | None = None,
    *,
    max_width: float | None = None,
    columns: Sequence[PredictedColumn] = ("upos",),
) -> str:
    """Draw a sentence as a self-contained SVG picture; wider ones shrink to `max_width` pixels.

    With `parse`, pointing at an arc shows its probability, and an arc below a half is dashed.
    Below each word are its values in `columns`.
    """
    return write_svg(lay_out(sentence, parse, columns), max_width)


def write_svg(layout: Layout, max_width: float | None = None) -> str:
    """Write a layout as SVG."""
    width, height = layout.width, layout.height
    shown = width if max_width is None else min(width, max_width)
    arcs = "".join(_arc(arc, layout) for arc in layout.arcs)
    words = "".join(_word(word, layout.floor) for word in layout.words)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="headwise" role="img" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{shown:.0f}" height="{height * shown / width:.0f}">'
        f"<title>{escape(layout.title)}</title><desc>{escape(layout.description)}</desc>"
        f"<style>{_STYLE}</style>"
        f"{_GROUND}{arcs}{words}</svg>"
    )


def _arc(placed: PlacedArc, layout: Layout) -> str:
    arc = placed.arc
    head = layout.words[arc.head - 1].form if arc.head else "ROOT"
    title = f"{placed.label}: {head} \u2192 {layout.words[arc.dependent - 1].form}"
    if arc.percent:
        title += f", {arc.percent}"
    return (
        f'<g class="{"arc unsure" if arc.is_unsure else "arc"}"><title>{escape(title)}</title>'
        f'<path class="line" d="{_line(placed, layout.floor)}"/>'
        f'<path class="head" d="M{placed.end:.1f},{layout.floor:.1f}'
        f'l-{ARROW - 1},-{ARROW + 2}h{2 * ARROW - 2}z"/>'
        f'<text class="label" x="{(placed.start + placed.end) / 2:.1f}" y="{placed.top - 5.5:.1f}">'
        f"{escape(placed.label)}</text></g>"
    )


def _line(placed: PlacedArc, floor: float) -> str:
    """Go up from the head, across, and down to the dependent; from ROOT, straight down."""
    start, end, top = placed.start, placed.end, placed.top
    if start == end:
        return f"M{end:.1f},{top:.1f}V{floor - ARROW:.1f}"
    corner = min(CORNER, abs(end - start) / 2) * (1 if end > start else -1)
    return (
        f"M{start:.1f},{floor:.1f}V{top + CORNER:.1f}Q{start:.1f},{top:.1f} "
        f"{start + corner:.1f},{top:.1f}H{end - corner:.1f}"
        f"Q{end:.1f},{top:.1f} {end:.1f},{top + CORNER:.1f}V{floor - ARROW:.1f}"
    )


def _word(word: PlacedWord, floor: float) -> str:
    direction = ' direction="rtl"' if is_right_to_left(word.form) else ""
    heights = (floor + 38 + LINE_HEIGHT * k for k in range(len(word.lines)))
    lines = "".join(
        f'<text class="tag" x="{word.x:.1f}" y="{height:.1f}">{escape(line)}</text>'
        for height, line in zip(heights, word.lines, strict=True)
        if line
    )
    return (
        f'<text class="word" x="{word.x:.1f}" y="{floor + 20:.1f}"{direction}>'
        f"{escape(word.form)}</text>{lines}"
    )


class DrawnArc(msgspec.Struct, frozen=True):
    """An arc in a picture: the position of its dependent, and its probability as it is shown."""

    dependent: int
    percent: str | None


class DrawnWord(msgspec.Struct, frozen=True):
    """A word in a picture: its centre and its width, in pixels."""

    x: float
    width: float


class DrawnTree(msgspec.Struct, frozen=True):
    """A picture with what a page needs to make it interactive.

    `arcs` are in the order of the elements with the class `arc` in `svg`, `words` in the order of
    those with the class `word`; arcs end at the height `floor`.
    """

    svg: str
    floor: float
    arcs: list[DrawnArc]
    words: list[DrawnWord]


def draw_tree(
    sentence: Sentence, parse: Parse, columns: Sequence[PredictedColumn] = ("upos",)
) -> DrawnTree:
    """Draw a sentence like `to_svg`, and say where its parts are."""
    layout = lay_out(sentence, parse, columns)
    return DrawnTree(
        write_svg(layout),
        layout.floor,
        [DrawnArc(placed.arc.dependent, placed.arc.percent) for placed in layout.arcs],
        [DrawnWord(round(word.x, 1), round(word.width, 1)) for word in layout.words],
    )


def stack_svgs(pictures: Sequence[str]) -> str:
    """Put pictures below each other in one; a single one stays as it is."""
    if len(pictures) == 1:
        return pictures[0]
    placed, top, width = [], 0, 0
    for picture in pictures:
        own_width, own_height = size_of_svg(picture)
        placed.append(picture.replace("<svg ", f'<svg y="{top}" ', 1))
        top += own_height + STACK_GAP
        width = max(width, own_width)
    height = max(top - STACK_GAP, 0)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="headwise" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        # One background for all, since pictures differ in width; their own style colours it.
        f"{_GROUND}{''.join(placed)}</svg>"
    )


def size_of_svg(picture: str) -> tuple[int, int]:
    """Read the width and height of a picture of ours, in pixels."""
    size = _SIZE.search(picture)
    assert size is not None
    return int(size[1]), int(size[2])


@dataclass(frozen=True, slots=True)
class Picture:
    """One SVG picture of one or more sentences."""

    svg: str

    def _repr_svg_(self) -> str:
        """Give notebooks what they display."""
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture: {len(self.svg):,} characters of SVG>"

    def save(self, path: str | Path) -> None:
        """Write it as SVG or PNG, by the name of the file; if that fails, no part of it is left."""
        ending = Path(str(path).removesuffix(".gz").removesuffix(".xz")).suffix.lower()
        if ending not in (".svg", ".png"):
            what = f"{ending} is not written" if ending else "the name has no ending"
            raise ConfigError(f"{path}: {what}", "use .svg or .png")
        data = self.to_png() if ending == ".png" else self.svg.encode("utf-8") + b"\n"
        with open_target(path) as stream:
            stream.write(data)

    def to_png(self) -> bytes:
        """Draw it as PNG; this needs `headwise[png]`."""
        from headwise.render.png import to_png

        return to_png(self.svg)


def to_picture(
    parsed: Sentence | Iterable[tuple[Sentence, Parse]],
    parse: Parse | None = None,
    *,
    max_width: float | None = None,
) -> Picture:
    """Draw a sentence, or the result of `Parser.annotate_text`, one sentence below the other.

    Wider pictures shrink to `max_width` pixels each.
    """
    refuse(parsed, (str, bytes), "show takes a sentence, or the result of Parser.annotate_text")
    pairs = [(parsed, parse)] if isinstance(parsed, Sentence) else parsed
    drawn = [to_svg(*pair, max_width=max_width) for pair in pairs]
    return Picture(stack_svgs(drawn or [to_svg(sentence_from_words([], []))]))
