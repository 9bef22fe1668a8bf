"""Run jobs side by side, each step in its own process, until all are done or the time is up.

Killing the bench at any moment loses nothing: steps whose output exists are skipped, and training
resumes from its checkpoint. A job's folder is locked while any process works in it, so two calls at
once never collide, nor does a new call with a training that survived a kill. A job may need files
that other jobs write; it waits for them.
"""

import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from headwise.files import whole_file

ROOT = Path(__file__).parents[2]
"""The repository; recipes are named relative to it."""
SECONDS = "seconds.json"
_POLL_SECONDS = 0.1
_SAVE_SECONDS = 5.0
"""How often the time spent so far is saved."""


Lane = Literal["device", "cpu"]
"""Our trainings run on the device, other parsers on the CPU; each lane has its own limit."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command; it is skipped if its output exists."""

    name: str
    command: tuple[str, ...]
    output: Path


@dataclass(frozen=True, slots=True)
class Job:
    """Steps that run one after the other in their own folder, once `needs` exist."""

    name: str
    lane: Lane
    folder: Path
    log_path: Path
    steps: tuple[Step, ...]
    needs: tuple[Path, ...] = ()

    def missing(self) -> list[Path]:
        """List the needed files that do not exist yet."""
        return [path for path in self.needs if not path.exists()]


@dataclass(frozen=True, slots=True)
class Started:
    """A job is running now."""

    job: Job


@dataclass(frozen=True, slots=True)
class Locked:
    """Another call is working on a job; this call waits for it."""

    job: Job


@dataclass(frozen=True, slots=True)
class Finished:
    """All steps of a job are done; `seconds` is the time of each step, over all calls."""

    job: Job
    seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Failed:
    """A job failed."""

    job: Job
    reason: str


@dataclass(frozen=True, slots=True)
class OutOfTime:
    """The time is up; these jobs were running or waiting."""

    jobs: tuple[Job, ...]


Event = Started | Locked | Finished | Failed | OutOfTime


def run_jobs(
    jobs: Sequence[Job],
    limits: Mapping[Lane, int],
    deadline: float | None = None,
    grace: float = 10.0,
) -> Iterator[Event]:
    """Run all jobs and report what happens.

    Args:
        jobs: in the order in which they start.
        limits: how many jobs of each lane run at a time; those of a lane with 0 are left out.
        deadline: on the clock of `time.monotonic`; processes still running then are terminated.
        grace: seconds that a terminated process has to exit before it is killed.
    """
    waiting = [job for job in jobs if limits[job.lane]]
    running: list[_Running] = []
    locked: set[str] = set()
    try:
        while waiting or running:
            if deadline is not None and time.monotonic() >= deadline:
                yield OutOfTime(tuple([one.job for one in running] + waiting))
                return
            for job in list(waiting):
                n_running = sum(one.job.lane == job.lane for one in running)
                if n_running < limits[job.lane] and not job.missing():
                    yield from _try_to_start(job, waiting, running, locked)
            if not running and all(job.missing() for job in waiting):
                for job in waiting:
                    yield Failed(job, f"{job.missing()[0]} does not exist, and no job writes it")
                return
            for one in list(running):
                event = one.poll()
                if event is not None:
                    running.remove(one)
                    yield event
            if running or waiting:
                time.sleep(_POLL_SECONDS)
    finally:
        _stop(running, grace)


def _try_to_start(
    job: Job, waiting: list[Job], running: "list[_Running]", locked: set[str]
) -> Iterator[Event]:
    """Move a job from waiting to running, or report (once) that it is locked."""
    job.folder.mkdir(parents=True, exist_ok=True)
    lock = (job.folder / "lock").open("wb")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        if job.name not in locked:
            locked.add(job.name)
            yield Locked(job)
        return
    waiting.remove(job)
    running.append(_Running(job, lock))
    yield Started(job)


class _Running:
    """A running job: the process of its current step, and the time spent so far."""

    def __init__(self, job: Job, lock: IO[bytes]) -> None:
        self.job = job
        self._lock = lock
        self._steps = [step for step in job.steps if not step.output.exists()]
        self._seconds = _read_seconds(job.folder / SECONDS)
        self._process: subprocess.Popen[bytes] | None = None
        self._saved = time.monotonic()

    def poll(self) -> Finished | Failed | None:
        """Start the next step when the current one is over; None while there is work left."""
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                self._add_time(_SAVE_SECONDS)
                return None
            self._add_time(0.0)
            self._process = None
            step = self._steps.pop(0)
            if code or not step.output.exists():
                self._lock.close()
                problem = f"exited with {code}" if code else f"did not write {step.output.name}"
                return Failed(self.job, f"{step.name} {problem}")
        if not self._steps:
            self._lock.close()
            return Finished(self.job, self._seconds)
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

    def _add_time(self, min_seconds: float) -> None:
        """Add the time since the last call and save it, if it is at least `min_seconds`."""
        now = time.monotonic()
        if now - self._saved < min_seconds:
            return
        name = self._steps[0].name
        self._seconds[name] = round(self._seconds.get(name, 0.0) + now - self._saved, 1)
        self._saved = now
        with whole_file(self.job.folder / SECONDS) as stream:
            stream.write(json.dumps(self._seconds).encode() + b"\n")

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and to all its descendants."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, number)

    def wait(self, seconds: float) -> None:
        """Wait for the process to exit; kill it if it does not."""
        if self._process is None:
            return
        try:
            self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            self.send_signal(signal.SIGKILL)
            self._process.wait()
        self._add_time(0.0)
        self._lock.close()


def _stop(running: "Sequence[_Running]", grace: float) -> None:
    """Terminate all processes that still run."""
    for one in running:
        one.send_signal(signal.SIGTERM)
    end = time.monotonic() + grace
    for one in running:
        one.wait(end - time.monotonic())


def _read_seconds(path: Path) -> dict[str, float]:
    try:
        return {str(name): float(value) for name, value in json.loads(path.read_text()).items()}
    except (OSError, ValueError):
        return {}
