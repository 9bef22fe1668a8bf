"""The tables of a plan, as Markdown for people and as JSON, from the results alone."""

from collections.abc import Iterator, Sequence
from pathlib import Path

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
from bench.languages.measure import Scores
from bench.languages.plan import Plan

INTRODUCTION = """Made by `python -m bench.languages`. Scores on dev, in int8: F1 as in the CoNLL \
shared tasks (labels without subtypes). "±" is the standard deviation over seeds."""
GOLD = {"upos": "UPOS", "ufeats": "UFeats", "lemmas": "Lemmas", "uas": "UAS", "las": "LAS"}
GOLD |= {"mlas": "MLAS", "blex": "BLEX"}
RAW = {"sentences": "Sentences", "words": "Words", "upos": "UPOS", "ufeats": "UFeats"}
RAW |= {"lemmas": "Lemmas", "las": "LAS", "mlas": "MLAS", "blex": "BLEX"}
Results = dict[tuple[str, str], list[Result[Scores]]]


def gather(plan: Plan, out: Path) -> Results:
    """Read all results that exist, by treebank and variant."""
    results: Results = {}
    for result in read_results(out, plan.runs(), Scores):
        results.setdefault((result.dataset, result.system), []).append(result)
    return results


def mean_of(results: Sequence[Result[Scores]], part: str, metric: str) -> Average | None:
    """Average a metric over seeds."""
    tables = [getattr(one.scores, part) for one in results]
    return average(table[metric] for table in tables if metric in table)


def scores_table(plan: Plan, results: Results, part: str, metrics: dict[str, str]) -> Table:
    """List every treebank and variant, and the mean of each variant over its treebanks."""
    lines: list[tuple[Cell, ...]] = []
    for (treebank, variant), runs in results.items():
        first = (plan.treebanks[treebank].title, plan.variants[variant].title)
        cells = [mean_of(runs, part, metric) for metric in metrics]
        if any(cells):
            lines.append((*first, plan.treebanks[treebank].words, len(runs), *cells))
    for variant, described in plan.variants.items():
        of_variant = [runs for (_, name), runs in results.items() if name == variant]
        if len(of_variant) > 1 and lines:
            means = [_mean_of_means(of_variant, part, metric) for metric in metrics]
            lines.append(("mean", described.title, None, None, *means))
    columns = ("treebank", "recipe", "words", "seeds", *metrics.values())
    return Table(
        "From raw text" if part == "raw" else "From gold tokens", "", columns, tuple(lines)
    )


def _mean_of_means(groups: Sequence[list[Result[Scores]]], part: str, metric: str) -> float | None:
    means = [mean for runs in groups if (mean := mean_of(runs, part, metric)) is not None]
    return sum(one.mean for one in means) / len(means) if means else None


def models_table(plan: Plan, results: Results) -> Table:
    """Show sizes, speed and calibration."""
    lines: list[tuple[Cell, ...]] = []
    columns = ("heads", "labels", "upos", "feats", "lemma")
    for (treebank, variant), runs in results.items():
        errors = [
            average(o.scores.calibration[c] for o in runs if c in o.scores.calibration)
            for c in columns
        ]
        lines.append(
            (
                plan.treebanks[treebank].title,
                plan.variants[variant].title,
                round(max(one.scores.n_bytes for one in runs) / 1e6, 2),
                round(max(one.scores.words_per_second for one in runs)),
                average(one.scores.load_seconds for one in runs),
                *errors,
            )
        )
    named = ("treebank", "recipe", "MB", "words/s", "load, s", *(f"{c}, points" for c in columns))
    return Table("Models: size, speed, calibration error", "", named, tuple(lines))


def remarks(plan: Plan, results: Results) -> Iterator[str]:
    """Name the runs that are missing, and those made with other settings."""
    all_results = [one for runs in results.values() for one in runs]
    stale = outdated(plan, all_results)
    missing: list[Run] = unfinished(plan, all_results)
    if stale:
        yield f"**Made with other settings than those of the plan now:** {', '.join(stale)}."
    if missing:
        yield f"Not there yet: {', '.join(map(str, missing))}."


def report(plan: Plan, out: Path) -> list[Path]:
    """Write `report.md` and `report.json`."""
    results = gather(plan, out)
    flat = [one for runs in results.values() for one in runs]
    tables = [
        scores_table(plan, results, "gold", GOLD),
        scores_table(plan, results, "raw", RAW),
        models_table(plan, results),
        runs_table(flat, [one.scores.machine for one in flat]),
    ]
    sections = ["## Every column", INTRODUCTION, *remarks(plan, results)]
    for table in tables:
        if table.rows:
            sections += [f"### {table.title}", markdown_table(table)]
    return write_report(out, sections, {"tables": tables, "runs": flat})
