"""Markdown tables and a plot."""

from pathlib import Path
from typing import Any

from bench.speed.stages import ORDER

Row = dict[str, Any]
FROM = {"conllu": "gold tokens", "text": "raw text"}


def table(rows: list[Row]) -> str:
    """Write a row for each system; `times` compares with headwise en on one thread, same input."""
    lines = [
        "| | from | on | words/s | words/CPU s | en is ... times as fast | load, s | peak MiB "
        "| installed, MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row['name']} | {FROM[row['what']]} | {_workers(row)} | {row['words']:,.0f} "
            f"| {row['cpu_words']:,.0f} | {row['times']:.2f} | {row['load']:.2f} "
            f"| {row['peak']:.0f} | {row['size']:.0f} |"
        )
    return "\n".join(lines)


def _is_single(row: Row) -> bool:
    return bool(row["threads"] == row["processes"] == 1)


def _workers(row: Row) -> str:
    if row["processes"] > 1:
        return f"{row['processes']} processes"
    return "1 thread" if row["threads"] == 1 else f"{row['threads']} threads"


def stage_table(stages: dict[str, dict[str, float]]) -> str:
    """Write microseconds per word for each step."""
    names = list(stages)
    lines = [f"| microseconds a word | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for step in (*ORDER, "sum"):
        totals = [sum(stages[name].values()) for name in names]
        values = totals if step == "sum" else [stages[name][step] for name in names]
        cells = (
            f"{value:.1f} ({100 * value / total:.0f}%)"
            for value, total in zip(values, totals, strict=True)
        )
        lines.append(f"| {step} | {' | '.join(cells)} |")
    return "\n".join(lines)


def plot(rows: list[Row], out: Path) -> None:
    """Draw words per second on one thread, a bar for each system; only this needs matplotlib."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(8, 4.2), layout="constrained")
    panels = canvas.subplots(1, 2)
    for panel, what in zip(panels, FROM, strict=True):
        shown = [row for row in rows if row["what"] == what and _is_single(row)][::-1]
        colours = ["#D55E00" if row["name"].startswith("headwise") else "#0072B2" for row in shown]
        bars = panel.barh([row["name"] for row in shown], [row["words"] for row in shown])
        for bar, colour in zip(bars, colours, strict=True):
            bar.set_color(colour)
        panel.bar_label(bars, fmt="{:,.0f}", padding=3)
        panel.set_title(f"from {FROM[what]}, one thread")
        panel.set_xlabel("words a second")
        panel.margins(x=0.25)
        panel.spines[["top", "right"]].set_visible(False)
    canvas.savefig(out, dpi=150)
