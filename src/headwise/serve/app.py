"""The whole server as one ASGI application: routes, errors, token, counters.

Every answer, an error included, is JSON with `{"error": {"message", "hint"}}` or what was asked
for; what a request did wrong is a 4xx, and only a fault of ours is a 500.
"""

import hmac
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwise.errors import HeadwiseError
from headwise.serve.api import as_json, health, list_models, metrics, openapi, parse
from headwise.serve.limits import CLOSE, Refusal
from headwise.serve.models import Models
from headwise.serve.pages import page_routes
from headwise.serve.service import Service, make_service
from headwise.serve.udpipe import process
from headwise.settings.serving import ServeConfig

LOG = logging.getLogger("headwise.serve")
OPEN = ("/", "/health")
"""What can be had without the token, and the files of the page as well."""
STATIC = "/static/"
ROUTES = (
    ("/parse", parse, ("POST",)),
    ("/process", process, ("GET", "POST")),
    ("/models", list_models, ("GET", "POST")),
    ("/health", health, ("GET",)),
    ("/metrics", metrics, ("GET",)),
    ("/openapi.json", openapi, ("GET",)),
)


def make_app(config: ServeConfig, models: Models) -> Starlette:
    """Make the application; its threads start now and end when it shuts down."""
    service = make_service(config, models, ("/", *(path for path, _, _ in ROUTES)))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(service.workers.close)
        LOG.info("requests answered: %d", service.metrics.n_answered)

    routes = [Route(path, endpoint, methods=methods) for path, endpoint, methods in ROUTES]
    app = Starlette(
        routes=routes + page_routes(),
        middleware=[*_cors(config.cors), Middleware(_Front, service=service)],
        exception_handlers={
            Refusal: _refuse,
            HeadwiseError: _complain,
            HTTPException: _http_error,
            Exception: _apologise,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.service = service
    return app


def _cors(origins: tuple[str, ...]) -> list[Middleware]:
    if not origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
            expose_headers=["retry-after"],
            max_age=3_600,
        )
    ]


class _Front:
    """What every request passes first: the clock, the token."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service
        self._token = service.config.token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-content-type-options"] = "nosniff"
            await send(message)

        try:
            if self._may_pass(scope):
                await self._app(scope, receive, noting)
            else:
                await _no_token()(scope, receive, noting)
        finally:
            seconds = time.perf_counter() - started
            self._service.metrics.count(scope["path"], status, seconds)

    def _may_pass(self, scope: Scope) -> bool:
        path = scope["path"]
        if not self._token or path in OPEN or path.startswith(STATIC):
            return True
        kind, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(
            given.encode("latin-1"), self._token
        )


def _no_token() -> Response:
    hint = "send it: Authorization: Bearer TOKEN"
    answer = _error(401, "this server asks for a token", hint)
    answer.headers["www-authenticate"] = "Bearer"
    return answer


def _error(status: int, message: str, hint: str | None = None) -> Response:
    return as_json({"error": {"message": message, "hint": hint}}, status)


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    answer = _error(error.status, error.what, error.hint)
    answer.headers.update(error.headers)
    return answer


async def _complain(request: Request, error: Exception) -> Response:
    """Pass on what the parser says of the input, or of a model that cannot do what was asked."""
    assert isinstance(error, HeadwiseError)
    return _error(400, error.what, error.hint)


async def _http_error(request: Request, error: Exception) -> Response:
    """Answer what has no route, or not with this method; `OPTIONS` asks for the methods."""
    assert isinstance(error, HTTPException)
    headers = error.headers or {}
    if error.status_code == 405 and request.method == "OPTIONS":
        return Response(status_code=204, headers={"allow": f"{headers['Allow']}, OPTIONS"})
    answer = _error(error.status_code, error.detail.lower(), "see /openapi.json")
    answer.headers.update(headers)
    return answer


async def _apologise(request: Request, error: Exception) -> Response:
    """Answer when something is wrong here; the traceback is in the log."""
    answer = _error(500, "something went wrong here", "please report it")
    answer.headers.update(CLOSE)  # which is what the server does after a traceback
    return answer
