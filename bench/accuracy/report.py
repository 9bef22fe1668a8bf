"""The table, as Markdown for people and as JSON, from the results alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.accuracy.measure import Scores
from bench.accuracy.plan import Plan, Row
from bench.experiment.plan import Run
from bench.experiment.results import Result, outdated, read_results, unfinished
from bench.experiment.tables import (
    Average,
    Cell,
    Table,
    average,
    markdown_table,
    runs_table,
    write_report,
)
from bench.paper.scores import Scores as PaperScores

PEERS = {
    "udpipe-projective": "UDPipe 1, projective",
    "udpipe-swap": "UDPipe 1, swap",
    "dense": "DeNSe, the paper's recipe",
}
"""Systems of `bench.paper` that are shown, and their titles here."""
Runtime = Literal["torch", "int8"]
MAX_PEER_SEEDS = 10
INTRODUCTION = """Made by `python -m bench.accuracy`. Gold words; every word counts, labels in \
full; one root, trees repaired by Chu-Liu-Edmonds. "±" is the standard deviation over seeds. \
Recipes were chosen on dev; test is only measured. Test figures are of PyTorch in float32 and of \
the ONNX runtime in int8."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that a report is made of; `peers` by treebank and system of `bench.paper`."""

    plan: Plan
    results: dict[str, list[Result[Scores]]]
    peers: dict[tuple[str, str], list[Result[PaperScores]]]

    def all_results(self) -> list[Result[Scores]]:
        """List the results of all rows."""
        return [one for results in self.results.values() for one in results]


def gather(plan: Plan, out: Path, peers: Sequence[Path]) -> Findings:
    """Read all results that exist."""
    results = {name: read_results(out, plan.runs_of_row(name), Scores) for name in plan.rows}
    return Findings(plan, results, dict(_read_peers(plan, peers)))


def _read_peers(
    plan: Plan, folders: Sequence[Path]
) -> Iterator[tuple[tuple[str, str], list[Result[PaperScores]]]]:
    for name, treebank in plan.treebanks.items():
        for system in PEERS if treebank.peers else ():
            runs = [Run((treebank.peers, system), seed) for seed in range(MAX_PEER_SEEDS)]
            results = [one for out in folders for one in read_results(out, runs, PaperScores)]
            if results:
                yield (name, system), results


def average_of(
    results: Sequence[Result[Scores]], runtime: Runtime, part: str, name: str
) -> Average | None:
    """Average one score over seeds."""
    tables = [getattr(one.scores, runtime) for one in results]
    return average(getattr(table[part], name) for table in tables if part in table)


def main_table(findings: Findings) -> Table:
    """List the rows of each treebank, other parsers first."""
    lines: list[tuple[Cell, ...]] = []
    for name, treebank in findings.plan.treebanks.items():
        for system, title in PEERS.items():
            lines += _peer_row(findings, name, system, title)
        for key, row in findings.plan.rows.items():
            if row.treebank == name and findings.results[key]:
                lines.append((treebank.title, *_own_cells(row, findings.results[key])))
    scores = ("dev UAS", "dev LAS", "test UAS", "test LAS", "int8 UAS", "int8 LAS")
    columns = ("treebank", "parser", "reads", "seeds", *scores, "int8 loses, LAS", "goal", "MB")
    return Table("Accuracy", "", columns, tuple(lines))


def _peer_row(
    findings: Findings, treebank: str, system: str, title: str
) -> Iterator[tuple[Cell, ...]]:
    results = findings.peers.get((treebank, system), [])
    if not results:
        return
    outputs = [one.scores.repaired for one in results]
    cells = [
        average(getattr(output, part).all_words[i] for output in outputs)
        for part in ("dev", "test")
        for i in (0, 1)
    ]
    reads = "gold UPOS and FEATS" if system.startswith("udpipe") else "one gold tag"
    is_int8 = system == "dense"
    ours: list[Cell] = [None, None, *cells[2:]] if is_int8 else [*cells[2:], None, None]
    own = findings.plan.treebanks[treebank].title
    yield (own, title, reads, len(results), *cells[:2], *ours, None, None, None)


def _own_cells(row: Row, results: Sequence[Result[Scores]]) -> Iterator[Cell]:
    yield from (row.title, row.reads, len(results))
    for runtime, part in (("torch", "dev"), ("torch", "test"), ("int8", "test")):
        for name in ("uas", "las"):
            yield average_of(results, runtime, part, name)  # type: ignore[arg-type]
    lost = [one.scores.torch["test"].las - one.scores.int8["test"].las for one in results]
    yield average(lost)
    yield f"{row.goal[0]} / {row.goal[1]}" if row.goal else None
    yield round(sum(one.scores.n_bytes for one in results) / len(results) / 1e6, 1)


def other_tests(findings: Findings) -> Table:
    """List scores on test files of other treebanks, not used to train or to choose."""
    lines: list[tuple[Cell, ...]] = []
    for key, row in findings.plan.rows.items():
        results = findings.results[key]
        for name in row.tests if results else ():
            title = findings.plan.treebanks[name].title
            scores = [
                average_of(results, runtime, name, score)
                for runtime in ("torch", "int8")
                for score in ("uas", "las")
            ]
            lines.append((title, row.title, row.reads, len(results), *scores))
    columns = ("test", "parser", "reads", "seeds", "UAS", "LAS", "int8 UAS", "int8 LAS")
    return Table("Other tests", "", columns, tuple(sorted(lines, key=lambda line: str(line[0]))))


def remarks(findings: Findings) -> Iterator[str]:
    """Name the runs that are missing, and those made with other settings."""
    results = findings.all_results()
    stale = outdated(findings.plan, sorted(results, key=lambda one: one.seed))
    missing = list(map(str, unfinished(findings.plan, results)))
    if stale:
        yield f"**Made with other settings than those of the plan now:** {', '.join(stale)}."
    if missing:
        yield f"Not there yet: {', '.join(missing)}."


def report(findings: Findings, out: Path) -> list[Path]:
    """Write `report.md` and `report.json`."""
    results = findings.all_results()
    runs = runs_table(results, [one.scores.machine for one in results])
    tables = [main_table(findings), other_tests(findings), runs]
    sections = ["## Accuracy of our recipes", INTRODUCTION, *remarks(findings)]
    for table in tables:
        if table.rows:
            sections += [f"### {table.title}", markdown_table(table)]
    return write_report(out, sections, {"tables": tables, "runs": findings.results})
