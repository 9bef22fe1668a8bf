"""Train, measure and report all that is missing; `python -m bench.paper --help`."""

import argparse
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.command import add_flags, deadline_of, end_well, place_of
from bench.jobs import Failed, Finished, Job, Lane, Place, as_shell, run_jobs
from bench.paper.plan import PLAN_PATH, Plan, Run, key_of, read_plan, runs_of
from bench.paper.report import gather, write_report
from bench.paper.results import (
    Result,
    read_result,
    read_scores,
    result_path,
    treebank_path,
    write_json,
)
from bench.paper.steps import describe_job, job_of
from bench.tell import say, tell
from headwise.errors import ConfigError


def options() -> argparse.ArgumentParser:
    """List the flags."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.paper",
        description="The paper's experiments: train and measure what is missing, then report.",
        epilog="example: python -m bench.paper --data DATA --out runs/paper --only ewt '*/dense/1'",
    )
    add_flags(parser, PLAN_PATH, side_by_side=8)
    add = parser.add_argument
    add("--only", nargs="+", default=[], metavar="RUN", help="DATASET[/SYSTEM[/SEED]], * for any")
    add("--cpu-side-by-side", type=int, default=2, metavar="N", help="outside parsers [2]")
    add("--drop-models", action="store_true", help="delete the model of each finished run")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is missing."""
    given = options().parse_args(arguments)

    def make_report() -> list[Path]:
        given.out.mkdir(parents=True, exist_ok=True)
        return report(read_plan(given.plan), given.out)

    return end_well("bench.paper", lambda: given.report_only or work(given), make_report)


def work(given: argparse.Namespace) -> bool:
    """Run what has no result yet; tell whether nothing failed."""
    plan, place = read_plan(given.plan), place_of(given)
    runs = with_data(plan, runs_of(plan, given.only), given)
    missing = [run for run in runs if not is_done(plan, run, place.out)]
    if given.drop_models:
        for run in set(runs) - set(missing):
            shutil.rmtree(job_of(plan, run, place).folder, ignore_errors=True)
    say(f"{len(runs) - len(missing)} of {len(runs)} runs are done, {len(missing)} to do")
    jobs = {str(run): (run, job_of(plan, run, place)) for run in missing}
    names = dict.fromkeys(run.dataset for run in runs)
    uncounted = [name for name in names if not treebank_path(place.out, name).exists()]
    width: dict[Lane, int] = {
        "device": given.side_by_side,
        "cpu": given.cpu_side_by_side,
        "count": 1,
    }
    queue = [describe_job(name, place) for name in uncounted] + [job for _, job in jobs.values()]
    all_well = True
    for event in run_jobs(queue, width, deadline_of(given)):
        all_well &= not isinstance(event, Failed)
        tell(event)
        if isinstance(event, Finished):
            if event.job.name in jobs:
                run, job = jobs[event.job.name]
                keep(plan, run, event, place, width[job.lane])
            if given.drop_models or event.job.name not in jobs:
                shutil.rmtree(event.job.folder)
    return all_well


def with_data(plan: Plan, runs: Sequence[Run], given: argparse.Namespace) -> list[Run]:
    """Leave out datasets whose files are not there; name them, or refuse if they were asked for."""
    absent = {
        name: dataset
        for name, dataset in plan.datasets.items()
        if not dataset.is_there(given.data) and any(run.dataset == name for run in runs)
    }
    for name, dataset in absent.items():
        what = f"{name}: no {dataset.train}, {dataset.dev} and {dataset.test}"
        where = given.data / dataset.folder
        if any(pattern.split("/")[0] == name for pattern in given.only):
            raise ConfigError(f"{what} in {where}", "docs/convert.md makes the paper's data")
        say(f"passed over: {what} in {where}")
    return [run for run in runs if run.dataset not in absent]


def is_done(plan: Plan, run: Run, out: Path) -> bool:
    """Whether there is a result made with the settings of the plan."""
    result = read_result(result_path(out, run))
    return result is not None and result.key == key_of(plan, run)


def keep(plan: Plan, run: Run, event: Finished, place: Place, side_by_side: int) -> None:
    """Write the result of a run that has come to its end."""
    job: Job = event.job
    result = Result(
        dataset=run.dataset,
        system=run.system,
        seed=run.seed,
        key=key_of(plan, run),
        commands={step.name: as_shell(step, job, place) for step in job.steps},
        seconds=dict(event.seconds),
        side_by_side=side_by_side,
        scores=read_scores(job.folder / "scores.json"),
    )
    write_json(result_path(place.out, run), result)
    dev = result.scores.repaired.dev
    say(f"  dev {dev.uas:.2f} / {dev.las:.2f}")


def report(plan: Plan, out: Path) -> list[Path]:
    """Make the report, with plots where matplotlib is there."""
    findings = gather(plan, out)
    try:
        from bench.paper.plots import draw_figure_3
    except ModuleNotFoundError as error:
        say(f"no plots: {error.name} is not installed (pip install 'headwise[bench]')")
        return write_report(findings, out, sorted(out.glob("figure-3.*")))
    plots = draw_figure_3(findings, out)
    return [*write_report(findings, out, plots), *plots]


if __name__ == "__main__":
    # What was started must end too when this is told to end.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    sys.exit(main())
