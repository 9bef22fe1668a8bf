"""The command of a bench: its flags, and the loop that runs everything without a result."""

import argparse
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.experiment.jobs import (
    ROOT,
    Event,
    Failed,
    Finished,
    Lane,
    Locked,
    OutOfTime,
    Started,
    run_jobs,
)
from bench.experiment.plan import (
    Options,
    Plan,
    Run,
    job_of,
    key_of,
    missing_inputs,
    model_path,
    run_folder,
    select_runs,
)
from bench.experiment.results import Result, S, is_done, read_json, write_json
from headwise.cli.terminal import duration
from headwise.errors import ConfigError, DataError, HeadwiseError


def add_flags(parser: argparse.ArgumentParser, plan_path: Path, side_by_side: int) -> None:
    """Add the flags that all benches have."""
    add = parser.add_argument
    n = side_by_side
    add("--data", type=Path, help="folder with the treebanks")
    add("--out", type=Path, required=True, help="folder for results, models and the report")
    add("--plan", type=Path, default=plan_path, help=f"the runs to make [{plan_path.name}]")
    add("--only", nargs="+", default=[], metavar="RUN", help="run only these; * matches any name")
    add("--time-limit", type=float, metavar="SECONDS", help="stop then; call again to continue")
    add("--side-by-side", type=int, default=n, metavar="N", help=f"trainings at a time [{n}]")
    add("--cpu-side-by-side", type=int, default=2, metavar="N", help="other parsers at a time [2]")
    add("--device", default="auto", help="auto, cpu, cuda or cuda:N [auto]")
    add("--precision", default="float32", choices=["float32", "bfloat16"], help="of training")
    add("--threads", type=int, default=2, help="threads that measure one model [2]")
    add("--drop-models", action="store_true", help="delete models that no other run needs")
    add("--report-only", action="store_true", help="write the report from the existing results")


def run_command(prog: str, work: Callable[[], bool], report: Callable[[], list[Path]]) -> int:
    """Work, then report; return 0 if nothing failed, even if the time ran out."""
    try:
        all_succeeded = work()
        for path in report():
            print(path)
    except HeadwiseError as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 1
    return 0 if all_succeeded else 1


def exit_on_sigterm() -> None:
    """Exit normally when terminated, so that the processes started here are terminated too."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def train_and_measure(plan: Plan, scores_type: type[S], given: argparse.Namespace) -> bool:
    """Run everything that has no result yet; return whether nothing failed."""
    options = options_of(given)
    limits: dict[Lane, int] = {"device": given.side_by_side, "cpu": given.cpu_side_by_side}
    deadline = None if given.time_limit is None else time.monotonic() + given.time_limit
    runs = with_inputs(plan, select_runs(plan, given.only), options.data, given.only)
    pending = pending_runs(plan, runs, options.out, scores_type)
    needed = {one for run in plan.runs() for one in plan.needs(run)}
    if given.drop_models:
        for run in set(runs) - set(pending) - needed:
            shutil.rmtree(run_folder(plan, run, options.out), ignore_errors=True)
    say(f"{len(runs) - len(pending)} of {len(runs)} runs are done, {len(pending)} to do")
    by_name = {str(run): run for run in pending}
    all_succeeded = True
    jobs = [job_of(plan, run, options) for run in pending]
    for event in run_jobs(jobs, limits, deadline):
        all_succeeded &= not isinstance(event, Failed)
        show(event)
        if isinstance(event, Finished):
            run = by_name[event.job.name]
            save_result(plan, run, event, options, limits[event.job.lane], scores_type)
            if given.drop_models and run not in needed:
                shutil.rmtree(event.job.folder)
    return all_succeeded


def options_of(given: argparse.Namespace) -> Options:
    """Read the options from the flags."""
    if given.data is None:
        raise ConfigError("--data is missing", "to write the report only: --report-only")
    paths = (given.plan.resolve(), given.data.resolve(), given.out.resolve())
    return Options(*paths, given.device, given.precision, given.threads)


def with_inputs(plan: Plan, runs: Sequence[Run], data: Path, only: Sequence[str]) -> list[Run]:
    """Drop runs whose files are missing, and name a file; an error if `--only` names the run."""
    missing = {run.names: missing_inputs(plan, run, data) for run in runs}
    for names, paths in missing.items():
        if not paths:
            continue
        problem = f"{'/'.join(names)}: no {paths[0]}"
        if any(names[0] == pattern.split("/")[0] for pattern in only):
            raise ConfigError(
                problem, "docs/research/recipes.md and bench/paper/README.md list the files"
            )
        say(f"skipped   {problem}")
    return [run for run in runs if not missing[run.names]]


def pending_runs(plan: Plan, runs: Sequence[Run], out: Path, scores_type: type[S]) -> list[Run]:
    """List the runs without a result, and finished runs whose model they need and is gone."""
    pending = {run for run in runs if not is_done(plan, run, out, scores_type)}
    for run in list(pending):
        needs = plan.needs(run)
        pending |= {one for one in needs if not model_path(plan, one, out).exists()}
    return [run for run in runs if run in pending]


def save_result(
    plan: Plan, run: Run, event: Finished, options: Options, n_parallel: int, scores_type: type[S]
) -> None:
    """Write the result of a run that has just finished."""
    path = event.job.folder / "scores.json"
    scores = read_json(path, scores_type)
    if scores is None:
        raise DataError("no scores", str(path))
    is_row = len(run.names) == 1
    result = Result[S](
        row=run.names[0] if is_row else "",
        dataset="" if is_row else run.names[0],
        system="" if is_row else run.names[1],
        seed=run.seed,
        key=key_of(plan, run),
        commands={
            step.name: portable_command(step.command, event.job.folder, options)
            for step in event.job.steps
        },
        seconds=dict(event.seconds),
        side_by_side=n_parallel,
        scores=scores,
    )
    write_json(run.path(options.out, ".json"), result)
    say(f"  {scores.summary()}")


def portable_command(command: Sequence[str], folder: Path, options: Options) -> str:
    """Write a command for people to read, with names for paths that differ between machines."""
    text = shlex.join(command).replace(sys.executable, "python")
    names = ((options.data, "DATA"), (folder, "RUN"), (options.out, "OUT"))
    for path, name in (*names, (options.plan_path, "PLAN"), (ROOT, ".")):
        text = text.replace(str(path), name)
    return text


def show(event: Event) -> None:
    """Write an event to stderr."""
    match event:
        case Started(job):
            say(f"started   {job.name}")
        case Locked(job):
            say(f"waiting   {job.name}: another call is working on it")
        case Finished(job, seconds):
            say(f"finished  {job.name} in {duration(sum(seconds.values()))}")
        case Failed(job, reason):
            say(f"failed    {job.name}: {reason}; see {job.log_path}")
        case OutOfTime(jobs):
            say(f"time is up: {len(jobs)} runs are not finished; call again to continue")
            if any(job.lane == "cpu" and job.folder.exists() for job in jobs):
                say("other parsers cannot resume training: run them without a time limit")


def say(text: str) -> None:
    """Write a line to stderr at once."""
    print(text, file=sys.stderr, flush=True)
