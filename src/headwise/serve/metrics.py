"""Counters for Prometheus, in its text format.

Labels come from fixed sets, so that no request can make the page grow. Only the event loop counts
here; what the threads do is counted in `queue`.
"""

import os
import time
from collections import Counter, defaultdict
from pathlib import Path

from headwise.serve.queue import Load
from headwise.version import VERSION

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
OTHER = "other"


class Metrics:
    """What was asked since the start."""

    def __init__(self, routes: tuple[str, ...]) -> None:
        """Count these routes by name and all others together."""
        self._routes = frozenset(routes)
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._n_answered = 0
        self.started = time.time()

    @property
    def n_answered(self) -> int:
        """Requests that were answered, whatever the answer was."""
        return self._n_answered

    def count(self, path: str, status: int, seconds: float) -> None:
        """Note a request that was answered."""
        route = path if path in self._routes else OTHER
        self._n_answered += 1
        self._requests[route, status] += 1
        self._seconds[route] += seconds
        bucket = next((limit for limit in BUCKETS if seconds <= limit), float("inf"))
        self._buckets[route, bucket] += 1

    def as_text(self, load: Load) -> str:
        """Write all there is to know."""
        lines = [
            *_metric("headwise_info", "gauge", "The release.", {f'version="{VERSION}"': 1}),
            *_metric(
                "headwise_requests_total",
                "counter",
                "Requests answered.",
                {f'path="{p}",status="{s}"': n for (p, s), n in sorted(self._requests.items())},
            ),
            *self._histogram(),
            *_plain("headwise_sentences_total", "counter", "Sentences parsed.", load.done[0]),
            *_plain("headwise_words_total", "counter", "Words parsed.", load.done[1]),
            *_plain(
                "headwise_repaired_total", "counter", "Sentences repaired to trees.", load.done[2]
            ),
            *_plain("headwise_jobs", "gauge", "Requests waiting or under way.", load.n_jobs),
            *_plain("headwise_queue_words", "gauge", "Words waiting.", load.n_waiting_words),
            *_plain(
                "process_start_time_seconds", "gauge", "Start, Unix time.", round(self.started, 3)
            ),
            *_plain("process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes()),
        ]
        return "\n".join(lines) + "\n"

    def _histogram(self) -> list[str]:
        name = "headwise_request_seconds"
        lines = [f"# HELP {name} Time to answer.", f"# TYPE {name} histogram"]
        for route in sorted({route for route, _ in self._buckets}):
            total = 0
            for limit in (*BUCKETS, float("inf")):
                total += self._buckets[route, limit]
                edge = "+Inf" if limit == float("inf") else f"{limit:g}"
                lines.append(f'{name}_bucket{{path="{route}",le="{edge}"}} {total}')
            lines.append(f'{name}_sum{{path="{route}"}} {self._seconds[route]:.6f}')
            lines.append(f'{name}_count{{path="{route}"}} {total}')
        return lines


def _metric(name: str, kind: str, what: str, values: dict[str, int]) -> list[str]:
    head = [f"# HELP {name} {what}", f"# TYPE {name} {kind}"]
    return head + [f"{name}{{{labels}}} {value}" for labels, value in values.items()]


def _plain(name: str, kind: str, what: str, value: float) -> list[str]:
    return [f"# HELP {name} {what}", f"# TYPE {name} {kind}", f"{name} {value}"]


def resident_bytes(statm_path: Path = Path("/proc/self/statm")) -> int:
    """Give the resident memory of this process; 0 where the system does not tell."""
    try:
        pages = int(statm_path.read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
