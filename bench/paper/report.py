"""The report, as Markdown for people and as JSON, from the results alone."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.experiment.plan import select_runs
from bench.experiment.results import outdated, read_json, read_results, unfinished
from bench.experiment.tables import Cell, Table, markdown_table, runs_table, write_report
from bench.paper.plan import Plan
from bench.paper.scores import Scores, Treebank, treebank_path
from bench.paper.tables import Findings, all_tables, by_length, claims, read_published

READING = "reading.md"
NO_READING = f"*(Nobody has written it yet; it goes into `{READING}` beside the results.)*"
LENGTH_NOTE = (
    "Sentences are sorted by length and cut into ten bins of equal count, the shortest first. "
    "Below the length of the last sentence of each bin is its UAS, trees repaired, mean over seeds."
)


def gather(plan: Plan, out: Path) -> Findings:
    """Read all results that exist."""
    treebanks = {name: read_json(treebank_path(out, name), Treebank) for name in plan.datasets}
    return Findings(
        plan=plan,
        results=tuple(read_results(out, select_runs(plan), Scores)),
        treebanks={name: one for name, one in treebanks.items() if one is not None},
        published=read_published(),
    )


def report(findings: Findings, out: Path, plots: Sequence[Path]) -> list[Path]:
    """Write `report.md` and `report.json`."""
    path = out / READING
    reading = path.read_text(encoding="utf-8").strip() if path.is_file() else NO_READING
    sections = markdown_sections(findings, [plot.name for plot in plots], reading)
    return write_report(out, sections, json_data(findings))


def markdown_sections(findings: Findings, plots: Sequence[str], reading: str) -> Iterator[str]:
    """List the sections; headings start at the second level so that pages can include them."""
    yield from ("## The paper's experiments", _introduction(findings))
    for table in all_tables(findings):
        yield from (f"### {table.title}", table.note, markdown_table(table))
    image = next((name for name in plots if name.endswith(".png")), None)
    yield "### Figure 3: UAS against sentence length, dev"
    yield f"![UAS against sentence length]({image})" if image else ""
    yield from (LENGTH_NOTE, markdown_table(_length_table(findings)))
    claimed = claims(findings)
    yield from (f"### {claimed.title}", claimed.note, markdown_table(claimed))
    yield from ("### A plain reading", reading)
    yield from ("### Commands", _commands(findings), "### Runs")
    datasets = {one.dataset for one in findings.results}
    missing = [
        str(run) for run in unfinished(findings.plan, findings.results) if run.names[0] in datasets
    ]
    yield f"Not there yet: {', '.join(missing)}." if missing else ""
    machines = (one.scores.machine for one in findings.results)
    yield markdown_table(runs_table(findings.results, machines))


def _introduction(findings: Findings) -> str:
    known = {one.dataset for one in findings.results}
    titles = [one.title for name, one in findings.plan.datasets.items() if name in known]
    stale = outdated(findings.plan, findings.results)
    lines = [
        f"Made by `python -m bench.paper` from {len(findings.results)} runs on "
        f"{', '.join(titles) or 'nothing yet'}.",
        "Gold words and gold tags. Punctuation is left out by the rule of the paper's dataset. "
        '"±" is the standard deviation over seeds. Our models run in int8 on ONNX Runtime; '
        "+E repairs by Eisner's algorithm, +CLE by Chu-Liu-Edmonds. A stand-in is not the paper's "
        "dataset: compare differences between rows, not figures across columns.",
    ]
    if stale:
        names = ", ".join(stale)
        lines.append(f"**Made with other settings than those of the plan now:** {names}.")
    return "\n\n".join(lines)


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
    """Show the command, and the settings of each dataset and system."""
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
        recipe = "outside" if system.is_external else "as the dataset"
        own = system.train[-1].split(";") if system.is_external else system.set
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


def json_data(findings: Findings) -> dict[str, object]:
    """Collect the same tables with all decimals, and every run."""
    lengths = {
        name: {key: by_length(findings.of(name, key)) for key in findings.plan.systems}
        for name in findings.plan.datasets
    }
    return {
        "tables": [*all_tables(findings), claims(findings)],
        "figure_3": {
            name: {key: bins for key, bins in systems.items() if bins}
            for name, systems in lengths.items()
            if any(systems.values())
        },
        "treebanks": findings.treebanks,
        "runs": findings.results,
    }
