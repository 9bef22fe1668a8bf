"""`headwise serve`."""

import os
import re
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import click
import msgspec

from headwise.cli.models.choice import complete_models, mention_licences
from headwise.cli.terminal import help_examples
from headwise.errors import ConfigError, install
from headwise.model.find import DEFAULT_MODEL
from headwise.settings.serving import ServeConfig

_DEFAULT = ServeConfig()
_VARIABLE = "HEADWISE_TOKEN"
_COUNT = click.IntRange(1, 1_000_000)
_ORIGIN = re.compile(r"\*|[a-z][a-z0-9+.-]*://[^/\s]+", re.IGNORECASE)
_HOST = re.compile(r"\*|[a-z0-9_.-]+", re.IGNORECASE)
_Command = TypeVar("_Command", bound=Callable[..., object])


def _check_token(token: str | None) -> str:
    """Refuse an empty token: it would leave the server open."""
    if token == "" or (token is None and os.environ.get(_VARIABLE) == ""):
        hint = "did the command that makes it fail? To serve without a token, leave it out"
        raise ConfigError(f"--token or {_VARIABLE}: the token is empty", hint)
    return token or ""


def _all_match(pattern: re.Pattern[str], what: str) -> Callable[..., tuple[str, ...]]:
    def check(_context: object, _option: object, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if not pattern.fullmatch(value):
                raise click.BadParameter(f"{value!r} is neither {what} nor *")
        return values

    return check


def _setting(name: str, kind: Any, help_text: str) -> Callable[[_Command], _Command]:
    """Make a flag for a field of `ServeConfig`, with its default."""
    default = getattr(_DEFAULT, name.removeprefix("--").replace("-", "_"))
    return click.option(name, type=kind, default=default, show_default=True, help=help_text)


@click.command(
    short_help="Serve the parser over HTTP.",
    epilog=help_examples(
        "headwise serve",
        "headwise serve --model en --model de --port 9000",
        "HEADWISE_TOKEN=secret headwise serve --host 0.0.0.0 --allowed-host parser.example.org",
    ),
)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    default=[DEFAULT_MODEL],
    show_default=True,
    shell_complete=complete_models,
    help="Name, folder or NAME=FOLDER. Repeat it to serve several; the first is the default.",
)
@click.option(
    "--lemmas",
    default="",
    metavar="FILE",
    help="File with lemmas that override the models': lines of form, UPOS (or _ for any) and "
    "lemma, separated by tabs.",
)
@_setting("--host", click.STRING, "Address to listen on.")
@_setting("--port", click.IntRange(0, 65535), "Port to listen on; 0 for any free port.")
@click.option(
    "--workers",
    type=click.IntRange(0, 256),
    default=0,
    help="Number of threads that parse.  [default: one per core]",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Number of processes; each loads the models and has its own queue and threads.",
)
@click.option(
    "--token",
    envvar=_VARIABLE,
    callback=lambda _context, _option, value: _check_token(value),
    help="Require Authorization: Bearer TOKEN. It is safer in the variable HEADWISE_TOKEN, which "
    "other users of the machine cannot read.",
)
@click.option(
    "--cors",
    multiple=True,
    metavar="ORIGIN",
    callback=_all_match(_ORIGIN, "an origin (https://example.org)"),
    help="Let pages of this origin (https://example.org) use the server; * for all. Repeatable.",
)
@click.option(
    "--allowed-host",
    multiple=True,
    metavar="NAME",
    callback=_all_match(_HOST, "a host name (example.org)"),
    help="A name of this server (parser.example.org), besides localhost and IP addresses; * for "
    "any. Repeatable.",
)
@_setting("--max-bytes", click.IntRange(1, 2**30), "Bytes in a request.")
@_setting("--max-sentences", _COUNT, "Sentences in a request.")
@_setting("--max-words", _COUNT, "Words in a request.")
@_setting("--max-sentence-words", _COUNT, "Words in a sentence.")
@_setting("--max-token", _COUNT, "Characters of a word.")
@_setting(
    "--max-seconds",
    click.FloatRange(0, 3_600, min_open=True),
    "Seconds for a request to arrive, for its answer to be computed, and for the answer to be "
    "read.",
)
@_setting("--max-queue", click.IntRange(1, 10**9), "Words that may wait; further requests get 429.")
@_setting("--max-connections", _COUNT, "Connections open at the same time; further ones get 503.")
@click.option("--quiet", is_flag=True, help="Write only errors to stderr.")
def serve(models: tuple[str, ...], processes: int, quiet: bool, **settings: object) -> None:
    """Serve the parser over HTTP: a JSON API, the REST API of UDPipe, and a page for the browser.

    By default only this machine can reach it. On SIGTERM or Ctrl-C, it answers the requests that it
    has accepted and exits.
    """
    try:
        config = msgspec.convert(settings, ServeConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(f"headwise serve: {error}", "see headwise serve --help") from error
    try:
        from headwise.serve.server import run_server
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"serving needs {error.name}, which is not installed", install("serve")
        ) from error
    mention_licences([model.rpartition("=")[2] for model in models], quiet)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # uvicorn raises it again, when all is answered
    with suppress(KeyboardInterrupt):  # uvicorn has shut down by then
        run_server(config, models, processes, quiet)
