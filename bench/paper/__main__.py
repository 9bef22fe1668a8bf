"""Train and measure everything that has no result yet, then report; see `--help`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.experiment.command import (
    add_flags,
    exit_on_sigterm,
    options_of,
    run_command,
    say,
    train_and_measure,
)
from bench.experiment.plan import select_runs
from bench.experiment.results import write_json
from bench.paper.plan import PLAN_PATH, Plan, read_plan
from bench.paper.report import gather, report
from bench.paper.scores import Scores, treebank_path
from bench.paper.treebank import count_treebank


def make_parser() -> argparse.ArgumentParser:
    """List the flags."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.paper",
        description="The paper's experiments: make the runs that are missing, then report.",
        epilog="example: python -m bench.paper --data DATA --out runs/paper --only ewt '*/dense/1'",
    )
    add_flags(parser, PLAN_PATH, side_by_side=8)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, report."""
    given = make_parser().parse_args(arguments)
    return run_command("bench.paper", lambda: work(given), lambda: write_report(given))


def work(given: argparse.Namespace) -> bool:
    """Run what is missing; return whether nothing failed."""
    if given.report_only:
        return True
    plan, options = read_plan(given.plan), options_of(given)
    names = {run.names[0] for run in select_runs(plan, given.only)}
    count_treebanks(plan, names, options.data, options.out)
    return train_and_measure(plan, Scores, given)


def count_treebanks(plan: Plan, names: set[str], data: Path, out: Path) -> None:
    """Count the treebanks that are in `data` and have not been counted yet (Table 1)."""
    for name in sorted(names):
        path, dataset = treebank_path(out, name), plan.datasets[name]
        if not path.exists() and all(part.is_file() for part in dataset.paths(data)):
            write_json(path, count_treebank(dataset, data))


def write_report(given: argparse.Namespace) -> list[Path]:
    """Write the report, with plots if matplotlib is installed."""
    findings = gather(read_plan(given.plan), given.out)
    try:
        from bench.paper.plots import draw_figure_3
    except ModuleNotFoundError as error:
        say(f"no plots: {error.name} is not installed (pip install 'headwise[bench]')")
        return report(findings, given.out, sorted(given.out.glob("figure-3.*")))
    given.out.mkdir(parents=True, exist_ok=True)
    plots = draw_figure_3(findings, given.out)
    return [*report(findings, given.out, plots), *plots]


if __name__ == "__main__":
    exit_on_sigterm()
    sys.exit(main())
