"""The picture of `docs/languages.md`: LAS on dev against the words of the training data."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Point:
    """A language of the picture."""

    code: str
    name: str
    words: int
    las: float
    ships: bool


WIDTH, HEIGHT = 860, 560
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 16, 52
TICKS = [digit * 10**power for power in range(2, 8) for digit in (1, 2, 5)]
LABEL_SIZE, RADIUS = 11, 3.5
X_AXIS = "words of training data; hollow points do not ship"
SPOTS = (
    (6, 4, "start"), (-6, 4, "end"), (0, -7, "middle"), (0, 15, "middle"),
    *((x, y, "start" if x > 0 else "end") for y in (-6, 13, -14, 21) for x in (5, -5)),
)  # fmt: skip
"""Where a label may stand beside its point, the best first: x, y and anchor."""
STYLE = (
    ".plot{color:#1f2328;font-family:system-ui,'Segoe UI',Roboto,'Noto Sans',Helvetica,Arial,"
    f"sans-serif;font-size:12px}}.plot text{{fill:currentColor}}"
    f".plot .code{{font-size:{LABEL_SIZE}px;stroke:#fff;stroke-width:3;stroke-linejoin:round;"
    "paint-order:stroke}"
    ".plot .ground{fill:#fff}.plot .grid{stroke:#d1d9e0}.plot .floor{stroke:#bf8700;"
    "stroke-dasharray:5 3}.plot .ships{fill:#0969da}.plot .weak{fill:#fff;stroke:#57606a;"
    "stroke-width:1.5}@media (prefers-color-scheme:dark){.plot{color:#e6edf3}"
    ".plot .ground{fill:#0d1117}.plot .grid{stroke:#3d444d}.plot .floor{stroke:#bb8009}"
    ".plot .code{stroke:#0d1117}.plot .ships{fill:#4493f8}.plot .weak{fill:#0d1117;stroke:#9198a1}}"
)
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
Place = Callable[[float], float]


def draw(languages: Sequence[Point], floor: float) -> str:
    """Draw LAS against training words as SVG that follows the reader's light or dark scheme."""
    words = [one.words for one in languages]
    las = [*(one.las for one in languages), floor]
    low_x, high_x = math.log(min(words) / 1.15), math.log(max(words) * 1.15)
    low_y, high_y = 5 * math.floor(min(las) / 5), 5 * math.ceil((max(las) + 0.5) / 5)

    def place_x(n_words: float) -> float:
        share = (math.log(n_words) - low_x) / (high_x - low_x)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def place_y(score: float) -> float:
        share = (score - low_y) / (high_y - low_y)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    marks = [*draw_ticks_x(place_x, low_x, high_x), *draw_ticks_y(place_y, low_y, high_y)]
    marks.append(f'<path class="floor" d="M{LEFT},{place_y(floor):.1f}H{WIDTH - RIGHT}"/>')
    ordered = sorted(languages, key=lambda one: (-one.las, one.code))
    places = [(place_x(one.words), place_y(one.las)) for one in ordered]
    marks += [draw_point(one, *place) for one, place in zip(ordered, places, strict=True)]
    marks += place_labels([one.code for one in ordered], places)
    title = "LAS on dev against the words of the training data"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
        f"<title>{title}</title><desc>{escape(tell(ordered))}</desc><style>{STYLE}</style>"
        f'<rect class="ground" width="100%" height="100%"/>\n' + "\n".join(marks) + "\n</svg>\n"
    )


def tell(languages: Sequence[Point]) -> str:
    """Say in words what the picture shows."""
    return "; ".join(f"{one.name}: {one.words:,} words, {one.las:.1f}" for one in languages)


def draw_ticks_x(place_x: Place, low: float, high: float) -> Iterator[str]:
    """Draw the axis of words, which is logarithmic."""
    bottom = HEIGHT - BOTTOM
    for tick in TICKS:
        if low <= math.log(tick) <= high:
            x = place_x(tick)
            yield f'<path class="grid" d="M{x:.1f},{TOP}V{bottom}"/>'
            yield draw_text(x, bottom + 18, "middle", f"{tick:,}")
    yield draw_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "middle", X_AXIS)


def draw_ticks_y(place_y: Place, low: int, high: int) -> Iterator[str]:
    """Draw the axis of scores."""
    for tick in range(low, high + 1, 5):
        y = place_y(tick)
        yield f'<path class="grid" d="M{LEFT},{y:.1f}H{WIDTH - RIGHT}"/>'
        yield draw_text(LEFT - 8, y + 4, "end", str(tick))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turned = f'transform="rotate(-90 16 {middle:.1f})"'
    yield draw_text(16, middle, "middle", "LAS on dev, words given", turned)


def draw_text(x: float, y: float, anchor: str, text: str, more: str = "") -> str:
    """Write a text into the picture."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text {place}{more and ' '}{more}>{escape(text)}</text>"


def draw_point(point: Point, x: float, y: float) -> str:
    """Draw a language as a point: filled if it ships."""
    kind = "ships" if point.ships else "weak"
    title = f"<title>{escape(tell([point]))}</title>"
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}">{title}</circle>'


def place_labels(codes: Sequence[str], points: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Put each code where it covers least of the points and of the codes before it."""
    taken: list[Box] = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in points]
    for code, (x, y) in zip(codes, points, strict=True):
        spots = [(x + dx, y + dy, anchor) for dx, dy, anchor in SPOTS]
        covered = [cover(box_of(code, *spot), taken) for spot in spots]
        best = spots[covered.index(min(covered))]
        taken.append(box_of(code, *best))
        yield draw_text(*best, code, 'class="code"')


def box_of(code: str, x: float, y: float, anchor: str) -> Box:
    """Estimate the box of a label; `y` is its base line."""
    width = 0.6 * LABEL_SIZE * len(code)
    left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * width
    return (left, y - 0.75 * LABEL_SIZE, left + width, y + 0.1 * LABEL_SIZE)


def cover(box: Box, taken: Sequence[Box]) -> float:
    """Measure how much of other boxes, and of what is outside of the picture, a box covers."""
    left, top, right, bottom = box
    outside = max(0.0, LEFT - left) + max(0.0, right - WIDTH)
    overlaps = (
        max(0.0, min(right, other[2]) - max(left, other[0]))
        * max(0.0, min(bottom, other[3]) - max(top, other[1]))
        for other in taken
    )
    return sum(overlaps) + LABEL_SIZE * outside
