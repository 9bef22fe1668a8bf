"""Listen, and end well: what was accepted is answered before the process goes."""

import copy
import logging
import logging.config
import os
import socket
import sys
from collections.abc import Sequence
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from uvicorn.config import LOGGING_CONFIG

from headwise.errors import ConfigError
from headwise.serve.app import LOG, make_app
from headwise.serve.models import Models, load_models
from headwise.serve.wire import PatientProtocol
from headwise.settings.serving import ServeConfig

SWITCH_SECONDS = 0.0005
"""How long a thread that parses may keep Python to itself while the event loop waits for it."""
KEEP_ALIVE_SECONDS = 15
BACKLOG = 2_048
"""Connections that the system holds until there is time for them."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
HANDED_OVER = "HEADWISE_SERVE"
"""The variable by which a process tells its children what to serve."""
MORE_SECONDS = 5
"""What is left, after the last answer is due, to send it."""


def run(
    config: ServeConfig, models: Sequence[str], processes: int = 1, quiet: bool = False
) -> None:
    """Serve models until a signal says stop; several processes share the port, not the models."""
    loaded = load_models(models)  # before anything listens, so that its errors are said first
    bound = _listen(config)
    settings = {"log_config": _log_config("WARNING"), **settings_of(config)}
    if processes == 1:
        sys.setswitchinterval(SWITCH_SECONDS)
        server = uvicorn.Server(uvicorn.Config(make_app(config, loaded), **settings))
        _say_where(config, loaded, bound, quiet)
        server.run([bound])
        return
    handed = {"config": config, "models": list(models)}
    os.environ[HANDED_OVER] = msgspec.json.encode(handed).decode()
    name = f"{__name__}:{make_handed_over_app.__name__}"
    logging.config.dictConfig(settings["log_config"])
    _say_where(config, loaded, bound, quiet)
    uvicorn.run(name, factory=True, workers=processes, fd=bound.fileno(), **settings)


def _say_where(config: ServeConfig, models: Models, bound: socket.socket, quiet: bool) -> None:
    if quiet:
        return
    LOG.setLevel(logging.INFO)
    host = f"[{config.host}]" if ":" in config.host else config.host
    names = ", ".join(models.parsers)
    LOG.info("serving %s at http://%s:%d", names, host, bound.getsockname()[1])
    if not config.token and config.host not in LOOPBACK:
        LOG.info("without --token, whoever can reach it may ask")


def _listen(config: ServeConfig) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        return socket.create_server((config.host, config.port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {config.host}, port {config.port}: {error.strerror}",
            "choose another --port or --host",
        ) from error


def make_handed_over_app() -> Starlette:
    """Make the application in a process of its own, with the settings of its parent."""
    handed = msgspec.json.decode(os.environ[HANDED_OVER], type=_HandedOver)
    sys.setswitchinterval(SWITCH_SECONDS)
    return make_app(handed.config, load_models(handed.models))


class _HandedOver(msgspec.Struct, frozen=True):
    config: ServeConfig
    models: list[str]


def settings_of(config: ServeConfig) -> dict[str, Any]:
    """Give what uvicorn must know to serve as we do."""
    return {
        "host": config.host,
        "port": config.port,
        "http": PatientProtocol,
        "ws": "none",
        "lifespan": "on",
        "access_log": False,
        "proxy_headers": False,
        "server_header": False,
        "limit_concurrency": config.max_connections,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": round(config.max_seconds) + MORE_SECONDS,
    }


def _log_config(level: str) -> dict[str, Any]:
    """Log to stderr, in the manner of the other commands."""
    log: dict[str, Any] = copy.deepcopy(LOGGING_CONFIG)
    log["formatters"] = {"default": {"format": "headwise: %(message)s"}}
    log["handlers"] = {"default": log["handlers"]["default"]}
    ours = {"handlers": ["default"], "level": level, "propagate": False}
    log["loggers"] = {"uvicorn": ours, "headwise.serve": ours}
    return log
