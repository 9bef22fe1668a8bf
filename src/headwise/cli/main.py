"""The `headwise` command: its subcommands, and how errors are reported."""

import os
import signal
import sys
import threading
from difflib import get_close_matches
from itertools import takewhile
from shlex import join
from types import FrameType

import click

from headwise.cli.annotation.annotate import annotate_file
from headwise.cli.annotation.suggest import suggest_words
from headwise.cli.completion import completion
from headwise.cli.corpus import corpus
from headwise.cli.evaluate import evaluate
from headwise.cli.models.info import info
from headwise.cli.models.listing import list_models
from headwise.cli.models.package import package
from headwise.cli.parse import parse
from headwise.cli.serve import serve
from headwise.cli.streams.inputs import looks_like_a_file
from headwise.cli.train import train
from headwise.cli.treebanks.convert import convert
from headwise.cli.treebanks.show import show_trees
from headwise.errors import HeadwiseError, escape_controls, explain_shortage
from headwise.version import VERSION

BROKEN_PIPE = 141
"""The exit code of a command that SIGPIPE ended; not every system has that signal."""
SIGNALLED = 128
"""A shell adds this to the number of the signal that ended a command."""
_NEARLY_A_COMMAND = 0.8
"""How alike a word and a command are, from 0 to 1, if the word is not taken for a file."""
_LONGEST_TEXT = 200
"""Characters of a text that are repeated in a suggestion."""


class _Commands(click.Group):
    """Print our own errors as one message and exit with 1; take text for `parse`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `parse` before a text, a file or a flag of `parse`: `headwise "Kids love candy."`."""
        is_command = not args or args[0] in self.commands
        if not is_command and (_is_for_parse(args[0]) or self._is_mistyped_file(args[0])):
            args = ["parse", *args]
        return super().parse_args(ctx, args)

    def _is_mistyped_file(self, argument: str) -> bool:
        """Return whether a name is more likely that of a file than that of a command."""
        close = get_close_matches(argument, self.commands, cutoff=_NEARLY_A_COMMAND)
        is_command = argument.isalpha() and bool(close)
        return argument[:1] != "-" and not is_command and looks_like_a_file(argument)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the command that was probably meant, or how to parse the words."""
        if not ctx.resilient_parsing and args[0] not in self.commands and args[0][:1] != "-":
            close = get_close_matches(args[0], self.commands)
            advice = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
            text = f"If it is text: {_as_text(args)}"
            ctx.fail(escape_controls(f"No such command {args[0]!r}. {advice}{text}"))
        return super().resolve_command(ctx, args)

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


def _is_for_parse(argument: str) -> bool:
    """Return whether a first argument, not a command, is something to parse."""
    flags = {flag for param in parse.params for flag in (*param.opts, *param.secondary_opts)}
    is_flag = argument.split("=", maxsplit=1)[0] in flags or argument[:2] in ("-m", "-o")
    is_text = any(map(str.isspace, argument)) and not argument.startswith("-")
    return argument == "-" or is_flag or is_text or os.path.exists(argument)


def _as_text(args: list[str]) -> str:
    """Write the command that parses words which were given without quotes."""
    words = list(takewhile(lambda one: one == "-" or one[:1] != "-", args))
    start = ["headwise"] if len(words) > 1 else ["headwise", "parse"]
    return join([*start, " ".join(words)[:_LONGEST_TEXT], *args[len(words) :]])


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
        show_trees,
        completion,
    ],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(VERSION, prog_name="headwise")
def main() -> None:
    """A dependency parser in which every word selects its head.

    Without a command, a text or a file is parsed.

    Example: headwise "Kids love candy."
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _end)


def _end(number: int, _: FrameType | None) -> None:
    """Exit as after an error, so that unfinished files are removed."""
    sys.exit(SIGNALLED + number)
