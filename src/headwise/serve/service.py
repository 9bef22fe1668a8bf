"""What all request handlers share: the models, the workers, the limits, the metrics."""

import asyncio
import os
from typing import Any

from starlette.requests import Request

from headwise.serve.metrics import Metrics
from headwise.serve.models import Models
from headwise.serve.queue import AnswerSteps, Workers, too_slow
from headwise.serve.requests import BodyReader, Refusal, Room, retry_after
from headwise.settings.serving import ServeConfig

UNSENT_BYTES = 2**25
"""What large responses may take while their clients read them; more get 503."""
WATCH_AFTER_SECONDS = 1.0
"""From then on the connection is watched: a client that has gone away needs no answer."""
CLIENT_GONE = 499
"""The status of an answer whose client has gone; only the metrics ever see it."""


class Service:
    """The parts of a server, made once when it starts."""

    def __init__(self, config: ServeConfig, models: Models, routes: tuple[str, ...]) -> None:
        """Put the parts together and start the threads."""
        self.config = config
        self.models = models
        self.metrics = Metrics(routes)
        self.workers = Workers(
            config.workers or os.cpu_count() or 1, config.max_queue, self.metrics
        )
        self.bodies = BodyReader(config.max_bytes, config.max_seconds)
        full = Refusal(503, "too many clients are slow to read large answers", None, retry_after())
        self._unsent = Room(UNSENT_BYTES, full)

    async def run(self, request: Request, steps: AnswerSteps, n_words: int) -> bytes:
        """Have an answer made, unless it takes too long or the client goes away meanwhile."""
        limit = self.config.max_seconds
        answer = asyncio.wrap_future(self.workers.submit(steps, n_words, limit))
        soon = min(WATCH_AFTER_SECONDS, limit)
        done, _ = await asyncio.wait({answer}, timeout=soon)
        if not done:
            await _watch(request, answer, limit - soon)
        response = answer.result()
        hold = request.scope["until_sent"].enter_context(self._unsent.hold())
        hold(len(response))
        return response

    def close(self) -> None:
        """Finish all that was accepted, then end all threads."""
        self.workers.close()
        self.bodies.close()


async def _watch(request: Request, answer: "asyncio.Future[bytes]", seconds: float) -> None:
    """Wait for an answer until time is up or the client goes away; drop it then."""
    gone = asyncio.ensure_future(_until_gone(request))
    awaited: set[asyncio.Future[Any]] = {answer, gone}
    try:
        await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            answer.cancel()
            raise Refusal(CLIENT_GONE, "the client has gone") if gone.done() else too_slow()
    finally:
        gone.cancel()


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def service_of(request: Request) -> Service:
    """Return the service behind a request."""
    service = request.app.state.service
    assert isinstance(service, Service)
    return service
