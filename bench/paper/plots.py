"""Figure 3: UAS against sentence length on dev, a panel for each dataset.

The only module here that needs matplotlib.
"""

from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas

from bench.paper.plan import System
from bench.paper.tables import NON_PROJECTIVE, PROJECTIVE, Findings, by_length

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

STYLES = (
    ("#D55E00", "s", "-"),
    ("#0072B2", "o", "-"),
    ("#009E73", "^", "--"),
    ("#CC79A7", "D", "--"),
    ("#E69F00", "v", ":"),
    ("#56B4E9", "P", ":"),
    ("#000000", "X", "--"),
)
"""Colours that most people can distinguish, and markers for those who cannot."""
N_COLUMNS = 2
SUFFIXES = ("png", "svg")


def draw_figure_3(findings: Findings, out: Path) -> list[Path]:
    """Draw the figure as PNG and SVG, if there are results."""
    datasets = findings.datasets(*PROJECTIVE, *NON_PROJECTIVE)
    if not datasets:
        return []
    n_columns = min(N_COLUMNS, len(datasets))
    n_rows = -(-len(datasets) // n_columns)
    canvas = Canvas(figsize=(5.2 * n_columns, 3.5 * n_rows + 1.0), layout="constrained")
    axes = canvas.subplots(n_rows, n_columns, squeeze=False).ravel()
    for panel, (name, _) in zip(axes, datasets, strict=False):
        _draw_panel(panel, findings, name)
    for panel in axes[len(datasets) :]:
        panel.set_axis_off()
    lines: dict[str, Artist] = {}
    for panel in axes:
        handles, names = panel.get_legend_handles_labels()
        lines |= dict(zip(names, handles, strict=True))
    shown = [title for title in map(_title, findings.plan.systems.values()) if title in lines]
    handles = [lines[title] for title in shown]
    canvas.legend(handles, shown, loc="outside upper center", ncols=min(3, len(shown)))
    return _save(canvas, out)


def _draw_panel(panel: "Axes", findings: Findings, name: str) -> None:
    dataset = findings.plan.datasets[name]
    labels: list[str] = []
    styles = zip(findings.plan.systems.items(), cycle(STYLES), strict=False)
    for (key, system), (colour, marker, line) in styles:
        bins = by_length(findings.of(name, key))
        if not bins:
            continue
        known = [(i, one) for i, (_, one) in enumerate(bins) if one is not None]
        positions, means = [i for i, _ in known], [one.mean for _, one in known]
        spreads = [one.spread or 0.0 for _, one in known]
        title = _title(system)
        panel.plot(positions, means, color=colour, marker=marker, linestyle=line, label=title)
        low = [m - s for m, s in zip(means, spreads, strict=True)]
        high = [m + s for m, s in zip(means, spreads, strict=True)]
        panel.fill_between(positions, low, high, color=colour, alpha=0.15, linewidth=0)
        labels = [str(length) for length, _ in bins]
    paper = "" if dataset.is_own else f" (for {findings.published[dataset.stands_for].title})"
    panel.set_title(f"{dataset.title}{paper}")
    panel.set_xticks(range(len(labels)), labels)
    panel.set_xlabel("words in the longest sentence of each tenth")
    panel.set_ylabel("dev UAS")
    panel.grid(axis="y", alpha=0.3)


def _title(system: System) -> str:
    return system.title if system.is_external else f"{system.title}+E/CLE"


def _save(canvas: Canvas, out: Path) -> list[Path]:
    paths = [out / f"figure-3.{suffix}" for suffix in SUFFIXES]
    # Without a date and with fixed names inside, the same results give the same file.
    with mpl.rc_context({"svg.hashsalt": "headwise"}):
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else {}
            canvas.savefig(path, dpi=130, metadata=metadata)
    return paths
