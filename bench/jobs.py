"""Run jobs side by side, each step a process of its own, until all are done or the time is up.

A kill at any moment loses nothing that was written: steps whose output is there are passed over,
and a training goes on from its checkpoint. A folder is locked while any process works in it, so
that two calls at once, or a call after a kill that left a training alive, do not meet there. A job
may need what others make, and waits for it.
"""

import fcntl
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from headwise.files import whole_file

ROOT = Path(__file__).parents[1]
"""The repository; recipes are named from here."""
SECONDS = "seconds.json"
POLL = 0.1
"""Seconds between two looks at what runs."""
SAVE = 5.0
"""Seconds after which the time spent so far is written down."""
GRACE = 10.0
"""Seconds that a process has to end when told to."""


Lane = Literal["device", "cpu", "count"]
"""What runs side by side: our trainings, outside parsers, and the counting of treebanks."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command; it need not run when its output is there."""

    name: str
    command: tuple[str, ...]
    output: Path


@dataclass(frozen=True, slots=True)
class Job:
    """Steps one after the other, in a folder of their own, once what they need is there."""

    name: str
    lane: Lane
    folder: Path
    log_path: Path
    steps: tuple[Step, ...]
    needs: tuple[Path, ...] = ()

    def lacks(self) -> list[Path]:
        """List the files that are not there yet."""
        return [path for path in self.needs if not path.exists()]


@dataclass(frozen=True, slots=True)
class Place:
    """Where things are and what to run on."""

    plan_path: Path
    data: Path
    out: Path
    device: str
    precision: str
    threads: int

    def module(self, name: str, *arguments: object) -> tuple[str, ...]:
        """Make the command for a module of a bench, on this plan and this data."""
        first = (sys.executable, "-m", name, str(self.plan_path), str(self.data))
        return (*first, *map(str, arguments))


def as_shell(step: Step, job: Job, place: Place) -> str:
    """Write a command for people to read: names for what is elsewhere on each machine."""
    names = ((place.data, "DATA"), (job.folder, "RUN"), (place.out, "OUT"))
    shown = shlex.join(step.command).replace(sys.executable, "python")
    for path, name in (*names, (place.plan_path, "PLAN"), (ROOT, ".")):
        shown = shown.replace(str(path), name)
    return shown


@dataclass(frozen=True, slots=True)
class Started:
    """A job runs now."""

    job: Job


@dataclass(frozen=True, slots=True)
class Locked:
    """Another call is at work on a job; it is waited for."""

    job: Job


@dataclass(frozen=True, slots=True)
class Finished:
    """All steps of a job are done; `seconds` is what each took, over all calls."""

    job: Job
    seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Failed:
    """A job stopped; `why` is for people."""

    job: Job
    why: str


@dataclass(frozen=True, slots=True)
class OutOfTime:
    """The time is up; these were running or waiting."""

    jobs: tuple[Job, ...]


Event = Started | Locked | Finished | Failed | OutOfTime


def run_jobs(
    jobs: Sequence[Job], width: Mapping[Lane, int], deadline: float | None = None
) -> Iterator[Event]:
    """Run all jobs, at most `width` at a time in each lane, and tell what happens.

    Args:
        jobs: in the order in which they start.
        width: how many at a time; none at all for 0.
        deadline: on the clock of `time.monotonic`; what runs then is told to end.
    """
    waiting = [job for job in jobs if width[job.lane]]
    running: list[_Running] = []
    locked: set[str] = set()
    try:
        while waiting or running:
            if deadline is not None and time.monotonic() >= deadline:
                yield OutOfTime(tuple([one.job for one in running] + waiting))
                return
            for job in list(waiting):
                if _has_room(job.lane, running, width) and not job.lacks():
                    yield from _try_to_start(job, waiting, running, locked)
            if not running and all(job.lacks() for job in waiting):
                yield from _give_up(waiting)
                return
            for one in list(running):
                event = one.look()
                if event is not None:
                    running.remove(one)
                    yield event
            time.sleep(POLL if running or waiting else 0.0)
    finally:
        _stop(running)


def _give_up(jobs: Sequence[Job]) -> Iterator[Failed]:
    """Tell of jobs that need what nobody makes any more."""
    for job in jobs:
        yield Failed(job, f"it needs {job.lacks()[0]}, which is not there")


def _has_room(lane: Lane, running: "Sequence[_Running]", width: Mapping[Lane, int]) -> bool:
    return sum(one.job.lane == lane for one in running) < width[lane]


def _try_to_start(
    job: Job, waiting: list[Job], running: "list[_Running]", locked: set[str]
) -> Iterator[Event]:
    """Move a job from those that wait to those that run, or tell (once) that it is locked."""
    started = _start(job)
    if started is None:
        if job.name not in locked:
            locked.add(job.name)
            yield Locked(job)
        return
    waiting.remove(job)
    running.append(started)
    yield Started(job)


def _start(job: Job) -> "_Running | None":
    """Lock the folder of a job; None if somebody else has it."""
    job.folder.mkdir(parents=True, exist_ok=True)
    lock = (job.folder / "lock").open("wb")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return _Running(job, lock)


class _Running:
    """A job on its way: the process of its present step, and the time it took so far."""

    def __init__(self, job: Job, lock: IO[bytes]) -> None:
        self.job = job
        self._lock = lock
        self._steps = [step for step in job.steps if not step.output.exists()]
        self._seconds = _read_seconds(job.folder / SECONDS)
        self._process: subprocess.Popen[bytes] | None = None
        self._saved = time.monotonic()

    def look(self) -> Finished | Failed | None:
        """See whether the present step is over, and go on to the next."""
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                self._count(SAVE)
                return None
            self._count(0.0)
            self._process = None
            step = self._steps.pop(0)
            if code or not step.output.exists():
                return self._end(Failed(self.job, f"{step.name} gave {code}"))
        if not self._steps:
            return self._end(Finished(self.job, self._seconds))
        self._launch()
        return None

    def _launch(self) -> None:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        environment = {"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": path}
        with self.job.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                self._steps[0].command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                pass_fds=[self._lock.fileno()],  # the lock lives as long as the process does
                start_new_session=True,
            )
        self._saved = time.monotonic()

    def _count(self, at_least: float) -> None:
        """Add the time since the last look, and write it down if it is `at_least` so much."""
        now = time.monotonic()
        if now - self._saved < at_least:
            return
        name = self._steps[0].name
        self._seconds[name] = round(self._seconds.get(name, 0.0) + now - self._saved, 1)
        self._saved = now
        with whole_file(self.job.folder / SECONDS) as stream:
            stream.write(json.dumps(self._seconds).encode() + b"\n")

    def _end(self, event: Finished | Failed) -> Finished | Failed:
        self._lock.close()
        return event

    def tell(self, number: signal.Signals) -> None:
        """Send a signal to the process and to all that it started."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, number)

    def wait(self, seconds: float) -> None:
        """Wait for the process to end; kill it if it does not."""
        if self._process is None:
            return
        try:
            self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            self.tell(signal.SIGKILL)
            self._process.wait()
        self._count(0.0)
        self._lock.close()


def _stop(running: "Sequence[_Running]") -> None:
    """End all processes that still run."""
    for one in running:
        one.tell(signal.SIGTERM)
    end = time.monotonic() + GRACE
    for one in running:
        one.wait(end - time.monotonic())


def _read_seconds(path: Path) -> dict[str, float]:
    try:
        return {str(name): float(value) for name, value in json.loads(path.read_text()).items()}
    except (OSError, ValueError):
        return {}
