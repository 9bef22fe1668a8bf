"""Who does the units: this process, or workers of Ray.

On Ray, Ray Data streams descriptions of units through a pool of actors, each with a model of its
own, and takes back outcomes; texts and trees never pass through the driver or the object store,
so its memory does not grow with the input. Ray restarts an actor that died and gives its unit out
again, here or on another machine; `work` makes that harmless. A block of Ray Data is one unit, or
a few where there are very many.

A worker raises nothing that it can name: it answers with the error, and the driver stops.
"""

import logging
import os
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from headwise.corpus.alone import do_alone
from headwise.corpus.annotate import load_for
from headwise.corpus.plan import PLAN, Job, Unit
from headwise.corpus.work import Outcome, Record, do_unit, make_shard
from headwise.errors import ConfigError, DataError, HeadwiseError
from headwise.runtime.parser import Parser

if TYPE_CHECKING:
    import numpy as np

MAX_BLOCKS = 10_000
"""Beyond this Ray Data's own records of blocks would weigh on the driver."""
OBJECT_STORE = 128 * 2**20
"""Bytes; what is in it are outcomes only."""
KNOCK_SECONDS = 10.0
CLOSED_HINT = "this Ray asks for a token: set RAY_AUTH_MODE=token, and the token as Ray's pages say"


@dataclass(frozen=True, slots=True)
class Engine:
    """Where to work."""

    workers: int | None = None
    """0: in this process, without Ray; None: one a core."""
    address: str | None = None
    """Of a Ray cluster; None: a Ray of our own on this machine, unless one is open already."""
    gpus_per_worker: float = 1.0
    """Counts on a device other than the CPU only; below 1, workers share a GPU."""


class Worker:
    """Does units, one after the other, with one load of the model."""

    def __init__(self, job: Job, output: Path) -> None:
        """Load the model; what stands against that is told with the first unit."""
        self._job, self._output = job, output
        self._parser: Parser | None = None
        self._error: HeadwiseError | None = None
        try:
            if not (output / PLAN).exists():
                hint = "all machines need the same folder under the same name"
                raise DataError("this folder is not seen by a worker", str(output), hint=hint)
            self._parser = load_for(job)
        except HeadwiseError as error:
            self._error = error

    def do(self, unit: Unit) -> Outcome:
        """Do a unit."""
        if self._error is not None:
            return Outcome(unit=unit.index, error=self._error.what, hint=self._error.hint)
        return do_unit(unit, self._output, self._make)

    def _make(self, unit: Unit, with_care: bool) -> Record:
        if with_care:
            return do_alone(unit, self._job, self._output)
        assert self._parser
        return make_shard(self._parser, unit, self._job, self._output, {})


class RayWorker:
    """The same for Ray Data: a batch of units in, a batch of outcomes out, as JSON."""

    def __init__(self, job: bytes, output: str) -> None:
        """Make the worker in the process of an actor."""
        self._worker = Worker(msgspec.json.decode(job, type=Job), Path(output))

    def __call__(self, batch: "dict[str, np.ndarray[Any, Any]]") -> dict[str, list[str]]:
        """Do the units of a batch."""
        units = [msgspec.json.decode(unit, type=Unit) for unit in batch["unit"].tolist()]
        return {"outcome": [msgspec.json.encode(self._worker.do(unit)).decode() for unit in units]}


def run_units(units: Iterable[Unit], job: Job, output: Path, engine: Engine) -> Iterator[Outcome]:
    """Do all units; outcomes come as they are done, in any order."""
    if engine.workers == 0:
        worker = Worker(job, output)
        yield from (worker.do(unit) for unit in units)
        return
    rows = [{"unit": msgspec.json.encode(unit).decode()} for unit in units]
    if rows:
        with open_ray(engine, len(rows), job.device) as n_workers:
            yield from _stream(rows, job, output, engine, n_workers)


def _stream(
    rows: list[dict[str, str]], job: Job, output: Path, engine: Engine, n_workers: int
) -> Iterator[Outcome]:
    import ray.data

    with _quiet():
        data = ray.data.from_items(rows, override_num_blocks=min(len(rows), MAX_BLOCKS))
        rows.clear()
        outcomes = data.map_batches(
            RayWorker,
            fn_constructor_args=(msgspec.json.encode(job), os.path.abspath(output)),
            batch_size=1,
            num_cpus=1,
            num_gpus=0 if job.device == "cpu" else engine.gpus_per_worker,
            compute=ray.data.ActorPoolStrategy(size=n_workers, max_tasks_in_flight_per_actor=1),
        )
        for row in outcomes.iter_rows():
            yield msgspec.json.decode(row["outcome"], type=Outcome)


@contextmanager
def open_ray(engine: Engine, n_units: int, device: str = "cpu") -> Iterator[int]:
    """Join a Ray, or start one for as long as it is needed; give the number of workers."""
    # Ray reads these when it is imported: no reports to its makers, no remarks among ours.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    import ray

    wanted = engine.workers or os.cpu_count() or 1
    is_ours = not ray.is_initialized()
    if is_ours:
        with _without_stderr():
            _start_ray(engine, min(wanted, n_units))
    try:
        there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        if engine.workers is None:
            wanted = max(int(there.get("CPU", 1)), 1)
        _check_resources(there, device, engine)
        yield min(wanted, n_units)
    finally:
        if is_ours:
            ray.shutdown()


@contextmanager
def _without_stderr() -> Iterator[None]:
    """Let what is written to stderr, by C++ too, go nowhere; what goes wrong is raised."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _start_ray(engine: Engine, n_workers: int) -> None:
    import ray

    if engine.address is None:
        ray.init(
            "local",
            num_cpus=n_workers,
            object_store_memory=OBJECT_STORE,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
        return
    try:
        _knock(engine.address)
        ray.init(engine.address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError) as error:
        what = f"--address {engine.address}: {str(error).splitlines()[0]}"
        asks_for_token = "InvalidAuthToken" in str(error.__cause__)
        raise ConfigError(
            what, CLOSED_HINT if asks_for_token else "is a Ray running there?"
        ) from error


def _knock(address: str) -> None:
    """See whether anybody listens at `host:port`: Ray itself would wait for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=KNOCK_SECONDS).close()


def _check_resources(there: dict[str, float], device: str, engine: Engine) -> None:
    if device != "cpu" and not there.get("GPU") and engine.address is None:
        raise ConfigError(f"--device {device}: Ray sees no GPU here", "--device cpu works anywhere")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Ray Data from reporting, and from giving up on a unit that takes long."""
    from ray.data import DataContext

    context, logger = DataContext.get_current(), logging.getLogger("ray.data")
    changes: dict[str, object] = {
        "enable_progress_bars": False,
        "print_on_execution_start": False,
        "execution_no_progress_timeout_s": -1,
    }
    before = {name: getattr(context, name) for name in changes if hasattr(context, name)}
    level = logger.level
    try:
        logger.setLevel(logging.ERROR)
        for name in before:
            setattr(context, name, changes[name])
        yield
    finally:
        logger.setLevel(level)
        for name, value in before.items():
            setattr(context, name, value)
