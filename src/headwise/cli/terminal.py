"""What all commands share: examples in the help, output to stdout, a progress line."""

import sys
import time

import click

from headwise.files import standard, writing

EVERY = 0.2
"""Seconds between two updates of the progress line."""
EVERY_LINE = 30.0
"""Seconds between two lines of progress where stderr is a file or a pipe."""


def help_examples(*lines: str) -> str:
    """Write the examples at the end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def put(text: str | bytes) -> None:
    """Write text and one line end to stdout; a failure becomes a clear error."""
    shown = text.decode() if isinstance(text, bytes) else text
    with writing("<stdout>", "is there enough space on the disk?"):
        click.echo(shown.rstrip("\n"), file=standard(sys.stdout, "<stdout>"))


class ProgressLine:
    """One line on stderr that is overwritten; shown on a terminal only, unless asked for."""

    def __init__(self, also_in_logs: bool = False) -> None:
        """Check once whether stderr is a terminal; if asked for, others get a line now and then."""
        self._also_in_logs = also_in_logs
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._last = 0.0 if self._is_terminal else time.monotonic()
        self._width = 0

    def show(self, text: str) -> None:
        """Show a text, unless the last one is too recent."""
        now = time.monotonic()
        if now - self._last < (EVERY if self._is_terminal else EVERY_LINE):
            return
        self._last = now
        if self._is_terminal:
            self._write(text)
        elif self._also_in_logs:
            click.echo(text, err=True)

    def clear(self) -> None:
        """Remove the line, so that something else can be printed."""
        if self._width:
            self._write("")
            self._width = 0

    def _write(self, text: str) -> None:
        click.echo("\r" + text.ljust(self._width) + ("" if text else "\r"), nl=False, err=True)
        self._width = len(text)


def duration(seconds: float) -> str:
    """Write a duration for people: `8 s`, `2 min 5 s`, `1 h 3 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
