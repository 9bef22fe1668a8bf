"""`headwise annotate`."""

import os
import signal
import sys
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import click

from headwise.annotate.file.disk import read_blocks
from headwise.annotate.file.journal import SUFFIX
from headwise.annotate.marks import clean_block
from headwise.cli.models.choice import mention_licences
from headwise.cli.terminal import help_examples, put
from headwise.errors import ConfigError, install
from headwise.files import open_target
from headwise.model.find import DEFAULT_MODEL


@click.command(
    "annotate",
    short_help="Correct trees on a page, with the parser's help.",
    epilog=help_examples(
        "headwise annotate texts.conllu",
        "headwise annotate story.txt --model de",
        "headwise annotate treebank.conllu --keep --port 9000 --no-browser",
        "headwise annotate mine.conllu --compare yours.conllu",
        "headwise annotate texts.conllu --clean -o finished.conllu",
    ),
)
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "-m",
    "--model",
    default=DEFAULT_MODEL,
    show_default=True,
    help="Name or folder of the model.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port to listen on; 0 for any free port.",
)
@click.option(
    "--keep/--redecode",
    default=None,
    help="Keep existing trees of FILE as far as possible, or treat them as guesses that each "
    "correction may change.  [default: guesses if they are what the model predicts]",
)
@click.option(
    "--compare",
    metavar="OTHER",
    type=click.Path(path_type=Path),
    help="Another annotation of the same sentences, to compare on the page.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--clean", is_flag=True, help="Do not open a page; write FILE without the marks.")
@click.option(
    "-o",
    "--output",
    default="-",
    show_default=True,
    help="With --clean: file to write; .gz and .xz are compressed.",
)
@click.option("--quiet", is_flag=True, help="Print only the address and errors.")
def annotate_file(
    path: Path,
    model: str,
    port: int,
    keep: bool | None,
    compare: Path | None,
    no_browser: bool,
    clean: bool,
    output: str,
    quiet: bool,
) -> None:
    """Correct the trees of FILE (CoNLL-U, or .txt) on a page in the browser.

    Your corrections stay fixed, and the parser finds the best tree around them. Every edit is
    written to FILE.headwise-journal at once, and FILE is saved every few seconds. A text is first
    parsed into a .conllu file beside it. Ctrl-C saves and exits.
    """
    for one in filter(None, (path, compare)):
        if one.name.endswith(SUFFIX):
            file = str(one).removesuffix(SUFFIX)
            hint = f"name the file beside it, which is saved every few seconds: {file}"
            raise ConfigError(f"{one}: this is the journal of a file", hint)
    if clean:
        with open_target(output) as stream:
            for block in read_blocks(path):
                stream.write(clean_block(block).encode("utf-8"))
        return
    if output != "-":
        raise ConfigError("--output needs --clean", "FILE itself is saved in place")
    try:
        from headwise.annotate.server import run_workbench
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the workbench needs {error.name}, which is not installed", install("serve")
        ) from error
    mention_licences([model], quiet)
    opens = not no_browser and has_display(os.environ)

    def show(address: str, page: Path | None) -> None:
        put(address)
        sys.stdout.flush()
        if page is not None:
            webbrowser.open(page.as_uri())
        if not quiet:
            click.echo("headwise: open this address in a browser; Ctrl-C saves and exits", err=True)

    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # uvicorn raises it again, when all is saved
    with suppress(KeyboardInterrupt):  # uvicorn has shut down by then
        run_workbench(path, model, port, keep, compare, opens, show, _warn)


def has_display(environment: Mapping[str, str]) -> bool:
    """Return whether a browser can show a window here."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def _warn(text: str) -> None:
    click.echo(f"headwise: {text}", err=True)
