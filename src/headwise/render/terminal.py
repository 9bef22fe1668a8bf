"""A dependency tree as text: words below each other, the arcs of each head on a bar at their left.

     ╭──► Kids   NOUN  nsubj  ← love   98%
    ─┼──► love   VERB  root           100%
     ╰──► candy  NOUN  obj    ← love   42% ?

A line comes from the bar of the head and ends at the word; a bar that a word stands on carries its
dependents. Where a line passes a bar that it has nothing to do with, the bar is drawn through
(`─│─`). A tree too deep for the width gives way to a table with the numbers of heads.
"""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass

from headwise.render.arcs import Arc, arcs_of, percent
from headwise.render.cells import cut, isolate, text_width, visible
from headwise.render.layout import Bar, Forest, columns, forest
from headwise.treebank.sentence import Parse, Sentence

DIM, YELLOW, PLAIN = "\x1b[2m", "\x1b[33m", "\x1b[0m"
GAP = "  "
_UNKNOWN = "?"
_LONGEST = 200
"""Characters of a value that are looked at; the rest would be cut anyway."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters of a drawing; `joints` by what meets there: 1 up, 2 down, 4 left, summed."""

    joints: str
    across: str
    down: str
    arrow: str
    back: str
    ellipsis: str


BOX = Glyphs("─╰╭├─┴┬┼", "─", "│", "►", "←", "…")
ASCII = Glyphs("-`,+-+++", "-", "|", ">", "<", "~")


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to fill a line: cells between two bars (0: no tree), and what stands after it."""

    step: int
    with_heads: bool
    with_tags: bool
    longest_form: int
    longest_label: int


PLANS = (
    Plan(2, True, True, 30, 24),
    Plan(2, False, True, 30, 24),
    Plan(2, False, True, 14, 16),
    Plan(1, False, True, 14, 16),
    Plan(1, False, False, 10, 12),
    Plan(0, True, True, 20, 16),
    Plan(0, False, True, 14, 16),
    Plan(0, False, False, 8, 10),
)
"""From the widest to the narrowest; the first that fits is taken, or the last."""


def draw(
    sentence: Sentence,
    parse: Parse | None = None,
    *,
    width: int,
    colour: bool,
    encoding: str = "utf-8",
) -> str:
    """Draw the tree of a sentence for a terminal of `width` cells, one line a word.

    With `parse`, each arc has its probability, and one below a half stands out. Characters that
    `encoding` lacks become `?`, and without box-drawing characters in it ASCII ones are used.
    """
    arcs = arcs_of(sentence, parse)
    glyphs = BOX if _can_show(encoding, "".join(astuple(BOX))) else ASCII
    trees = forest([arc.head for arc in arcs])
    for plan in PLANS:
        bars = columns(trees, max(width, 1)) if plan.step else {}
        if bars is None:
            continue
        margin = _margin(arcs, trees, bars, plan.step, glyphs)
        texts = _texts(sentence, arcs, plan, glyphs, encoding)
        lines = list(_lines(arcs, margin, texts, colour))
        if max((cells for cells, _ in lines), default=0) <= width:
            break
    drawn = [line for _, line in lines]
    if parse is not None and parse.how != "greedy":
        drawn.append(_paint(f"repaired by {parse.how}", DIM, colour))
    return "\n".join(drawn)


def _can_show(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _margin(
    arcs: Sequence[Arc], trees: Forest, bars: dict[int, Bar], step: int, glyphs: Glyphs
) -> list[tuple[str, str]]:
    """Draw what stands left of the words: for each, what it only passes, and its own arc."""
    if not step:
        return [("", f"{arc.dependent:>{len(str(len(arcs)))}} ") for arc in arcs]
    starts = set(trees.starts)
    margin = []
    for arc, cells in zip(arcs, _bars_only(len(arcs), bars, step, glyphs), strict=True):
        row = arc.dependent
        above = bars[arc.head] if arc.head and row not in starts else None
        at = 1 + step * above.column if above else 0
        line = [glyphs.across if cell == " " else cell for cell in cells[at:]]
        if above:
            line[0] = glyphs.joints[_meets(above, row)]
        elif arc.head != 0:
            line[0] = _UNKNOWN
        if own := bars.get(row):
            line[1 + step * own.column - at] = glyphs.joints[4 + _meets(own, row)]
        passed = "".join(cells[:at]) + line[0]
        margin.append((passed, "".join(line[1:]) + glyphs.arrow + " "))
    return margin


def _bars_only(n_rows: int, bars: dict[int, Bar], step: int, glyphs: Glyphs) -> list[list[str]]:
    """Draw the bars alone, as cells: one for ROOT, `step` for each column, one before the arrow."""
    n_columns = 1 + max((bar.column for bar in bars.values()), default=-1)
    grid = [[" "] * (2 + step * n_columns) for _ in range(n_rows)]
    for bar in bars.values():
        for row in range(bar.top, bar.bottom + 1):
            grid[row - 1][1 + step * bar.column] = glyphs.down
    return grid


def _meets(bar: Bar, row: int) -> int:
    """Tell which way a bar goes on from a row: 1 up, 2 down, 3 both."""
    return (bar.top < row) + 2 * (row < bar.bottom)


@dataclass(frozen=True, slots=True)
class Texts:
    """What stands right of a word's arc; empty where there is nothing to say."""

    form: str
    tag: str
    label: str
    head: str
    sure: str


def _texts(
    sentence: Sentence, arcs: Sequence[Arc], plan: Plan, glyphs: Glyphs, encoding: str
) -> list[Texts]:
    def fit(value: str, longest: int) -> str:
        shown = visible(value[:_LONGEST]).encode(encoding, "replace").decode(encoding)
        short = cut(shown, longest, glyphs.ellipsis)
        isolated = isolate(short)
        return isolated if _can_show(encoding, isolated) else short

    forms = [fit(word.form, plan.longest_form) for word in sentence.words]
    found = []
    for arc, word, form in zip(arcs, sentence.words, forms, strict=True):
        number = f"{arc.head}" if not plan.step and arc.head is not None else ""
        name = forms[arc.head - 1] if arc.head and plan.with_heads else ""
        head = " ".join(part for part in (number, name) if part)
        sure = "" if arc.probability is None else percent(arc.probability).rjust(4)
        found.append(
            Texts(
                form,
                fit(word.upos, 12) if plan.with_tags else "",
                fit(arc.label, plan.longest_label),
                f"{glyphs.back} {head}" if head else "",
                sure + (" ?" if arc.is_unsure else ""),
            )
        )
    return found


def _lines(
    arcs: Sequence[Arc], margin: Sequence[tuple[str, str]], texts: Sequence[Texts], colour: bool
) -> Iterator[tuple[int, str]]:
    """Put lines together, each with the number of cells it takes."""
    widths = [
        max(text_width(value) for value in column)
        for column in zip(*((t.form, t.tag, t.label, t.head, t.sure) for t in texts), strict=True)
    ]
    for arc, (passed, own), text in zip(arcs, margin, texts, strict=True):
        loud = YELLOW if arc.is_unsure else ""
        fields = (
            (text.form, ""),
            (text.tag, DIM),
            (text.label, loud),
            (text.head, DIM),
            (text.sure, loud or DIM),
        )
        cells = len(passed) + len(own)
        line = passed + _paint(own, loud, colour)
        blanks = ""
        for (value, style), width in zip(fields, widths, strict=True):
            if value:
                line += blanks + _paint(value, style, colour)
                cells += len(blanks) + text_width(value)
                blanks = ""
            blanks += " " * (width - text_width(value)) + (GAP if width else "")
        yield cells, line


def _paint(text: str, style: str, colour: bool) -> str:
    return f"{style}{text}{PLAIN}" if colour and style and text else text
