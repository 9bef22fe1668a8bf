"""Tables 1-6 of the paper, ours beside the paper's, and its claims in numbers."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from bench.experiment.results import Result
from bench.experiment.tables import Average, Cell, Pair, Table, average
from bench.paper.plan import Dataset, PaperDataset, Plan, System
from bench.paper.scores import PartScores, Scores, Treebank
from headwise.settings.recipe import to_struct

PUBLISHED_PATH = Path(__file__).with_name("published.toml")
PROJECTIVE: tuple[PaperDataset, ...] = ("ptb", "ctb")
NON_PROJECTIVE: tuple[PaperDataset, ...] = ("czech", "german")
SUFFIX = {"eisner": "+E", "mst": "+CLE"}
TreesBy = Literal["greedy", "repaired"]
Part = Literal["dev", "test"]


class PublishedOutput(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One row of Tables 2-5: UAS and LAS, and UEM on dev and test."""

    dev: Pair | None = None
    test: Pair
    uem: Pair | None = None


class PublishedSystem(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The paper's scores of one system."""

    greedy: PublishedOutput
    repaired: PublishedOutput


class Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The paper's scores on one dataset."""

    title: str
    sentences: int
    projective: float
    dev_sentences: int
    trees_before: Pair
    trees_after: Pair
    systems: dict[str, PublishedSystem]


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that a report is made of."""

    plan: Plan
    results: tuple[Result[Scores], ...]
    treebanks: dict[str, Treebank]
    published: dict[PaperDataset, Published]

    def of(self, dataset: str, system: str) -> list[Result[Scores]]:
        """List the results of one system on one dataset, one for each seed."""
        return [one for one in self.results if (one.dataset, one.system) == (dataset, system)]

    def datasets(self, *stands_for: PaperDataset) -> list[tuple[str, Dataset]]:
        """List the datasets that have results and stand for one of these."""
        known = {one.dataset for one in self.results}
        candidates = self.plan.datasets.items()
        return [(n, d) for n, d in candidates if n in known and d.stands_for in stands_for]


def read_published(path: Path = PUBLISHED_PATH) -> dict[PaperDataset, Published]:
    """Read the scores of the paper."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return to_struct(table, dict[PaperDataset, Published], str(path))


def part_scores(
    results: Sequence[Result[Scores]], trees_by: TreesBy, part: Part
) -> list[PartScores]:
    """Take the scores on dev or test of each seed; other parsers have no greedy trees."""
    outputs = [getattr(one.scores, trees_by) for one in results]
    return [getattr(output, part) for output in outputs if output is not None]


def average_of(
    results: Sequence[Result[Scores]], trees_by: TreesBy, part: Part, name: str
) -> Average | None:
    """Average one score, for example `uas`."""
    return average(getattr(one, name) for one in part_scores(results, trees_by, part))


def gain(results: Sequence[Result[Scores]], part: Part, name: str) -> Average | None:
    """Average what repair adds to a score, model by model."""
    before = part_scores(results, "greedy", part)
    after = part_scores(results, "repaired", part)
    pairs = zip(before, after, strict=False)
    return average(getattr(b, name) - getattr(a, name) for a, b in pairs)


@dataclass(frozen=True, slots=True)
class Row:
    """One parser of Tables 2-5 on one dataset."""

    title: str
    results: list[Result[Scores]]
    trees_by: TreesBy
    published: PublishedOutput | None

    def average(self, part: Part, name: str) -> Average | None:
        """Average one of its scores."""
        return average_of(self.results, self.trees_by, part, name)


def rows_of(findings: Findings, name: str, dataset: Dataset) -> Iterator[Row]:
    """List the parsers of a dataset in the paper's order: greedy, then repaired."""
    for key, system in findings.plan.systems.items():
        results = findings.of(name, key)
        if not results:
            continue
        paper = findings.published[dataset.stands_for].systems.get(key)
        if not system.is_external:
            yield Row(system.title, results, "greedy", paper.greedy if paper else None)
        title = title_of(system, dataset)
        yield Row(title, results, "repaired", paper.repaired if paper else None)


def title_of(system: System, dataset: Dataset) -> str:
    """Name a system with repaired trees."""
    return system.title + ("" if system.is_external else SUFFIX[dataset.decoder])


def all_tables(findings: Findings) -> list[Table]:
    """Make the tables in the order of the paper, without those that have no rows."""
    tables = [
        table_1(findings),
        accuracy(findings, "Table 2: English (PTB)", ("ptb",)),
        accuracy(findings, "Table 3: Chinese (CTB)", ("ctb",)),
        table_4(findings),
        accuracy(findings, "Table 5: non-projective, Czech and German", NON_PROJECTIVE),
        table_6(findings),
    ]
    return [table for table in tables if table.rows]


def table_1(findings: Findings) -> Table:
    """Count the sentences of train and the projective trees among them."""
    rows: list[tuple[Cell, ...]] = []
    for name, dataset in findings.plan.datasets.items():
        treebank = findings.treebanks.get(name)
        if treebank is not None:
            paper = findings.published[dataset.stands_for]
            ours = (treebank.train.n_sentences, treebank.train.projective)
            beside = (paper.title, paper.sentences, paper.projective)
            rows.append((dataset.title, *ours, *beside))
    columns = ("dataset", "sentences", "% projective")
    paper_columns = ("in the paper", "sentences, paper", "% projective, paper")
    return Table("Table 1: training sets", "", (*columns, *paper_columns), tuple(rows), 1)


def accuracy(findings: Findings, title: str, stands_for: tuple[PaperDataset, ...]) -> Table:
    """Show UAS and LAS, the paper's beside ours."""
    has_dev = stands_for[0] in PROJECTIVE
    rows = []
    for name, dataset in findings.datasets(*stands_for):
        paper_title = findings.published[dataset.stands_for].title
        for row in rows_of(findings, name, dataset):
            ours: tuple[Cell, ...] = (
                row.average("dev", "uas"),
                row.average("dev", "las"),
                row.average("test", "uas"),
                row.average("test", "las"),
            )
            paper = row.published
            dev: tuple[Cell, ...] = (paper.dev if paper else None,) if has_dev else ()
            test = paper.test if paper else None
            first = (dataset.title, row.title, len(row.results))
            rows.append((*first, *ours, paper_title if paper else None, *dev, test))
    columns = ("dataset", "parser", "seeds", "dev UAS", "dev LAS", "test UAS", "test LAS")
    paper_columns = ("in the paper", *(("dev",) if has_dev else ()), "test")
    note = "Without punctuation. The paper's figures, on the right, are UAS / LAS."
    return Table(title, note, (*columns, *paper_columns), tuple(rows))


def table_4(findings: Findings) -> Table:
    """Show the share of sentences with all heads right."""
    rows: list[tuple[Cell, ...]] = []
    for name, dataset in findings.datasets(*PROJECTIVE):
        for row in rows_of(findings, name, dataset):
            paper = row.published.uem if row.published else None
            ours = (row.average("dev", "uem"), row.average("test", "uem"))
            rows.append((dataset.title, row.title, *ours, *(paper or (None, None))))
    columns = ("dataset", "parser", "dev", "test", "paper, dev", "paper, test")
    return Table("Table 4: UEM", "Sentences with all heads right.", columns, tuple(rows))


def table_6(findings: Findings) -> Table:
    """Show the share of trees and of projective trees on dev, before and after repair."""
    rows: list[tuple[Cell, ...]] = []
    for name, dataset in findings.datasets(*PROJECTIVE, *NON_PROJECTIVE):
        paper = findings.published[dataset.stands_for]
        for key, system in findings.plan.systems.items():
            results = findings.of(name, key)
            if not results or system.is_external:
                continue
            n_sentences = results[0].scores.repaired.dev.n_sentences
            rates = [
                average_of(results, how, "dev", rate)
                for how in ("greedy", "repaired")
                for rate in ("tree_rate", "projective_rate")
            ]
            is_papers = key == "dense"
            beside = (paper.trees_before, paper.trees_after) if is_papers else (None, None)
            rows.append((dataset.title, title_of(system, dataset), n_sentences, *rates, *beside))
    ours = ("trees before", "projective before", "trees after", "projective after")
    columns = ("dataset", "parser", "sentences", *ours, "paper, before", "paper, after")
    note = "In percent of the dev set. The paper's columns are trees / projective trees."
    return Table("Table 6: trees before and after repair", note, columns, tuple(rows), 1)


def claims(findings: Findings) -> Table:
    """Put the paper's claims into numbers: differences of UAS on test, in points."""
    rows: list[tuple[Cell, ...]] = []
    for name, dataset in findings.datasets(*PROJECTIVE, *NON_PROJECTIVE):
        dense, pei = findings.of(name, "dense"), findings.of(name, "dense-pei")
        paper = findings.published[dataset.stands_for].systems
        gains = [(gain(dense, "test", "uas"), "dense"), (gain(pei, "test", "uas"), "dense-pei")]
        cells: list[Cell] = [_lead(dense, pei)]
        cells.append(round(paper["dense"].greedy.test[0] - paper["dense-pei"].greedy.test[0], 2))
        for ours, key in gains:
            published = paper[key]
            cells += [ours, round(published.repaired.test[0] - published.greedy.test[0], 2)]
        rows.append((dataset.title, *cells, *lead_over_others(findings, name)))
    lead = ("dataset", "BiLSTM over Pei's features, greedy", "paper")
    repair = ("repair adds to DeNSe", "paper", "repair adds to DeNSe-Pei", "paper")
    outside = ("DeNSe over the best outside parser, dev", "in the longest tenth of dev")
    columns = lead + repair + outside
    note = "Points of UAS on test, and in the last two columns on dev, with trees repaired."
    return Table("The claims in figures", note, columns, tuple(rows))


def _lead(dense: list[Result[Scores]], pei: list[Result[Scores]]) -> float | None:
    """Take the difference of the means; the two are different models, so seeds are not paired."""
    one, other = (
        average_of(dense, "greedy", "test", "uas"),
        average_of(pei, "greedy", "test", "uas"),
    )
    return round(one.mean - other.mean, 4) if one and other else None


def lead_over_others(findings: Findings, name: str) -> tuple[float | None, float | None]:
    """Compare with the other parser that is best on dev: there, and on its longest tenth."""
    dense = findings.of(name, "dense")
    others = [
        results
        for key, system in findings.plan.systems.items()
        if system.is_external and (results := findings.of(name, key))
    ]
    if not dense or not others:
        return None, None
    best = max(others, key=_dev_uas)
    ours, theirs = by_length(dense)[-1][1], by_length(best)[-1][1]
    long = round(ours.mean - theirs.mean, 4) if ours and theirs else None
    return round(_dev_uas(dense) - _dev_uas(best), 4), long


def _dev_uas(results: list[Result[Scores]]) -> float:
    found = average_of(results, "repaired", "dev", "uas")
    return found.mean if found else 0.0


def by_length(results: list[Result[Scores]]) -> list[tuple[int, Average | None]]:
    """Average the UAS of each bin of dev over seeds, by the length of its last sentence."""
    seeds = [one.scores.repaired.dev.bins for one in results]
    return [
        (bins[0].last_length, average(one.uas for one in bins if one.uas is not None))
        for bins in zip(*seeds, strict=True)
    ]
