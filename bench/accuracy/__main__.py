"""Train and measure everything that has no result yet, then report; see `--help`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.accuracy.measure import Scores
from bench.accuracy.plan import PLAN_PATH, read_plan
from bench.accuracy.report import gather, report
from bench.experiment.command import add_flags, exit_on_sigterm, run_command, train_and_measure


def make_parser() -> argparse.ArgumentParser:
    """List the flags."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.accuracy",
        description="The accuracy of our recipes: make the runs that are missing, then report.",
        epilog="example: python -m bench.accuracy --data DATA --out runs/accuracy --only 'ewt-*/1'",
    )
    add_flags(parser, PLAN_PATH, side_by_side=6)
    help_text = "results of bench.paper to show beside ours"
    parser.add_argument("--peers", type=Path, nargs="*", default=[], metavar="OUT", help=help_text)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, report."""
    given = make_parser().parse_args(arguments)

    def work() -> bool:
        return given.report_only or train_and_measure(read_plan(given.plan), Scores, given)

    def write_report() -> list[Path]:
        return report(gather(read_plan(given.plan), given.out, given.peers), given.out)

    return run_command("bench.accuracy", work, write_report)


if __name__ == "__main__":
    exit_on_sigterm()
    sys.exit(main())
