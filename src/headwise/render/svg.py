"""A sentence as one SVG picture: words in a row, tags under them, arcs above, no script, no fonts.

It follows the light or dark scheme of whoever shows it, says its tree in words for those who cannot
see it, and has no ids, so that many pictures fit into one page. Sentences that start with a
right-to-left letter go from right to left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from operator import itemgetter

from headwise.render.arcs import Arc, arcs_of, filled, percent, text_of
from headwise.render.cells import cut, is_right_to_left, visible
from headwise.render.layout import levels
from headwise.render.placing import MARGIN, mirror, place, text_length
from headwise.treebank.sentence import Parse, Sentence

WORD_SIZE, SMALL_SIZE = 16, 11
LEVEL = 24
"""From one level of arcs to the next; a label fits between."""
ROOT_RISE = 0.75
"""Levels from the highest arc to the start of the arrow from ROOT."""
CORNER = 8.0
ARROW = 5
LONGEST_WORD, LONGEST_LABEL, LONGEST_TITLE = 60, 30, 1000
UNDER_WORDS = 48

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
    sentence: Sentence, parse: Parse | None = None, *, max_width: float | None = None
) -> str:
    """Draw a sentence as a self-contained SVG picture; wider ones shrink to `max_width` pixels.

    With `parse`, arcs tell their probability when pointed at, and one below a half is dashed.
    """
    arcs = arcs_of(sentence, parse)
    forms = [_short(word.form, LONGEST_WORD) for word in sentence.words]
    tags = [_short(filled(word.upos) or "", LONGEST_LABEL) for word in sentence.words]
    drawn = [arc for arc in arcs if arc.is_drawn]
    places = place(
        [_length(*column) for column in zip(forms, tags, arcs, strict=True)],
        drawn,
        [text_length(_label(arc), SMALL_SIZE) for arc in drawn],
    )
    text = text_of(sentence)[:LONGEST_TITLE]
    if is_right_to_left(text):
        places = mirror(places)
    heights = _heights(drawn)
    floor = MARGIN + LEVEL * max(heights, default=1)
    parts = [f"<title>{_safe(text)}</title>", f"<desc>{escape(_in_words(arcs, forms))}</desc>"]
    # The highest first: only lines of higher arcs can cross a label, which then covers them.
    stacked = zip(heights, drawn, places.legs, strict=True)
    for level, arc, legs in sorted(stacked, key=itemgetter(0), reverse=True):
        parts.append(_arc(arc, _path(*legs, floor, floor - LEVEL * level), forms))
    for column in zip(forms, tags, places.centres, strict=True):
        parts.append(_word(*column, floor))
    return _frame(parts, places.width, floor + UNDER_WORDS, max_width)


def _heights(drawn: Sequence[Arc]) -> list[float]:
    """Give each arc its level; those from ROOT start above all others."""
    between = iter(levels([arc.span for arc in drawn if arc.head]))
    heights = [next(between) if arc.head else 0 for arc in drawn]
    above = max(heights, default=0) + ROOT_RISE
    return [height or above for height in heights]


def _safe(text: str) -> str:
    return escape(visible(text))


def _short(value: str, longest: int) -> str:
    return cut(visible(value[: 10 * longest]), longest)


def _label(arc: Arc) -> str:
    return _short(arc.label, LONGEST_LABEL)


def _length(form: str, tag: str, arc: Arc) -> float:
    own = max(text_length(form, WORD_SIZE), text_length(tag, SMALL_SIZE))
    return max(own, text_length(_label(arc), SMALL_SIZE)) if arc.head == 0 else own


@dataclass(frozen=True, slots=True)
class Path:
    """The line of an arc, the point of its arrow, and the middle of its top, where the label is."""

    line: str
    tip_x: float
    tip_y: float
    label_x: float
    label_y: float


def _path(start: float, end: float, floor: float, top: float) -> Path:
    """Go up from the head, over, and down to the dependent; from ROOT, straight down."""
    if start == end:
        return Path(f"M{end:.1f},{top:.1f}V{floor - ARROW:.1f}", end, floor, end, top)
    side = 1 if end > start else -1
    corner = min(CORNER, abs(end - start) / 2) * side
    line = (
        f"M{start:.1f},{floor:.1f}V{top + CORNER:.1f}Q{start:.1f},{top:.1f} "
        f"{start + corner:.1f},{top:.1f}H{end - corner:.1f}"
        f"Q{end:.1f},{top:.1f} {end:.1f},{top + CORNER:.1f}V{floor - ARROW:.1f}"
    )
    return Path(line, end, floor, (start + end) / 2, top)


def _arc(arc: Arc, path: Path, forms: Sequence[str]) -> str:
    sure = "" if arc.probability is None else f", {percent(arc.probability)}"
    head = forms[arc.head - 1] if arc.head else "ROOT"
    title = f"{_label(arc)}: {head} \u2192 {forms[arc.dependent - 1]}{sure}"
    x, y = path.tip_x, path.tip_y
    return (
        f'<g class="{"arc unsure" if arc.is_unsure else "arc"}"><title>{escape(title)}</title>'
        f'<path class="line" d="{path.line}"/>'
        f'<path class="head" d="M{x:.1f},{y:.1f}l-{ARROW - 1},-{ARROW + 2}h{2 * ARROW - 2}z"/>'
        f'<text class="label" x="{path.label_x:.1f}" y="{path.label_y - 5.5:.1f}">'
        f"{escape(_label(arc))}</text></g>"
    )


def _word(form: str, tag: str, centre: float, floor: float) -> str:
    direction = ' direction="rtl"' if is_right_to_left(form) else ""
    under = f'<text class="tag" x="{centre:.1f}" y="{floor + 38:.1f}">{escape(tag)}</text>'
    return (
        f'<text class="word" x="{centre:.1f}" y="{floor + 20:.1f}"{direction}>'
        f"{escape(form)}</text>{under if tag else ''}"
    )


def _in_words(arcs: Sequence[Arc], forms: Sequence[str]) -> str:
    """Say a tree: `Kids: nsubj of love; love: root; ...`."""
    said = []
    for arc, form in zip(arcs, forms, strict=True):
        head = f" of {forms[arc.head - 1]}" if arc.head else ""
        said.append(f"{form}: {_label(arc)}{head}")
    return "; ".join(said)


def _frame(parts: Sequence[str], width: float, height: float, max_width: float | None) -> str:
    shown = width if max_width is None else min(width, max_width)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="headwise" role="img" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{shown:.0f}" height="{height * shown / width:.0f}">'
        f"{parts[0]}{parts[1]}<style>{_STYLE}</style>"
        f'<rect class="ground" width="100%" height="100%"/>{"".join(parts[2:])}</svg>'
    )
