"""The report, as Markdown for people and as JSON, from the results alone."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from bench.paper.figures import Figure, Findings, read_published
from bench.paper.plan import Plan, key_of, runs_of
from bench.paper.results import Result, read_treebank, results_in, treebank_path
from bench.paper.tables import Cell, Table, all_tables, by_length, claims
from headwise.files import whole_file

READING = "reading.md"
NO_READING = f"*(Nobody has written it yet; it goes into `{READING}` beside the results.)*"


def gather(plan: Plan, out: Path) -> Findings:
    """Read all results that are there."""
    found = {name: read_treebank(treebank_path(out, name)) for name in plan.datasets}
    return Findings(
        plan=plan,
        results=tuple(results_in(out, runs_of(plan))),
        treebanks={name: treebank for name, treebank in found.items() if treebank is not None},
        published=read_published(),
    )


def write_report(findings: Findings, out: Path, plots: Sequence[Path]) -> list[Path]:
    """Write `report.md` and `report.json`."""
    reading = out / READING
    text = reading.read_text(encoding="utf-8").strip() if reading.is_file() else NO_READING
    files = {
        out / "report.md": as_markdown(findings, [path.name for path in plots], text),
        out / "report.json": as_json(findings),
    }
    for path, content in files.items():
        with whole_file(path) as stream:
            stream.write(content.encode())
    return list(files)


def as_markdown(findings: Findings, plots: Sequence[str], reading: str) -> str:
    """Put the report together; sections are of the second level and below, to be included."""
    parts = ["## The paper's experiments", _introduction(findings)]
    for table in all_tables(findings):
        parts += [f"### {table.title}", table.note, markdown_table(table)]
    image = next((name for name in plots if name.endswith(".png")), None)
    parts += ["### Figure 3: UAS against sentence length, dev"]
    parts += [f"![UAS against sentence length]({image})"] if image else []
    parts += [LENGTH_NOTE, markdown_table(_length_table(findings))]
    claimed = claims(findings)
    parts += [f"### {claimed.title}", claimed.note, markdown_table(claimed)]
    parts += ["### A plain reading", reading]
    parts += ["### Commands", _commands(findings), "### Runs", *_runs(findings)]
    return "\n\n".join(part for part in parts if part) + "\n"


LENGTH_NOTE = (
    "Sentences are sorted by length and cut into ten bins of equal count, the shortest first. "
    "Below the length of the last sentence of each bin is its UAS, trees repaired, mean over seeds."
)


def _introduction(findings: Findings) -> str:
    by_title = {name: dataset.title for name, dataset in findings.plan.datasets.items()}
    known = [by_title[name] for name in by_title if name in {r.dataset for r in findings.results}]
    stale = [one for one in findings.results if _is_stale(findings.plan, one)]
    lines = [
        f"Made by `python -m bench.paper` from {len(findings.results)} runs on "
        f"{', '.join(known) or 'nothing yet'}.",
        "Gold words and gold tags. Punctuation is left out by the rule of the paper's dataset. "
        '"±" is the standard deviation over seeds. Our models run in int8 on ONNX Runtime; '
        "+E repairs by Eisner's algorithm, +CLE by Chu-Liu-Edmonds. A stand-in is not the paper's "
        "dataset: compare differences between rows, not figures across columns.",
    ]
    if stale:
        names = ", ".join(f"{one.dataset}/{one.system}/{one.seed}" for one in stale)
        lines.append(f"**Made with other settings than those of the plan now:** {names}.")
    return "\n\n".join(lines)


def _is_stale(plan: Plan, result: Result) -> bool:
    known = {(run.dataset, run.system, run.seed): run for run in runs_of(plan)}
    return key_of(plan, known[result.dataset, result.system, result.seed]) != result.key


def _length_table(findings: Findings) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, dataset in findings.plan.datasets.items():
        lengths: tuple[Cell, ...] = ()
        for key, system in findings.plan.systems.items():
            bins = by_length(findings.of(name, key))
            if bins and not lengths:
                lengths = tuple(length for length, _ in bins)
                rows.append((f"**{dataset.title}**, words up to", *lengths))
            if bins:
                rows.append((system.title, *(one.mean if one else None for _, one in bins)))
    width = max((len(row) for row in rows), default=1)
    padded = tuple((*row, *[None] * (width - len(row))) for row in rows)
    return Table("", "", ("", *(str(number) for number in range(1, width))), padded)


def _commands(findings: Findings) -> str:
    """Say how each run was made: one command, and what it sets for datasets and systems."""
    known = {one.dataset for one in findings.results}
    rows: list[tuple[Cell, ...]] = []
    for name, dataset in findings.plan.datasets.items():
        if name in known:
            scored = (
                f"data.punctuation={dataset.punctuation}",
                f"decode.decoder={dataset.decoder}",
            )
            vectors = (f"model.vectors={dataset.vectors}",) if dataset.vectors else ()
            settings = _code(scored + dataset.set + vectors)
            rows.append((dataset.title, f"`{dataset.recipe}`", settings))
    for system in findings.plan.systems.values():
        recipe = "outside" if system.is_outside else "as the dataset"
        own = system.train[-1].split(";") if system.is_outside else system.set
        rows.append((system.title, recipe, _code(own)))
    for name, dataset in findings.plan.datasets.items():
        for key, more in dataset.overrides.items() if name in known else ():
            title = f"{findings.plan.systems[key].title} on {dataset.title}"
            rows.append((title, "", _code(more)))
    table = Table("", "", ("dataset or system", "recipe", "settings over it"), tuple(rows))
    command = "```\npython -m bench.paper --data DATA --out OUT\n```"
    after = "The whole command of each run is in its JSON file."
    return f"{command}\n\n{after}\n\n{markdown_table(table)}"


def _code(settings: Sequence[str]) -> str:
    return ", ".join(f"`{setting}`" for setting in settings)


def _runs(findings: Findings) -> Iterator[str]:
    there = {(one.dataset, one.system, one.seed) for one in findings.results}
    begun = {one.dataset for one in findings.results}
    runs = [run for run in runs_of(findings.plan) if run.dataset in begun]
    missing = [str(run) for run in runs if (run.dataset, run.system, run.seed) not in there]
    if missing:
        yield f"Not there yet: {', '.join(missing)}."
    rows = tuple(_run_row(one) for one in findings.results)
    columns = ("run", "training, s", "all, s", "at once", "machine")
    yield markdown_table(Table("", "", columns, rows))


def _run_row(one: Result) -> tuple[Cell, ...]:
    name = f"{one.dataset}/{one.system}/{one.seed}"
    train, whole = round(one.seconds.get("train", 0.0)), round(sum(one.seconds.values()))
    return name, train, whole, one.side_by_side, one.scores.machine


def markdown_table(table: Table) -> str:
    """Write a table; a name that stands in the row above too is left out."""
    if not table.rows:
        return ""
    lines = [_line(table.columns), _line(["---"] * len(table.columns))]
    above: Cell = None
    for row in table.rows:
        first = "" if row[0] == above else as_text(row[0])
        lines.append(_line([first, *(as_text(cell, table.decimals) for cell in row[1:])]))
        above = row[0]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def as_text(cell: Cell, decimals: int = 2) -> str:
    """Write a cell: numbers rounded, thousands apart, nothing for nothing."""
    match cell:
        case None:
            return ""
        case str():
            return cell
        case Figure():
            spread = f" ± {cell.spread:.{decimals}f}" if cell.spread else ""
            return f"{cell.mean:.{decimals}f}{spread}"
        case tuple():
            return f"{cell[0]:.{decimals}f} / {cell[1]:.{decimals}f}"
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:.{decimals}f}"


def as_json(findings: Findings) -> str:
    """Give the same tables with all decimals, and every run."""
    lengths = {
        name: {key: by_length(findings.of(name, key)) for key in findings.plan.systems}
        for name in findings.plan.datasets
    }
    whole = {
        "tables": [*all_tables(findings), claims(findings)],
        "figure_3": {
            name: {key: bins for key, bins in systems.items() if bins}
            for name, systems in lengths.items()
            if any(systems.values())
        },
        "treebanks": findings.treebanks,
        "runs": findings.results,
    }
    return json.dumps(msgspec.to_builtins(whole), indent=1, ensure_ascii=False) + "\n"
