"""Run the units in this process or on Ray workers.

On Ray, Ray Data streams descriptions of units through a pool of actors, each with its own model,
and takes back results. Texts and trees never pass through the driver or the object store, so the
memory of the driver does not grow with the input. Ray restarts an actor that died and hands out
its unit again, here or on another machine; `units` makes that harmless. A block of Ray Data is one
unit, or a few if there are very many.

A worker returns the errors that it can name, and the driver stops. After any other exception (a
failing device, a bug) a Ray worker exits: its memory or its device may be in a bad state, and a new
process may succeed. After `units.MAX_ATTEMPTS` the unit runs isolated, which names the document.
"""

import logging
import os
import resource
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from headwise.corpus.isolated_worker import make_shard_isolated
from headwise.corpus.parsing import load_job_parser
from headwise.corpus.plan import PLAN_FILE, CorpusJob, Unit
from headwise.corpus.units import ShardRecord, UnitResult, make_shard, process_unit
from headwise.errors import ConfigError
from headwise.runtime.parser import Parser

if TYPE_CHECKING:
    import numpy as np

_MAX_BLOCKS = 10_000
"""With more, Ray Data's own records of blocks would fill the memory of the driver."""
_OBJECT_STORE_BYTES = 128 * 2**20
"""Only unit descriptions and results are in it."""
_CONNECT_SECONDS = 10.0
_MIN_OPEN_FILES = 128
"""With fewer, Ray waits for half a minute or forever before it gives up."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Where to run."""

    workers: int | None = None
    """0: this process, without Ray; None: one worker for each core."""
    address: str | None = None
    """Of a Ray cluster; None: start Ray on this machine, unless it is running in this process."""
    gpus_per_worker: float = 1.0
    """Ignored on the CPU; below 1, workers share a GPU."""


class UnitWorker:
    """Does units, one after the other; the model is loaded with the first that is not done."""

    def __init__(self, job: CorpusJob, output: Path) -> None:
        """Keep what a unit needs."""
        self._job, self._output = job, output
        self._parser: Parser | None = None

    def run(self, unit: Unit) -> UnitResult:
        """Do a unit."""
        if not (self._output / PLAN_FILE).exists():
            error = f"{self._output}: a worker does not see this folder"
            hint = "every machine needs the same folder under the same path"
            return UnitResult(unit=unit.index, error=error, hint=hint)
        return process_unit(unit, self._output, self._make_record)

    def _make_record(self, unit: Unit, is_isolated: bool) -> ShardRecord:
        if is_isolated:
            return make_shard_isolated(unit, self._job, self._output)
        if self._parser is None:
            self._parser = load_job_parser(self._job)
        return make_shard(self._parser, unit, self._job, self._output)

    def __call__(self, batch: "dict[str, np.ndarray[Any, Any]]") -> dict[str, list[str]]:
        """Do a batch of Ray Data in an actor: units in, results out, as JSON."""
        units = [msgspec.json.decode(unit, type=Unit) for unit in batch["unit"].tolist()]
        try:
            results = [msgspec.json.encode(self.run(unit)).decode() for unit in units]
        except Exception:
            traceback.print_exc()
            os._exit(1)  # Ray starts another worker and hands it the unit
        return {"result": results}


def run_units(
    units: Iterable[Unit], job: CorpusJob, output: Path, engine: Engine
) -> Iterator[UnitResult]:
    """Do all units; results come as units finish, in any order."""
    if engine.workers == 0:
        worker = UnitWorker(job, output)
        yield from (worker.run(unit) for unit in units)
        return
    rows = [{"unit": msgspec.json.encode(unit).decode()} for unit in units]
    with open_ray(engine, len(rows), job.device) as n_workers, _quiet_ray_data():
        import ray.data

        data = ray.data.from_items(rows, override_num_blocks=min(len(rows), _MAX_BLOCKS))
        rows.clear()
        results = data.map_batches(
            UnitWorker,
            fn_constructor_args=(job, output.absolute()),
            batch_size=1,
            num_cpus=1,
            num_gpus=0 if job.device == "cpu" else engine.gpus_per_worker,
            compute=ray.data.ActorPoolStrategy(size=n_workers, max_tasks_in_flight_per_actor=1),
        )
        for row in results.iter_rows():
            yield msgspec.json.decode(row["result"], type=UnitResult)


@contextmanager
def open_ray(engine: Engine, n_units: int, device: str = "cpu") -> Iterator[int]:
    """Join a Ray, or start one for as long as it is needed; give the number of workers."""
    # Ray reads these when it is imported: no usage reports, no log lines among ours.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    import ray

    n_workers = engine.workers or os.cpu_count() or 1
    is_ours = not ray.is_initialized()
    if is_ours:
        with _without_stderr(), _our_sigterm():
            _start_ray(engine, min(n_workers, n_units))
    try:
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        if engine.workers is None:
            n_workers = max(int(resources.get("CPU", 1)), 1)
        if device != "cpu" and not resources.get("GPU") and engine.address is None:
            raise ConfigError(f"--device {device}: Ray finds no GPU here", "use --device cpu")
        yield min(n_workers, n_units)
    finally:
        if is_ours:
            ray.shutdown()


@contextmanager
def _without_stderr() -> Iterator[None]:
    """Discard what is written to stderr, also from C++; failures are raised anyway."""
    sys.stderr.flush()
    stderr, devnull = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(devnull)


@contextmanager
def _our_sigterm() -> Iterator[None]:
    """Restore what SIGTERM does, since Ray makes it exit with 15 in place of 143."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    except SystemExit as end:
        if end.code == signal.SIGTERM:
            raise SystemExit(128 + signal.SIGTERM) from None
        raise
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _start_ray(engine: Engine, n_workers: int) -> None:
    import ray

    if engine.address is None:
        n_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= n_files < _MIN_OPEN_FILES:
            what = f"Ray needs more open files than ulimit -n allows ({n_files})"
            hint = "raise the limit, for example: ulimit -n 1024; --workers 0 runs without Ray"
            raise ConfigError(what, hint)
        try:
            ray.init(
                "local",
                num_cpus=n_workers,
                object_store_memory=_OBJECT_STORE_BYTES,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except Exception as error:  # Ray raises bare Exceptions
            raise ConfigError(
                f"Ray does not start: {_first_line(error)}",
                f"check the limit of open files (ulimit -n is {n_files}), memory and room in /tmp; "
                "--workers 0 runs without Ray",
            ) from error
        return
    try:
        # Connect to `host:port` first: Ray itself would wait for minutes.
        host, _, port = engine.address.rpartition("://")[2].rpartition(":")
        if host and port.isdigit():
            socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS).close()
        ray.init(engine.address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError) as error:
        hint = "check that Ray is running there"
        if "InvalidAuthToken" in str(error.__cause__):
            hint = "this Ray needs a token: set RAY_AUTH_MODE=token and the token (see Ray's docs)"
        raise ConfigError(f"--address {engine.address}: {_first_line(error)}", hint) from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


@contextmanager
def _quiet_ray_data() -> Iterator[None]:
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
