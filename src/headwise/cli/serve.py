"""`headwise serve`."""

from contextlib import suppress

import click
import msgspec

from headwise.cli.terminal import examples
from headwise.errors import ConfigError
from headwise.parser import DEFAULT_MODEL
from headwise.serve.config import ServeConfig

DEFAULT = ServeConfig()


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
@click.option("--workers", type=int, default=0, help="Threads that parse.  [default: one a core]")
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Each loads the models and has a queue and threads of its own.",
)
@click.option(
    "--token",
    envvar="HEADWISE_TOKEN",
    default="",
    help="Ask for Authorization: Bearer TOKEN. Also read from HEADWISE_TOKEN, which others on the "
    "machine cannot see.",
)
@click.option(
    "--cors", multiple=True, metavar="ORIGIN", help="Let pages of this origin ask; * for all."
)
@click.option(
    "--max-bytes", type=int, default=DEFAULT.max_bytes, show_default=True, help="Of a request."
)
@click.option(
    "--max-sentences",
    type=int,
    default=DEFAULT.max_sentences,
    show_default=True,
    help="Of a request.",
)
@click.option(
    "--max-words", type=int, default=DEFAULT.max_words, show_default=True, help="Of a request."
)
@click.option(
    "--max-sentence-words",
    type=int,
    default=DEFAULT.max_sentence_words,
    show_default=True,
    help="Of a sentence.",
)
@click.option(
    "--max-token",
    type=int,
    default=DEFAULT.max_token,
    show_default=True,
    help="Characters of a word.",
)
@click.option(
    "--max-seconds",
    type=float,
    default=DEFAULT.max_seconds,
    show_default=True,
    help="For a request to arrive, and again to be answered.",
)
@click.option(
    "--max-queue",
    type=int,
    default=DEFAULT.max_queue,
    show_default=True,
    help="Words that wait; more get 429.",
)
@click.option(
    "--max-connections",
    type=int,
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
            f"serving needs {error.name}, which is not installed", "pip install 'headwise[serve]'"
        ) from error
    with suppress(KeyboardInterrupt):  # it has ended well by then
        run(config, models, processes, quiet)
