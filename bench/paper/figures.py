"""Means over seeds, and the paper's own figures to put beside them."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Literal

import msgspec

from bench.paper.plan import Dataset, PaperDataset, Plan
from bench.paper.results import Output, PartScores, Result, Treebank
from headwise.settings.recipe import convert

PUBLISHED_PATH = Path(__file__).with_name("published.toml")
How = Literal["greedy", "repaired"]
Measured = Literal["dev", "test"]
Pair = tuple[float, float]


class PublishedOutput(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One row of Tables 2-5: UAS and LAS, and UEM on dev and test."""

    dev: Pair | None = None
    test: Pair
    uem: Pair | None = None


class PublishedSystem(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the paper has of one system."""

    greedy: PublishedOutput
    repaired: PublishedOutput


class Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the paper has of one dataset."""

    title: str
    sentences: int
    projective: float
    dev_sentences: int
    trees_before: Pair
    trees_after: Pair
    systems: dict[str, PublishedSystem]


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over seeds and its standard deviation, if there is more than one."""

    mean: float
    spread: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a report is made of."""

    plan: Plan
    results: tuple[Result, ...]
    treebanks: dict[str, Treebank]
    published: dict[PaperDataset, Published]

    def of(self, dataset: str, system: str) -> list[Result]:
        """Give the results of one system on one dataset, a seed each."""
        return [one for one in self.results if (one.dataset, one.system) == (dataset, system)]

    def datasets(self, *stands_for: PaperDataset) -> list[tuple[str, Dataset]]:
        """Give the datasets that have results and stand for one of those of the paper."""
        known = {one.dataset for one in self.results}
        wanted = self.plan.datasets.items()
        return [(n, d) for n, d in wanted if n in known and d.stands_for in stands_for]


def read_published(path: Path = PUBLISHED_PATH) -> dict[PaperDataset, Published]:
    """Read the figures of the paper."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return convert(table, dict[PaperDataset, Published], str(path))


def summarise(values: Iterable[float]) -> Figure | None:
    """Average over seeds."""
    known = list(values)
    if not known:
        return None
    spread = round(stdev(known), 4) if len(known) > 1 else None
    return Figure(round(mean(known), 4), spread, len(known))


def outputs(results: Sequence[Result], how: How) -> list[Output]:
    """Take what each seed gave by one way of making trees."""
    found = [one.scores.greedy if how == "greedy" else one.scores.repaired for one in results]
    return [one for one in found if one is not None]


def parts(results: Sequence[Result], how: How, part: Measured) -> list[PartScores]:
    """Take dev or test of each seed."""
    return [one.dev if part == "dev" else one.test for one in outputs(results, how)]


def figure(results: Sequence[Result], how: How, part: Measured, name: str) -> Figure | None:
    """Average one score, for instance `uas`."""
    return summarise(getattr(one, name) for one in parts(results, how, part))


def gain(results: Sequence[Result], part: Measured, name: str) -> Figure | None:
    """Average what repair adds to a score, model by model."""
    pairs = zip(parts(results, "greedy", part), parts(results, "repaired", part), strict=False)
    return summarise(getattr(after, name) - getattr(before, name) for before, after in pairs)
