"""Metrics for Prometheus, right for any number of processes.

With several processes each writes its numbers to files of its own in a folder that they share, and
a scrape of any of them adds up all. Labels come from fixed sets, so no request can make the list
grow.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from headwise.version import VERSION

METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which prometheus_client knows the folder, when it is imported."""
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_OTHER = "other"


class Metrics:
    """What was asked and done since the start, and what waits."""

    def __init__(self, routes: tuple[str, ...]) -> None:
        """Count these routes by name and all others together."""
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._routes = frozenset(routes)
        self._folder = os.environ.get(METRICS_FOLDER)
        self._registry = CollectorRegistry()
        self.n_answered = 0
        """Requests that this process answered."""
        self._requests = self._counter("requests", "Requests answered.", ["path", "status"])
        self._seconds = Histogram(
            "headwise_request_seconds",
            "Time to answer a request.",
            ["path"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self.sentences = self._counter("sentences", "Sentences parsed.")
        self.words = self._counter("words", "Words parsed.")
        self.repaired = self._counter("repaired", "Sentences repaired to trees.")
        self.jobs = self._gauge("jobs", "Requests waiting or under way.", "livesum")
        self.queue_words = self._gauge("queue_words", "Work that waits, in words.", "livesum")
        self._gauge("info", "The release.", "max", ["version"]).labels(VERSION).set(1)
        if not self._folder:
            ProcessCollector(registry=self._registry)

    def _counter(self, name: str, what: str, labels: Sequence[str] = ()) -> Counter:
        return Counter(f"headwise_{name}", what, labels, registry=self._registry)

    def _gauge(
        self, name: str, what: str, mode: Literal["livesum", "max"], labels: Sequence[str] = ()
    ) -> Gauge:
        name = f"headwise_{name}"
        return Gauge(name, what, labels, registry=self._registry, multiprocess_mode=mode)

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        route = path if path in self._routes else _OTHER
        self.n_answered += 1
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def expose(self) -> bytes:
        """Write the metrics of all processes in the text format of Prometheus."""
        if not self._folder:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        _forget_dead_processes(Path(self._folder))
        MultiProcessCollector(registry, self._folder)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def _forget_dead_processes(folder: Path) -> None:
    """Remove the gauges of processes that have ended: nothing waits in them."""
    for path in folder.glob("gauge_live*_*.db"):
        pid = int(path.stem.rpartition("_")[2])
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            with suppress(FileNotFoundError):  # another process may have been faster
                mark_process_dead(pid, str(folder))  # type: ignore[no-untyped-call]
