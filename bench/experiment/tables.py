"""Averages over seeds; tables in Markdown; the files of a report."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import TypeAlias

import msgspec

from bench.experiment.results import Result, S
from headwise.files import whole_file


@dataclass(frozen=True, slots=True)
class Average:
    """A mean over seeds and its standard deviation, if there is more than one."""

    mean: float
    spread: float | None
    n: int


Pair = tuple[float, float]
Cell: TypeAlias = Average | Pair | float | int | str | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; numbers are not formatted yet."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    decimals: int = 2


def average(values: Iterable[float]) -> Average | None:
    """Average over seeds; None without values."""
    known = list(values)
    if not known:
        return None
    spread = round(stdev(known), 4) if len(known) > 1 else None
    return Average(round(mean(known), 4), spread, len(known))


def runs_table(results: Iterable[Result[S]], machines: Iterable[str]) -> Table:
    """Show how long each run took and on which machine."""
    rows = tuple(
        (
            str(one.run),
            round(one.seconds.get("train", 0.0)),
            round(sum(one.seconds.values())),
            one.side_by_side,
            machine,
        )
        for one, machine in zip(results, machines, strict=True)
    )
    return Table("Runs", "", ("run", "training, s", "all, s", "at once", "machine"), rows)


def markdown_table(table: Table) -> str:
    """Format a table; a first cell equal to the one above is left blank."""
    if not table.rows:
        return ""
    lines = [_line(table.columns), _line(["---"] * len(table.columns))]
    above: Cell = None
    for row in table.rows:
        first = "" if row[0] == above else format_cell(row[0])
        lines.append(_line([first, *(format_cell(cell, table.decimals) for cell in row[1:])]))
        above = row[0]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def format_cell(cell: Cell, decimals: int = 2) -> str:
    """Format a cell: floats rounded, integers with thousands separators, None blank."""
    match cell:
        case None:
            return ""
        case str():
            return cell
        case Average():
            spread = f" ± {cell.spread:.{decimals}f}" if cell.spread else ""
            return f"{cell.mean:.{decimals}f}{spread}"
        case tuple():
            return f"{cell[0]:.{decimals}f} / {cell[1]:.{decimals}f}"
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:.{decimals}f}"


def write_report(out: Path, sections: Iterable[str], data: object) -> list[Path]:
    """Write `report.md` from its non-empty sections, and `report.json` with all decimals."""
    files = {
        out / "report.md": "\n\n".join(section for section in sections if section),
        out / "report.json": json.dumps(msgspec.to_builtins(data), indent=1, ensure_ascii=False),
    }
    out.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        with whole_file(path) as stream:
            stream.write(f"{content}\n".encode())
    return list(files)
