"""Say on stderr how jobs go."""

import sys

from bench.jobs import Event, Failed, Finished, Locked, OutOfTime, Started
from headwise.cli.terminal import duration


def tell(event: Event) -> None:
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


def say(text: str) -> None:
    """Write a line to stderr at once."""
    print(text, file=sys.stderr, flush=True)
