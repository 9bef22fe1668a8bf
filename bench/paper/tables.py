"""Tables 1-6 of the paper, ours beside the paper's, and its claims in figures."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from bench.paper.figures import (
    Figure,
    Findings,
    How,
    Measured,
    Pair,
    PublishedOutput,
    figure,
    gain,
    summarise,
)
from bench.paper.plan import Dataset, PaperDataset, System
from bench.paper.results import Result

Cell: TypeAlias = Figure | Pair | float | int | str | None
PROJECTIVE: tuple[PaperDataset, ...] = ("ptb", "ctb")
NON_PROJECTIVE: tuple[PaperDataset, ...] = ("czech", "german")
SUFFIX = {"eisner": "+E", "mst": "+CLE"}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, numbers still numbers."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    decimals: int = 2


@dataclass(frozen=True, slots=True)
class Row:
    """One parser of Tables 2-5 on one dataset."""

    title: str
    results: list[Result]
    how: How
    published: PublishedOutput | None

    def figure(self, part: Measured, name: str) -> Figure | None:
        """Average one of its scores."""
        return figure(self.results, self.how, part, name)


def rows_of(findings: Findings, name: str, dataset: Dataset) -> Iterator[Row]:
    """List the parsers of a dataset as the paper does: greedy, then repaired."""
    for key, system in findings.plan.systems.items():
        results = findings.of(name, key)
        if not results:
            continue
        paper = findings.published[dataset.stands_for].systems.get(key)
        if not system.is_outside:
            yield Row(system.title, results, "greedy", paper.greedy if paper else None)
        title = title_of(system, dataset)
        yield Row(title, results, "repaired", paper.repaired if paper else None)


def title_of(system: System, dataset: Dataset) -> str:
    """Name a system with repaired trees."""
    return system.title + ("" if system.is_outside else SUFFIX[dataset.decoder])


def all_tables(findings: Findings) -> list[Table]:
    """Make the tables, in the order of the paper; those without a row are left out."""
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
    """Give UAS and LAS, the paper's beside them where it has them."""
    has_dev = stands_for[0] in PROJECTIVE
    rows = []
    for name, dataset in findings.datasets(*stands_for):
        paper_title = findings.published[dataset.stands_for].title
        for row in rows_of(findings, name, dataset):
            ours: tuple[Cell, ...] = (
                row.figure("dev", "uas"),
                row.figure("dev", "las"),
                row.figure("test", "uas"),
                row.figure("test", "las"),
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
    """Give the share of sentences with all heads right."""
    rows: list[tuple[Cell, ...]] = []
    for name, dataset in findings.datasets(*PROJECTIVE):
        for row in rows_of(findings, name, dataset):
            paper = row.published.uem if row.published else None
            ours = (row.figure("dev", "uem"), row.figure("test", "uem"))
            rows.append((dataset.title, row.title, *ours, *(paper or (None, None))))
    columns = ("dataset", "parser", "dev", "test", "paper, dev", "paper, test")
    return Table("Table 4: UEM", "Sentences with all heads right.", columns, tuple(rows))


def table_6(findings: Findings) -> Table:
    """Give the share of trees, and of projective trees, before and after repair, on dev."""
    rows: list[tuple[Cell, ...]] = []
    for name, dataset in findings.datasets(*PROJECTIVE, *NON_PROJECTIVE):
        paper = findings.published[dataset.stands_for]
        for key, system in findings.plan.systems.items():
            results = findings.of(name, key)
            if not results or system.is_outside:
                continue
            n_sentences = results[0].scores.repaired.dev.n_sentences
            rates = [
                figure(results, how, "dev", rate)
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
    """Put what the paper claims into figures: UAS on test, differences of it in points."""
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
        rows.append((dataset.title, *cells, *over_outside(findings, name)))
    lead = ("dataset", "BiLSTM over Pei's features, greedy", "paper")
    repair = ("repair adds to DeNSe", "paper", "repair adds to DeNSe-Pei", "paper")
    outside = ("DeNSe over the best outside parser, dev", "in the longest tenth of dev")
    columns = lead + repair + outside
    note = "Points of UAS on test, and in the last two columns on dev, with trees repaired."
    return Table("The claims in figures", note, columns, tuple(rows))


def _lead(dense: list[Result], pei: list[Result]) -> float | None:
    """Take the difference of the means; the two are different models, so seeds are not paired."""
    one, other = figure(dense, "greedy", "test", "uas"), figure(pei, "greedy", "test", "uas")
    return round(one.mean - other.mean, 4) if one and other else None


def over_outside(findings: Findings, name: str) -> tuple[float | None, float | None]:
    """Compare with the outside parser that is best on dev: there, and on its longest tenth."""
    dense = findings.of(name, "dense")
    others = [
        results
        for key, system in findings.plan.systems.items()
        if system.is_outside and (results := findings.of(name, key))
    ]
    if not dense or not others:
        return None, None
    best = max(others, key=_dev_uas)
    ours, theirs = by_length(dense)[-1][1], by_length(best)[-1][1]
    long = round(ours.mean - theirs.mean, 4) if ours and theirs else None
    return round(_dev_uas(dense) - _dev_uas(best), 4), long


def _dev_uas(results: list[Result]) -> float:
    found = figure(results, "repaired", "dev", "uas")
    return found.mean if found else 0.0


def by_length(results: list[Result]) -> list[tuple[int, Figure | None]]:
    """Average the UAS of each bin of dev over seeds, by the length of its last sentence."""
    seeds = [one.scores.repaired.dev.bins for one in results]
    return [
        (bins[0].last_length, summarise(one.uas for one in bins if one.uas is not None))
        for bins in zip(*seeds, strict=True)
    ]
