"""The `headwise` command: its subcommands, and how errors are reported."""

import os
import signal
import sys
import threading
from types import FrameType

import click

from headwise.cli.annotation.annotate import annotate_file
from headwise.cli.annotation.suggest import suggest_words
from headwise.cli.corpus import corpus
from headwise.cli.evaluate import evaluate
from headwise.cli.models.info import info
from headwise.cli.models.listing import list_models
from headwise.cli.models.package import package
from headwise.cli.parse import parse
from headwise.cli.serve import serve
from headwise.cli.train import train
from headwise.cli.treebanks.convert import convert
from headwise.errors import HeadwiseError, explain_shortage
from headwise.version import VERSION

BROKEN_PIPE = 141
"""The exit code of a command that SIGPIPE ended; not every system has that signal."""
SIGNALLED = 128
"""A shell adds this to the number of the signal that ended a command."""


class _Commands(click.Group):
    """Print our own errors as one message and exit with 1."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except HeadwiseError as error:
            click.echo(f"headwise: {explain_shortage(error) or error}", err=True)
            _flush_stdout()
            ctx.exit(1)
        except BrokenPipeError:
            _flush_stdout()
            ctx.exit(BROKEN_PIPE)
        except KeyboardInterrupt:
            click.echo("\nheadwise: interrupted", err=True)
            _flush_stdout()
            ctx.exit(SIGNALLED + signal.SIGINT)


def _flush_stdout() -> None:
    """Write what is buffered; if that fails (no reader, no space), discard it.

    Otherwise Python would try again at exit and print a traceback.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(
    cls=_Commands,
    commands=[
        train,
        parse,
        evaluate,
        list_models,
        info,
        package,
        convert,
        serve,
        corpus,
        suggest_words,
        annotate_file,
    ],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(VERSION, prog_name="headwise")
def main() -> None:
    """A dependency parser in which every word selects its head.

    Example: headwise parse text.conllu > parsed.conllu
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _end)


def _end(number: int, _: FrameType | None) -> None:
    """Exit as after an error, so that unfinished files are removed."""
    sys.exit(SIGNALLED + number)
