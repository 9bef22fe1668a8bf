"""The table, as Markdown for people and as JSON, from the results alone."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from bench.accuracy.plan import Plan, Row, runs_of, runs_of_row
from bench.accuracy.results import Result, Runtime, is_current, result_path
from bench.paper.figures import Figure, summarise
from bench.paper.report import markdown_table
from bench.paper.results import Result as PaperResult
from bench.paper.results import read_json, read_result
from bench.paper.tables import Cell, Table
from headwise.files import whole_file

PEERS = {
    "udpipe-projective": "UDPipe 1, projective",
    "udpipe-swap": "UDPipe 1, swap",
    "dense": "DeNSe, the paper's recipe",
}
"""Systems of `bench.paper` that go beside, and what they are called here."""
MAX_PEER_SEEDS = 10
INTRODUCTION = """Made by `python -m bench.accuracy`. Gold words; every word counts, labels in \
full; one root, trees repaired by Chu-Liu-Edmonds. "±" is the standard deviation over seeds. \
Recipes were chosen on dev; test is only measured. Test figures are of PyTorch in float32 and of \
the ONNX runtime in int8."""


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a report is made of; `peers` by treebank and system of `bench.paper`."""

    plan: Plan
    results: dict[str, list[Result]]
    peers: dict[tuple[str, str], list[PaperResult]]


def gather(plan: Plan, out: Path, peers: Sequence[Path]) -> Findings:
    """Read all results that are there."""
    results: dict[str, list[Result]] = {}
    for name in plan.rows:
        found = [read_json(result_path(out, run), Result) for run in runs_of_row(plan, name)]
        results[name] = [one for one in found if one is not None]
    return Findings(plan, results, dict(_read_peers(plan, peers)))


def _read_peers(
    plan: Plan, folders: Sequence[Path]
) -> Iterator[tuple[tuple[str, str], list[PaperResult]]]:
    for name, treebank in plan.treebanks.items():
        for system in PEERS if treebank.peers else ():
            paths = [
                folder / treebank.peers / f"{system}-{seed}.json"
                for folder in folders
                for seed in range(MAX_PEER_SEEDS)
            ]
            found = [one for path in paths if (one := read_result(path)) is not None]
            if found:
                yield (name, system), found


def figure(results: Sequence[Result], runtime: Runtime, part: str, name: str) -> Figure | None:
    """Average one score over seeds."""
    tables = [getattr(one.scores, runtime) for one in results]
    return summarise(getattr(table[part], name) for table in tables if part in table)


def main_table(findings: Findings) -> Table:
    """Put every row below its treebank, and other parsers before it."""
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
        summarise(getattr(output, part).all_words[i] for output in outputs)
        for part in ("dev", "test")
        for i in (0, 1)
    ]
    reads = "gold UPOS and FEATS" if system.startswith("udpipe") else "one gold tag"
    is_int8 = system == "dense"
    ours: list[Cell] = [None, None, *cells[2:]] if is_int8 else [*cells[2:], None, None]
    own = findings.plan.treebanks[treebank].title
    yield (own, title, reads, len(results), *cells[:2], *ours, None, None, None)


def _own_cells(row: Row, results: Sequence[Result]) -> Iterator[Cell]:
    yield from (row.title, row.reads, len(results))
    for runtime, part in (("torch", "dev"), ("torch", "test"), ("int8", "test")):
        for name in ("uas", "las"):
            yield figure(results, runtime, part, name)  # type: ignore[arg-type]
    lost = [one.scores.torch["test"].las - one.scores.int8["test"].las for one in results]
    yield summarise(lost)
    yield f"{row.goal[0]} / {row.goal[1]}" if row.goal else None
    yield round(sum(one.scores.n_bytes for one in results) / len(results) / 1e6, 1)


def other_tests(findings: Findings) -> Table:
    """Put test files of other treebanks beside, on which nothing was trained or chosen."""
    lines: list[tuple[Cell, ...]] = []
    for key, row in findings.plan.rows.items():
        results = findings.results[key]
        for name in row.tests if results else ():
            title = findings.plan.treebanks[name].title
            scores = [
                figure(results, runtime, name, score)
                for runtime in ("torch", "int8")
                for score in ("uas", "las")
            ]
            lines.append((title, row.title, row.reads, len(results), *scores))
    columns = ("test", "parser", "reads", "seeds", "UAS", "LAS", "int8 UAS", "int8 LAS")
    return Table("Other tests", "", columns, tuple(sorted(lines, key=lambda line: str(line[0]))))


def runs_table(findings: Findings) -> Table:
    """Say how long each run took, and on what."""
    lines = tuple(
        (
            f"{one.row}/{one.seed}",
            round(one.seconds.get("train", 0.0)),
            round(sum(one.seconds.values())),
            one.side_by_side,
            one.scores.machine,
        )
        for results in findings.results.values()
        for one in results
    )
    return Table("Runs", "", ("run", "training, s", "all, s", "at once", "machine"), lines)


def remarks(findings: Findings) -> Iterator[str]:
    """Name what is missing, and what was made with other settings."""
    there = {(one.row, one.seed): one for rows in findings.results.values() for one in rows}
    runs = runs_of(findings.plan)
    missing = [str(run) for run in runs if (run.row, run.seed) not in there]
    stale = [
        str(run)
        for run in runs
        if (run.row, run.seed) in there
        and not is_current(findings.plan, run, there[run.row, run.seed])
    ]
    if stale:
        yield f"**Made with other settings than those of the plan now:** {', '.join(stale)}."
    if missing:
        yield f"Not there yet: {', '.join(missing)}."


def write_report(findings: Findings, out: Path) -> list[Path]:
    """Write `report.md` and `report.json`."""
    tables = [main_table(findings), other_tests(findings), runs_table(findings)]
    parts = ["## Accuracy of our recipes", INTRODUCTION, *remarks(findings)]
    for table in tables:
        if table.rows:
            parts += [f"### {table.title}", markdown_table(table)]
    whole = {"tables": tables, "runs": findings.results}
    files = {
        out / "report.md": "\n\n".join(parts) + "\n",
        out / "report.json": json.dumps(msgspec.to_builtins(whole), indent=1) + "\n",
    }
    for path, content in files.items():
        with whole_file(path) as stream:
            stream.write(content.encode())
    return list(files)
