"""Listen, limit what a connection may do, and end well: what was accepted is answered first."""

import asyncio
import copy
import logging
import logging.config
import os
import socket
import sys
import tempfile
import time
from asyncio import TimerHandle
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import httptools
import msgspec
import uvicorn
from starlette.applications import Starlette
from uvicorn.config import LOGGING_CONFIG
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from headwise.errors import ConfigError
from headwise.serve.app import LOG, make_app
from headwise.serve.metrics import METRICS_FOLDER
from headwise.serve.models import Models, load_models
from headwise.settings.serving import ServeConfig

MAX_HEAD_BYTES = 65_536
"""Of the request line and the headers; a query with `data` is part of it."""
MAX_HEADERS = 100
MAX_HEAD_SECONDS = 10.0
MAX_PIPELINED = 16
"""Requests of one connection that wait for the one before them."""
KEEP_ALIVE_SECONDS = 15
BACKLOG = 2_048
"""Connections that the system holds until they are accepted."""
SWITCH_SECONDS = 0.0005
"""How long a thread that parses may hold the interpreter while the event loop waits for it."""
CHILD_SETTINGS = "HEADWISE_SERVE"
"""The variable that tells a child process what to serve."""
GRACE_SECONDS = 5
"""What is left, after the last answer is due, to send it."""
LOG_INTERVAL_SECONDS = 60.0


class BoundedProtocol(HttpToolsProtocol):
    """HTTP with limits on what uvicorn leaves unlimited.

    They are the time and size of a head, trailers and chunk extensions, the requests that a client
    sends ahead, and the time that it takes to read a response. Departs from "no inheritance": this
    is how uvicorn lets its protocol be changed.
    """

    def __init__(self, *arguments: Any, max_seconds: float, **named: Any) -> None:
        """Take what uvicorn gives, and the time limit of the server."""
        super().__init__(*arguments, **named)
        self._max_seconds = max_seconds
        self._head_timer: TimerHandle | None = None
        self._write_timer: TimerHandle | None = None
        self._n_head_bytes = self._n_unparsed = 0
        self._status = 400

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Take data, unless a field grows beyond all bounds before it is complete."""
        begun = self.cycle
        self._n_unparsed += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._n_unparsed > MAX_HEAD_BYTES:
            self._refuse(431)
        elif self.cycle is not begun or (begun is not None and not begun.response_complete):
            self._stop_waiting()
        elif self._head_timer is None:
            self._wait_for_head()

    def on_message_begin(self) -> None:
        """Begin to count the bytes of a head."""
        self._n_head_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take a part of the URL."""
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header or, after the last chunk of a body, a trailer."""
        self._count_head(len(name) + len(value) + 4)
        if len(self.headers) >= MAX_HEADERS:
            self._give_up(431)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start or queue a request."""
        self._n_unparsed = 0
        if len(self.pipeline) >= MAX_PIPELINED:
            self._give_up(429)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body, whose size `requests` limits."""
        self._n_unparsed = 0
        super().on_body(body)

    def pause_writing(self) -> None:
        """Give the client a limited time to read what was written."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(self._max_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has read most of it."""
        self._stop_write_timer()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks."""
        self._stop_waiting()
        self._stop_write_timer()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read as HTTP, or what a limit has ended."""
        self._refuse(self._status)

    def _count_head(self, n_bytes: int) -> None:
        self._n_unparsed = 0
        self._n_head_bytes += n_bytes
        if self._n_head_bytes > MAX_HEAD_BYTES:
            self._give_up(431)

    def _give_up(self, status: int) -> None:
        """End the connection from inside the parser, which calls `send_400_response` then."""
        self._status = status
        raise httptools.HttpParserError("a limit is exceeded")

    def _wait_for_head(self) -> None:
        seconds = min(MAX_HEAD_SECONDS, self._max_seconds)
        self._head_timer = self.loop.call_later(seconds, self._refuse, 408)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _refuse(self, status: int) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            head = STATUS_LINE[status] + b"connection: close\r\ncontent-length: 0\r\n\r\n"
            self.transport.write(head)
            self.transport.close()


class LogLimit(logging.Filter):
    """Passes each warning once in a while, however many requests cause it."""

    def __init__(self, interval: float = LOG_INTERVAL_SECONDS) -> None:
        """Start with nothing logged."""
        super().__init__()
        self._interval = interval
        self._logged: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Pass errors, and warnings that were not logged recently."""
        if record.levelno != logging.WARNING:
            return True
        now = time.monotonic()
        if now - self._logged.get(record.msg, -self._interval) < self._interval:
            return False
        self._logged[record.msg] = now
        return True


def run_server(
    config: ServeConfig, models: Sequence[str], processes: int = 1, quiet: bool = False
) -> None:
    """Serve models until a signal says stop; several processes share the port, not the models."""
    loaded = load_models(
        models, config.lemmas
    )  # before anything listens, so that its errors come first
    listener = listen(config)
    if processes == 1:
        run_app(
            make_app(config, loaded),
            config,
            listener,
            lambda: _log_address(config, loaded, listener, quiet),
        )
        return
    settings = {"log_config": _log_config(), **uvicorn_settings(config)}
    child = _ChildSettings(config, list(models))
    os.environ[CHILD_SETTINGS] = msgspec.json.encode(child).decode()
    os.environ["PYTHONSAFEPATH"] = "1"  # children do not import what lies in the current folder
    factory = f"{__name__}:{make_child_app.__name__}"
    logging.config.dictConfig(settings["log_config"])
    _log_address(config, loaded, listener, quiet)
    with tempfile.TemporaryDirectory(prefix="headwise-metrics-") as folder:
        os.environ[METRICS_FOLDER] = folder
        uvicorn.run(factory, factory=True, workers=processes, fd=listener.fileno(), **settings)


def run_app(
    app: Starlette,
    config: ServeConfig,
    listener: socket.socket,
    on_start: Callable[[], object],
) -> None:
    """Serve an application in this process until a signal says stop.

    `on_start` is called when logging is set up, before the first request is accepted.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    settings = {"log_config": _log_config(), **uvicorn_settings(config)}
    server = uvicorn.Server(uvicorn.Config(app, **settings))
    on_start()
    server.run([listener])


class _ChildSettings(msgspec.Struct, frozen=True):
    config: ServeConfig
    models: list[str]


def make_child_app() -> Starlette:
    """Make the application in a child process, with the settings of its parent."""
    child = msgspec.json.decode(os.environ[CHILD_SETTINGS], type=_ChildSettings)
    sys.setswitchinterval(SWITCH_SECONDS)
    return make_app(child.config, load_models(child.models, child.config.lemmas))


def _log_address(config: ServeConfig, models: Models, listener: socket.socket, quiet: bool) -> None:
    if quiet:
        return
    LOG.setLevel(logging.INFO)
    host = f"[{config.host}]" if ":" in config.host else config.host
    names = ", ".join(models.parsers)
    LOG.info("serving %s at http://%s:%d", names, host, listener.getsockname()[1])
    if not config.token and config.host not in ("127.0.0.1", "::1", "localhost"):
        LOG.info("without --token, anyone who can reach this address can use it")


def listen(config: ServeConfig) -> socket.socket:
    """Listen where the settings say."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        return socket.create_server((config.host, config.port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {config.host}, port {config.port}: {error.strerror}",
            "choose another --port or --host",
        ) from error


def uvicorn_settings(config: ServeConfig) -> dict[str, Any]:
    """Return the settings that uvicorn needs."""
    return {
        "host": config.host,
        "port": config.port,
        "http": partial(BoundedProtocol, max_seconds=config.max_seconds),
        "ws": "none",
        "lifespan": "on",
        "access_log": False,
        "proxy_headers": False,
        "server_header": False,
        "limit_concurrency": config.max_connections,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": round(config.max_seconds) + GRACE_SECONDS,
    }


def _log_config() -> dict[str, Any]:
    """Log to stderr, in the format of the other commands."""
    log: dict[str, Any] = copy.deepcopy(LOGGING_CONFIG)
    log["formatters"] = {"default": {"format": "headwise: %(message)s"}}
    log["filters"] = {"limit": {"()": f"{__name__}.{LogLimit.__name__}"}}
    log["handlers"] = {"default": log["handlers"]["default"] | {"filters": ["limit"]}}
    ours = {"handlers": ["default"], "level": "WARNING", "propagate": False}
    broken_forms = {"level": "ERROR"}  # their senders get 400
    log["loggers"] = {"uvicorn": ours, "headwise.serve": ours, "python_multipart": broken_forms}
    return log
