"""The whole server as one ASGI application: routes, who may ask, errors.

A request passes `_Gate` (Host, origin, token), then its route, which reads and checks the body
(`requests`), queues the work (`service`, `queue`) and sends the result of `answers`. An error is
JSON, `{"error": {"message", "hint"}}`. A fault of the request is a 4xx; only a fault of the server
is a 500.
"""

import hmac
import ipaddress
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager

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

from headwise.errors import HeadwiseError, explain_shortage
from headwise.serve.api import (
    get_health,
    get_metrics,
    get_models,
    get_openapi,
    json_response,
    post_parse,
)
from headwise.serve.models import Models
from headwise.serve.pages import page_routes
from headwise.serve.queue import no_memory
from headwise.serve.requests import CLOSE, SMALL_BYTES, Refusal
from headwise.serve.schema import ErrorDetail, ErrorResponse
from headwise.serve.service import Service
from headwise.serve.udpipe import process
from headwise.settings.serving import ServeConfig

LOG = logging.getLogger("headwise.serve")
ROUTES = (
    ("/parse", post_parse, ("POST",)),
    ("/process", process, ("GET", "POST")),
    ("/models", get_models, ("GET", "POST")),
    ("/health", get_health, ("GET",)),
    ("/metrics", get_metrics, ("GET",)),
    ("/openapi.json", get_openapi, ("GET",)),
)
ANY = "*"
"""As an origin or a host: all of them."""


def make_app(
    config: ServeConfig,
    models: Models,
    more_routes: Sequence[Route] = (),
    public: Sequence[str] = (),
    on_close: Callable[[], object] = lambda: None,
) -> Starlette:
    """Make the application; its threads start now and end when it shuts down.

    Further routes pass the same checks; the paths `public`, which are pages, need no token.
    `on_close` is called when all is answered.
    """
    paths = (*(path for path, _, _ in ROUTES), *(route.path for route in more_routes))
    service = Service(config, models, ("/", *paths))

    def close() -> None:
        service.close()
        on_close()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        try:
            await run_in_threadpool(close)
        except RuntimeError:  # there is no memory for another thread
            close()
        LOG.info("requests answered: %d", service.metrics.n_answered)

    routes = [Route(path, endpoint, methods=methods) for path, endpoint, methods in ROUTES]
    app = Starlette(
        routes=[*routes, *more_routes, *page_routes()],
        middleware=[
            *_cors(config.cors),
            Middleware(_Gate, service=service, public=frozenset(public)),
        ],
        exception_handlers={
            Refusal: _refuse,
            HeadwiseError: _refuse,
            HTTPException: _http_error,
            **dict.fromkeys((MemoryError, OSError, RuntimeError), _report_shortage),
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


class _Gate:
    """What every request passes first: the clock, then Host, origin and token."""

    def __init__(self, app: ASGIApp, service: Service, public: frozenset[str]) -> None:
        self._app = app
        self._public = public | {"/", "/health"}
        self._metrics = service.metrics
        config = service.config
        self._token = config.token.encode("utf-8", "surrogateescape")
        self._origins = frozenset(config.cors)
        self._hosts = frozenset(
            name.lower() for name in (*config.allowed_host, config.host, "localhost")
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def send_watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-content-type-options"] = "nosniff"
            for part in _in_pieces(message):
                await send(part)

        with ExitStack() as until_sent:
            scope["until_sent"] = until_sent
            try:
                refusal = self._check(scope)
                app = self._app if refusal is None else refusal
                await app(scope, receive, send_watched)
            finally:
                seconds = time.perf_counter() - started
                self._metrics.count_request(scope["path"], status, seconds)

    def _check(self, scope: Scope) -> Response | None:
        """Return the refusal of a request that may not pass."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) > 1 or not all(map(self._is_allowed_host, hosts)):
            what = f"Host is {', '.join(hosts)[:80]!r}, which is not a name of this server"
            return _error(
                421, what, "start the server with --allowed-host NAME for each of its names"
            )
        path = scope["path"]
        if path in self._public or path.startswith("/static/"):
            return None
        if not self._is_allowed_origin(scope["method"], headers):
            what = f"pages of {headers.get('origin', 'other sites')[:80]} may not use this server"
            return _error(403, what, "start it with --cors ORIGIN to allow them")
        if self._token and not self._has_token(headers):
            what, hint = "this server needs a token", "Authorization: Bearer TOKEN"
            return _error(401, what, hint, {"www-authenticate": "Bearer"})
        return None

    def _is_allowed_host(self, host: str) -> bool:
        """Return whether this is a name of the server, against DNS rebinding.

        An attack uses its own name in `Host`. Addresses cannot be rebound, so all are allowed.
        """
        name = host.partition("]")[0].lstrip("[") if host[:1] == "[" else host.partition(":")[0]
        name = name.rstrip(".").lower()
        if ANY in self._hosts or name in self._hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _is_allowed_origin(self, method: str, headers: Headers) -> bool:
        """Return whether the request is from no page, our own, or one that `--cors` allows.

        Browsers say where a request comes from; a page cannot change that. A link to this server
        may be followed from anywhere.
        """
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and (ANY in self._origins or origin in self._origins):
            return True
        if site is not None:
            is_link = method == "GET" and headers.get("sec-fetch-dest") == "document"
            return site in ("same-origin", "none") or is_link
        return origin is None or origin.partition("://")[2] == headers.get("host")

    def _has_token(self, headers: Headers) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        is_same = hmac.compare_digest(given.encode("latin-1"), self._token)
        return kind.lower() == "bearer" and is_same


def _in_pieces(message: Message) -> Iterable[Message]:
    """Cut a large body, so that sending waits for a client that reads slowly."""
    body = message.get("body", b"")
    if len(body) <= SMALL_BYTES:
        yield message
        return
    for start in range(0, len(body), SMALL_BYTES):
        is_last = start + SMALL_BYTES >= len(body)
        yield {
            "type": message["type"],
            "body": body[start : start + SMALL_BYTES],
            "more_body": not is_last or message.get("more_body", False),
        }


def _error(
    status: int,
    message: str,
    hint: str | None,
    headers: Mapping[str, str] | None = None,
    details: Mapping[str, object] | None = None,
) -> Response:
    error = ErrorResponse(ErrorDetail(message, hint))
    body = error if not details else {"error": error.error, **details}
    return json_response(body, status, headers)


async def _refuse(request: Request, error: Exception) -> Response:
    """Pass on a refusal, what is wrong with the input, or what the model cannot do."""
    if isinstance(error, Refusal):
        return _error(error.status, error.what, error.hint, error.headers, error.details)
    assert isinstance(error, HeadwiseError)
    return _error(400, error.what, error.hint)


async def _report_shortage(request: Request, error: Exception) -> Response:
    """Respond if memory or file descriptors do not suffice."""
    if explain_shortage(error) is None:
        raise error
    return await _refuse(request, no_memory())


async def _http_error(request: Request, error: Exception) -> Response:
    """Respond if there is no such route or method; `OPTIONS` lists the methods."""
    assert isinstance(error, HTTPException)
    headers = error.headers or {}
    if error.status_code == 405 and request.method == "OPTIONS":
        return Response(status_code=204, headers={"allow": f"{headers['Allow']}, OPTIONS"})
    return _error(error.status_code, error.detail.lower(), "see /openapi.json", headers)


async def _apologise(request: Request, error: Exception) -> Response:
    """Respond if the server is at fault; the traceback is in the log."""
    # The connection is closed, which is what uvicorn does after a traceback.
    return _error(500, "the server failed to answer", "please report it", CLOSE)
