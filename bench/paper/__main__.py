"""Train, measure and report all that is missing; `python -m bench.paper --help`."""

import argparse
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.paper.jobs import Failed, Finished, Locked, OutOfTime, Started, run_jobs
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
from bench.paper.steps import Job, Lane, Place, as_shell, describe_job, job_of
from headwise.cli.terminal import duration
from headwise.errors import ConfigError, HeadwiseError


def options() -> argparse.ArgumentParser:
    """List the flags."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.paper",
        description="The paper's experiments: train and measure what is missing, then report.",
        epilog="example: python -m bench.paper --data DATA --out runs/paper --only ewt '*/dense/1'",
    )
    add = parser.add_argument
    add("--data", type=Path, help="folder that holds the datasets")
    add("--out", type=Path, required=True, help="folder for results, models and the report")
    add("--plan", type=Path, default=PLAN_PATH, help="datasets and systems [paper.toml]")
    add("--only", nargs="+", default=[], metavar="RUN", help="DATASET[/SYSTEM[/SEED]], * for any")
    add("--time-limit", type=float, metavar="SECONDS", help="then end; call again to go on")
    add("--side-by-side", type=int, default=8, metavar="N", help="trainings at a time [8]")
    add("--cpu-side-by-side", type=int, default=2, metavar="N", help="outside parsers [2]")
    add("--device", default="auto", help="auto, cpu, cuda or cuda:N [auto]")
    add("--precision", default="float32", choices=["float32", "bfloat16"], help="of training")
    add("--threads", type=int, default=2, help="to measure with [2]")
    add("--drop-models", action="store_true", help="delete the model of each finished run")
    add("--report-only", action="store_true", help="make the report of the results there are")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is missing; 0 if nothing failed, even if the time ran out."""
    given = options().parse_args(arguments)
    try:
        plan = read_plan(given.plan)
        all_well = given.report_only or work(plan, given)
        given.out.mkdir(parents=True, exist_ok=True)
        for path in report(plan, given.out):
            print(path)
    except HeadwiseError as error:
        print(f"bench.paper: {error}", file=sys.stderr)
        return 1
    return 0 if all_well else 1


def work(plan: Plan, given: argparse.Namespace) -> bool:
    """Run what has no result yet; tell whether nothing failed."""
    if given.data is None:
        raise ConfigError("--data is missing", "to make the report only: --report-only")
    place = Place(
        given.plan.resolve(),
        given.data.resolve(),
        given.out.resolve(),
        given.device,
        given.precision,
        given.threads,
    )
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
    deadline = None if given.time_limit is None else time.monotonic() + given.time_limit
    queue = [describe_job(name, place) for name in uncounted] + [job for _, job in jobs.values()]
    all_well = True
    for event in run_jobs(queue, width, deadline):
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


def tell(event: Started | Locked | Finished | Failed | OutOfTime) -> None:
    """Say what happened, on stderr."""
    match event:
        case Started(job):
            say(f"started   {job.name}")
        case Locked(job):
            say(f"waiting   {job.name}: another call is at work on it")
        case Finished(job, seconds):
            say(f"finished  {job.name} in {duration(sum(seconds.values()))}")
        case Failed(job, why):
            say(f"failed    {job.name}: {why}; see {job.log_path}")
        case OutOfTime(jobs):
            say(f"time is up: {len(jobs)} runs are not finished; call again to go on")
            if any(job.lane == "cpu" and job.folder.exists() for job in jobs):
                say("trainings of outside parsers will start anew: give them a call without limit")


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


def say(text: str) -> None:
    """Write a line to stderr at once."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    # What was started must end too when this is told to end.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    sys.exit(main())
