"""`headwise serve`."""

import os
import re
import signal
from contextlib import suppress

import click
import msgspec

from headwise.cli.terminal import examples
from headwise.errors import ConfigError, install
from headwise.model.bundle import DEFAULT_MODEL
from headwise.settings.serving import ServeConfig

DEFAULT = ServeConfig()
VARIABLE = "HEADWISE_TOKEN"
COUNT = click.IntRange(1, 1_000_000)
_ORIGIN = re.compile(r"\*|[a-z][a-z0-9+.-]*://[^/\s]+", re.IGNORECASE)


def _check_token(token: str | None) -> str:
    """Refuse an empty token: whoever gives one wants to be asked for it."""
    if token == "" or (token is None and os.environ.get(VARIABLE) == ""):
        hint = "did the command that makes it fail? to serve without one, do not give it"
        raise ConfigError(f"--token or {VARIABLE}: it is empty", hint)
    return token or ""


def _check_origins(origins: tuple[str, ...]) -> tuple[str, ...]:
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise click.BadParameter(f"{origin!r} is no origin like https://example.org, nor *")
    return origins


@click.command(
    short_help="Serve the parser over HTTP.",
    epilog=examples(
        "headwise serve",
        "headwise serve --model en --model models/de --port 9000",
        "HEADWISE_TOKEN=secret headwise serve --host 0.0.0.0 --cors https://example.org",
    ),
)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    default=[DEFAULT_MODEL],
    show_default=True,
    help="Name or folder, or NAME=FOLDER; the first is the default. Several times for several.",
)
@click.option("--host", default=DEFAULT.host, show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT.port,
    show_default=True,
    help="0: any that is free.",
)
@click.option(
    "--workers",
    type=click.IntRange(0, 256),
    default=0,
    help="Threads that parse.  [default: one a core]",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Each loads the models and has a queue and threads of its own.",
)
@click.option(
    "--token",
    envvar=VARIABLE,
    callback=lambda _context, _option, value: _check_token(value),
    help="Ask for Authorization: Bearer TOKEN. Also read from HEADWISE_TOKEN, which others on the "
    "machine cannot see.",
)
@click.option(
    "--cors",
    multiple=True,
    metavar="ORIGIN",
    callback=lambda _context, _option, values: _check_origins(values),
    help="Let pages of this origin (https://example.org) ask; * for all.",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(1, 2**30),
    default=DEFAULT.max_bytes,
    show_default=True,
    help="Of a request.",
)
@click.option(
    "--max-sentences",
    type=COUNT,
    default=DEFAULT.max_sentences,
    show_default=True,
    help="Of a request.",
)
@click.option(
    "--max-words", type=COUNT, default=DEFAULT.max_words, show_default=True, help="Of a request."
)
@click.option(
    "--max-sentence-words",
    type=COUNT,
    default=DEFAULT.max_sentence_words,
    show_default=True,
    help="Of a sentence.",
)
@click.option(
    "--max-token",
    type=COUNT,
    default=DEFAULT.max_token,
    show_default=True,
    help="Characters of a word.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(0, 3_600, min_open=True),
    default=DEFAULT.max_seconds,
    show_default=True,
    help="For a request to arrive, and again to be answered.",
)
@click.option(
    "--max-queue",
    type=click.IntRange(1, 10**9),
    default=DEFAULT.max_queue,
    show_default=True,
    help="Words that wait; more get 429.",
)
@click.option(
    "--max-connections",
    type=COUNT,
    default=DEFAULT.max_connections,
    show_default=True,
    help="Open at a time; more get 503.",
)
@click.option("--quiet", is_flag=True, help="Nothing on stderr but errors.")
def serve(models: tuple[str, ...], processes: int, quiet: bool, **settings: object) -> None:
    """Serve the parser over HTTP: a JSON API, the REST API of UDPipe, and a page to look at.

    Listens on this machine only, unless told otherwise. SIGTERM and Ctrl-C end it when what was
    accepted is answered.
    """
    try:
        config = msgspec.convert(settings, ServeConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(f"headwise serve: {error}", "see headwise serve --help") from error
    try:
        from headwise.serve.server import run
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"serving needs {error.name}, which is not installed", install("serve")
        ) from error
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # uvicorn ends by it, when all is answered
    with suppress(KeyboardInterrupt):  # it has ended well by then
        run(config, models, processes, quiet)
