"""Train, measure and report all that is missing; `python -m bench.accuracy --help`."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.accuracy.plan import PLAN_PATH, Plan, Run, key_of, lacking, needs_of, read_plan, runs_of
from bench.accuracy.report import gather, write_report
from bench.accuracy.results import Result, Scores, is_current, result_path
from bench.accuracy.steps import job_of, model_of
from bench.command import add_flags, deadline_of, end_well, place_of
from bench.jobs import Failed, Finished, Lane, Place, as_shell, run_jobs
from bench.paper.results import read_json, write_json
from bench.tell import say, tell
from headwise.errors import DataError


def options() -> argparse.ArgumentParser:
    """List the flags."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.accuracy",
        description="The accuracy of our recipes: train and measure what is missing, then report.",
        epilog="example: python -m bench.accuracy --data DATA --out runs/accuracy --only 'ewt-*/1'",
    )
    add_flags(parser, PLAN_PATH, side_by_side=6)
    add = parser.add_argument
    add("--only", nargs="+", default=[], metavar="RUN", help="ROW[/SEED], * for any")
    add("--peers", type=Path, nargs="*", default=[], metavar="OUT", help="of bench.paper")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is missing."""
    given = options().parse_args(arguments)

    def report() -> list[Path]:
        given.out.mkdir(parents=True, exist_ok=True)
        return write_report(gather(read_plan(given.plan), given.out, given.peers), given.out)

    return end_well("bench.accuracy", lambda: given.report_only or work(given), report)


def work(given: argparse.Namespace) -> bool:
    """Run what has no result yet; tell whether nothing failed."""
    plan, place = read_plan(given.plan), place_of(given)
    runs = with_files(plan, runs_of(plan, given.only), place.data)
    missing = to_do(plan, runs, place.out)
    say(f"{len(runs) - len(missing)} of {len(runs)} runs are done, {len(missing)} to do")
    named = {str(run): run for run in missing}
    width: dict[Lane, int] = {"device": given.side_by_side, "cpu": 0, "count": 0}
    all_well = True
    queue = [job_of(plan, run, place) for run in missing]
    for event in run_jobs(queue, width, deadline_of(given)):
        all_well &= not isinstance(event, Failed)
        tell(event)
        if isinstance(event, Finished):
            keep(plan, named[event.job.name], event, place, given.side_by_side)
    return all_well


def with_files(plan: Plan, runs: Sequence[Run], data: Path) -> list[Run]:
    """Leave out rows whose files are not there, and name the first of these."""
    absent = {run.row: lacking(plan, run, data) for run in runs}
    for row, paths in absent.items():
        if paths:
            say(f"passed over: {row}: no {paths[0]}")
    return [run for run in runs if not absent[run.row]]


def to_do(plan: Plan, runs: Sequence[Run], out: Path) -> list[Run]:
    """Choose the runs without a result, and those whose model they need and which is gone."""
    missing = {run for run in runs if not is_done(plan, run, out)}
    for run in list(missing):
        missing |= {one for one in needs_of(plan, run) if not model_of(plan, one, out).exists()}
    return [run for run in runs if run in missing]


def is_done(plan: Plan, run: Run, out: Path) -> bool:
    """Whether there is a result made with the settings of the plan."""
    result = read_json(result_path(out, run), Result)
    return result is not None and is_current(plan, run, result)


def keep(plan: Plan, run: Run, event: Finished, place: Place, side_by_side: int) -> None:
    """Write the result of a run that has come to its end."""
    path = event.job.folder / "scores.json"
    scores = read_json(path, Scores)
    if scores is None:
        raise DataError("no scores", str(path))
    result = Result(
        row=run.row,
        seed=run.seed,
        key=key_of(plan, run),
        commands={step.name: as_shell(step, event.job, place) for step in event.job.steps},
        seconds=dict(event.seconds),
        side_by_side=side_by_side,
        scores=scores,
    )
    write_json(result_path(place.out, run), result)
    dev = scores.torch["dev"]
    say(f"  dev {dev.uas:.2f} / {dev.las:.2f}")


if __name__ == "__main__":
    # What was started must end too when this is told to end.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    sys.exit(main())
