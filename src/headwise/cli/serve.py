"""`headwise serve`."""

import os
import re
import signal
from contextlib import suppress

import click
import msgspec

from headwise.cli.terminal import help_examples
from headwise.errors import ConfigError, install
from headwise.model.bundle import DEFAULT_MODEL
from headwise.settings.serving import ServeConfig

_DEFAULT = ServeConfig()
_VARIABLE = "HEADWISE_TOKEN"
_COUNT = click.IntRange(1, 1_000_000)
_ORIGIN = re.compile(r"\*|[a-z][a-z0-9+.-]*://[^/\s]+", re.IGNORECASE)
_HOST = re.compile(r"\*|[a-z0-9_.-]+", re.IGNORECASE)


def _check_token(token: str | None) -> str:
    """Refuse an empty token: it would leave the server open."""
    if token == "" or (token is None and os.environ.get(_VARIABLE) == ""):
        hint = "did the command that makes it fail? To serve without a token, leave it out"
        raise ConfigError(f"--token or {_VARIABLE}: the token is empty", hint)
    return token or ""


def _check_origins(origins: tuple[str, ...]) -> tuple[str, ...]:
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise click.BadParameter(f"{origin!r} is neither an origin (https://example.org) nor *")
    return origins


def _check_hosts(hosts: tuple[str, ...]) -> tuple[str, ...]:
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise click.BadParameter(f"{host!r} is neither a host name (example.org) nor *")
    return hosts


@click.command(
    short_help="Serve the parser over HTTP.",
    epilog=help_examples(
        "headwise serve",
        "headwise serve --model en --model models/de --port 9000",
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
    help="Name, folder or NAME=FOLDER. Repeat it to serve several; the first is the default.",
)
@click.option("--host", default=_DEFAULT.host, show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_DEFAULT.port,
    show_default=True,
    help="0 for any free port.",
)
@click.option(
    "--workers",
    type=click.IntRange(0, 256),
    default=0,
    help="Threads that parse.  [default: one per core]",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Each loads the models and has its own queue and threads.",
)
@click.option(
    "--token",
    envvar=_VARIABLE,
    callback=lambda _context, _option, value: _check_token(value),
    help="Require Authorization: Bearer TOKEN. Better set as HEADWISE_TOKEN, which other users of "
    "the machine cannot read.",
)
@click.option(
    "--cors",
    multiple=True,
    metavar="ORIGIN",
    callback=lambda _context, _option, values: _check_origins(values),
    help="Let pages of this origin (https://example.org) use the server; * for all. Repeatable.",
)
@click.option(
    "--allowed-host",
    multiple=True,
    metavar="NAME",
    callback=lambda _context, _option, values: _check_hosts(values),
    help="A name of this server (parser.example.org), besides localhost and IP addresses; * for "
    "any. Repeatable.",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(1, 2**30),
    default=_DEFAULT.max_bytes,
    show_default=True,
    help="Of a request.",
)
@click.option(
    "--max-sentences",
    type=_COUNT,
    default=_DEFAULT.max_sentences,
    show_default=True,
    help="Of a request.",
)
@click.option(
    "--max-words", type=_COUNT, default=_DEFAULT.max_words, show_default=True, help="Of a request."
)
@click.option(
    "--max-sentence-words",
    type=_COUNT,
    default=_DEFAULT.max_sentence_words,
    show_default=True,
    help="Of a sentence.",
)
@click.option(
    "--max-token",
    type=_COUNT,
    default=_DEFAULT.max_token,
    show_default=True,
    help="Characters of a word.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(0, 3_600, min_open=True),
    default=_DEFAULT.max_seconds,
    show_default=True,
    help="For a request to arrive, to be answered, and for the answer to be read: each.",
)
@click.option(
    "--max-queue",
    type=click.IntRange(1, 10**9),
    default=_DEFAULT.max_queue,
    show_default=True,
    help="Words that may wait; more get 429.",
)
@click.option(
    "--max-connections",
    type=_COUNT,
    default=_DEFAULT.max_connections,
    show_default=True,
    help="Open at the same time; more get 503.",
)
@click.option("--quiet", is_flag=True, help="Only errors on stderr.")
def serve(models: tuple[str, ...], processes: int, quiet: bool, **settings: object) -> None:
    """Serve the parser over HTTP: a JSON API, the REST API of UDPipe, and a page for the browser.

    By default only this machine can reach it. On SIGTERM and Ctrl-C it answers what it has
    accepted, then ends.
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
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # uvicorn raises it again, when all is answered
    with suppress(KeyboardInterrupt):  # uvicorn has shut down by then
        run_server(config, models, processes, quiet)
