"""What all handlers of requests share: the models, the workers, the limits, the counters."""

import asyncio
import os
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from headwise.serve.limits import Bodies, Refusal
from headwise.serve.metrics import Metrics
from headwise.serve.models import Models
from headwise.serve.queue import Work, Workers
from headwise.settings.serving import ServeConfig

UNWATCHED = 1.0
"""Seconds after which it pays to look whether the one who asked is still there."""
GONE = 499
"""The status of an answer that nobody waited for; only the counters ever see it."""


@dataclass(frozen=True, slots=True)
class Service:
    """A server's parts, made once when it starts."""

    config: ServeConfig
    models: Models
    workers: Workers
    bodies: Bodies
    metrics: Metrics

    async def run(self, request: Request, work: Work, n_words: int) -> bytes:
        """Have work done; drop it when the connection is closed meanwhile."""
        queued = self.workers.submit(work, n_words, self.config.max_seconds)
        answer = asyncio.wrap_future(queued)
        done, _ = await asyncio.wait({answer}, timeout=UNWATCHED)
        if not done:
            await _watch(request, answer)
        return answer.result()


async def _watch(request: Request, answer: "asyncio.Future[bytes]") -> None:
    leaving = asyncio.ensure_future(_until_gone(request))
    awaited: set[asyncio.Future[Any]] = {answer, leaving}
    try:
        await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
    if not answer.done():
        answer.cancel()
        raise Refusal(GONE, "nobody waits for the answer")


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def make_service(config: ServeConfig, models: Models, routes: tuple[str, ...]) -> Service:
    """Put the parts together and start the threads."""
    n_threads = config.workers or os.cpu_count() or 1
    return Service(
        config,
        models,
        Workers(n_threads, config.max_queue),
        Bodies(config.max_bytes, config.max_seconds),
        Metrics(routes),
    )


def service_of(request: Request) -> Service:
    """Find the service behind a request."""
    service = request.app.state.service
    assert isinstance(service, Service)
    return service
