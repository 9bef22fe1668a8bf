"""A dependency tree as text: words below each other, the arcs of each head on a bar to their left.

     ╭──► Kids   NOUN  nsubj  ← love   98%
    ─┼──► love   VERB  root            99%
     ╰──► candy  NOUN  obj    ← love   42% ?

A line starts at the bar of the head and ends at the word; the dependents of a word hang on the bar
that its line crosses last. Where a line passes the bar of an unrelated head, the bar is drawn
through (`─│─`). A tree too deep for the width becomes a table with the numbers of heads.

All arcs of a head hang on one bar, and bars stand further right the deeper their head is in the
tree. A column is used again by bars that share no row.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass

from headwise.render.arcs import Arc, arcs_of
from headwise.render.cells import clip, isolate, text_width, visible
from headwise.settings.choices import PredictedColumn
from headwise.treebank.sentence import Parse, Sentence

_DIM, _YELLOW, _RESET = "\x1b[2m", "\x1b[33m", "\x1b[0m"
_GAP = "  "
_UNKNOWN = "?"
_LONGEST = 1_000
"""Characters of a value that are looked at; the rest would be clipped anyway."""
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters of a drawing; `joints` are indexed by 1 up + 2 down + 4 left."""

    joints: str
    across: str
    down: str
    arrow: str
    back: str
    ellipsis: str


_BOX = Glyphs("─╰╭├─┴┬┼", "─", "│", "►", "←", "…")
_ASCII = Glyphs("-`,+-+++", "-", "|", ">", "<", "~")


@dataclass(frozen=True, slots=True)
class LineFormat:
    """What a line shows: cells between two bars (0: no tree), and the columns after the tree.

    Values of columns that were asked for are cut after `longest_value`; 0 leaves them out.
    """

    step: int
    with_heads: bool
    longest_value: int
    longest_form: int
    longest_label: int


_FORMATS = (
    LineFormat(2, True, 200, 30, 24),
    LineFormat(2, True, 60, 30, 24),
    LineFormat(2, False, 60, 30, 24),
    LineFormat(2, False, 30, 30, 24),
    LineFormat(2, False, 12, 14, 16),
    LineFormat(1, False, 12, 14, 16),
    LineFormat(1, False, 0, 10, 12),
    LineFormat(0, True, 12, 20, 16),
    LineFormat(0, False, 12, 14, 16),
    LineFormat(0, False, 0, 8, 10),
)
"""From the widest to the narrowest; the first that fits is used, or else the last."""


@dataclass(frozen=True, slots=True)
class Forest:
    """Words as trees that can be drawn: `children[i]` of position i, and the roots to start from.

    The arcs into `roots` are not among the children: they come from ROOT, have no head, or would
    close a cycle.
    """

    children: tuple[tuple[int, ...], ...]
    roots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """The vertical line that the arcs of one head hang on, from the row `top` to `bottom`."""

    column: int
    top: int
    bottom: int


def draw(
    sentence: Sentence,
    parse: Parse | None = None,
    *,
    width: int,
    colour: bool,
    encoding: str = "utf-8",
    columns: Sequence[PredictedColumn] = ("upos",),
) -> str:
    """Draw the tree of a sentence for a terminal of `width` cells, one line per word.

    Beside each word are its values in `columns`, then its label, its head and a probability.
    With `parse`, each arc has its probability, and one below a half stands out. Characters that
    `encoding` lacks become `?`; if it lacks box-drawing characters, ASCII ones are used.
    """
    arcs = arcs_of(sentence, parse)
    glyphs = _BOX if _can_encode(encoding, "".join(astuple(_BOX))) else _ASCII
    trees = build_forest([arc.head for arc in arcs])
    for line_format in _FORMATS:
        bars = place_bars(trees, max(width, 1)) if line_format.step else {}
        if bars is None:
            continue
        margin = _margin(arcs, trees, bars, line_format.step, glyphs)
        fields = _fields(sentence, arcs, columns, line_format, glyphs, encoding)
        lines = list(_lines(arcs, margin, fields, colour))
        if max((cells for cells, _ in lines), default=0) <= width:
            break
    drawn = [line for _, line in lines]
    if parse is not None and parse.how != "greedy":
        drawn.append(_paint(f"repaired by {parse.how}", _DIM, colour))
    return "\n".join(drawn)


def _can_encode(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _margin(
    arcs: Sequence[Arc], trees: Forest, bars: dict[int, Bar], step: int, glyphs: Glyphs
) -> list[tuple[str, str]]:
    """Draw the tree left of the words: for each, the bars before its arc, and the arc."""
    if not step:
        return [("", f"{arc.dependent:>{len(str(len(arcs)))}} ") for arc in arcs]
    roots = set(trees.roots)
    margin = []
    for arc, cells in zip(arcs, _draw_bars(len(arcs), bars, step, glyphs), strict=True):
        row = arc.dependent
        head_bar = bars[arc.head] if arc.head and row not in roots else None
        start = 1 + step * head_bar.column if head_bar else 0
        line = [glyphs.across if cell == " " else cell for cell in cells[start:]]
        if head_bar:
            line[0] = glyphs.joints[_directions(head_bar, row)]
        elif arc.head != 0:
            line[0] = _UNKNOWN
        if bar := bars.get(row):
            line[1 + step * bar.column - start] = glyphs.joints[4 + _directions(bar, row)]
        bars_before = "".join(cells[:start]) + line[0]
        margin.append((bars_before, "".join(line[1:]) + glyphs.arrow + " "))
    return margin


def _draw_bars(n_rows: int, bars: dict[int, Bar], step: int, glyphs: Glyphs) -> list[list[str]]:
    """Draw only the bars, in cells: one for ROOT, `step` for each column, one before the arrow."""
    n_columns = 1 + max((bar.column for bar in bars.values()), default=-1)
    grid = [[" "] * (2 + step * n_columns) for _ in range(n_rows)]
    for bar in bars.values():
        for row in range(bar.top, bar.bottom + 1):
            grid[row - 1][1 + step * bar.column] = glyphs.down
    return grid


def _directions(bar: Bar, row: int) -> int:
    """Return which way a bar continues from a row: 1 up, 2 down, 3 both."""
    return (bar.top < row) + 2 * (row < bar.bottom)


def _fields(
    sentence: Sentence,
    arcs: Sequence[Arc],
    columns: Sequence[PredictedColumn],
    line_format: LineFormat,
    glyphs: Glyphs,
    encoding: str,
) -> list[tuple[str, ...]]:
    """Give form, columns, label, head and probability of each word; what is not shown is empty."""

    def fit(value: str, longest: int) -> str:
        shown = visible(value[:_LONGEST]).encode(encoding, "replace").decode(encoding)
        short = clip(shown, longest, glyphs.ellipsis)
        isolated = isolate(short)
        return isolated if _can_encode(encoding, isolated) else short

    forms = [fit(word.form, line_format.longest_form) for word in sentence.words]
    fields: list[tuple[str, ...]] = []
    for arc, word, form in zip(arcs, sentence.words, forms, strict=True):
        number = f"{arc.head}" if not line_format.step and arc.head is not None else ""
        name = forms[arc.head - 1] if arc.head and line_format.with_heads else ""
        head = " ".join(part for part in (number, name) if part)
        shown = arc.percent.rjust(4) if arc.percent else ""
        fields.append(
            (
                form,
                *(
                    fit(getattr(word, column), line_format.longest_value)
                    for column in columns
                    if line_format.longest_value
                ),
                fit(arc.label, line_format.longest_label),
                f"{glyphs.back} {head}" if head else "",
                shown + (" ?" if arc.is_unsure else ""),
            )
        )
    return fields


def _lines(
    arcs: Sequence[Arc],
    margin: Sequence[tuple[str, str]],
    fields: Sequence[tuple[str, ...]],
    colour: bool,
) -> Iterator[tuple[int, str]]:
    """Join the parts of each line; gives the number of cells it takes, and the line."""
    widths = [max(map(text_width, column)) for column in zip(*fields, strict=True)]
    for arc, (bars_before, arc_line), values in zip(arcs, margin, fields, strict=True):
        warning = _YELLOW if arc.is_unsure else ""
        n_columns = len(values) - 4
        styles = ("", *[_DIM] * n_columns, warning, _DIM, warning or _DIM)
        cells = len(bars_before) + len(arc_line)
        line = bars_before + _paint(arc_line, warning, colour)
        blanks = ""
        for value, style, width in zip(values, styles, widths, strict=True):
            used = text_width(value)
            if value:
                line += blanks + _paint(value, style, colour)
                cells += len(blanks) + used
                blanks = ""
            blanks += " " * (width - used) + (_GAP if width else "")
        yield cells, line


def _paint(text: str, style: str, colour: bool) -> str:
    return f"{style}{text}{_RESET}" if colour and style and text else text


def build_forest(heads: Sequence[int | None]) -> Forest:
    """Order words from heads to dependents; in a cycle, one arc is left out.

    Args:
        heads: the head of each word, from position 1; 0 is ROOT, None unknown.
    """
    head_of = [0, *(head or 0 for head in heads)]
    roots = {position for position, head in enumerate(head_of) if position and not head}
    reached_from = [0] + [-1] * len(heads)
    for start in range(1, len(head_of)):
        position = start
        while reached_from[position] < 0:
            reached_from[position] = start
            position = head_of[position]
        if reached_from[position] == start:  # met again on the same walk
            roots.add(position)
    children: list[list[int]] = [[] for _ in head_of]
    for position, head in enumerate(head_of):
        if position and position not in roots:
            children[head].append(position)
    return Forest(tuple(map(tuple, children)), tuple(sorted(roots)))


def place_bars(trees: Forest, limit: int) -> dict[int, Bar] | None:
    """Give each word with dependents a bar, right of its head's bar; None beyond `limit` columns.

    Bars in the same column share no row, so a line from a bar to the right can cross others only
    where the tree is not projective. Example: heads 2, 0, 4, 2 give 2 the column 0, rows 1-4, and
    4 the column 1, rows 3-4.
    """
    bars: dict[int, Bar] = {}
    taken: list[list[_Span]] = []
    waiting = deque((root, 0) for root in trees.roots)
    while waiting:
        position, column = waiting.popleft()
        if not trees.children[position]:
            continue
        rows = (position, *trees.children[position])
        span = min(rows), max(rows)
        while column < len(taken) and not _is_free(taken[column], span):
            column += 1
        if column >= limit:
            return None
        if column == len(taken):
            taken.append([])
        insort(taken[column], span)
        bars[position] = Bar(column, *span)
        waiting.extend((child, column + 1) for child in trees.children[position])
    return bars


def _is_free(taken: Sequence[_Span], span: _Span) -> bool:
    after = bisect_left(taken, span)
    is_free_above = after == 0 or taken[after - 1][1] < span[0]
    return is_free_above and (after == len(taken) or taken[after][0] > span[1])
