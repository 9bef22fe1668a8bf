"""Train and measure everything that has no result yet, then report; see `--help`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.experiment.command import add_flags, exit_on_sigterm, run_command, train_and_measure
from bench.languages.measure import Scores
from bench.languages.plan import PLAN_PATH, read_plan
from bench.languages.report import report


def make_parser() -> argparse.ArgumentParser:
    """List the flags."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.languages",
        description="Every column of many treebanks: make the runs that are missing, then report.",
        epilog="example: python -m bench.languages --data DATA --out runs/languages --only 'fi/*'",
    )
    add_flags(parser, PLAN_PATH, side_by_side=14)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, report."""
    given = make_parser().parse_args(arguments)

    def work() -> bool:
        return given.report_only or train_and_measure(read_plan(given.plan), Scores, given)

    def write_report() -> list[Path]:
        return report(read_plan(given.plan), given.out)

    return run_command("bench.languages", work, write_report)


if __name__ == "__main__":
    exit_on_sigterm()
    sys.exit(main())
