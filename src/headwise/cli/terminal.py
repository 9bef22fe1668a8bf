"""What all commands share: examples in the help, and a line of progress on a terminal."""

import sys
import time

import click

from headwise.files import standard, writing

EVERY = 0.2
"""Seconds between two states of the progress line."""


def help_examples(*lines: str) -> str:
    """Write the examples at the end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def put(text: str | bytes) -> None:
    """Write text to stdout, and one line end after it; where that cannot be, say why."""
    shown = text.decode() if isinstance(text, bytes) else text
    with writing("<stdout>", "is there room where it goes?"):
        click.echo(shown.rstrip("\n"), file=standard(sys.stdout, "<stdout>"))


class ProgressLine:
    """One line on stderr that is written over, on a terminal only."""

    def __init__(self) -> None:
        """Look once whether there is a terminal to write to."""
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._last = 0.0
        self._width = 0

    def show(self, text: str) -> None:
        """Show a state, unless the last one is too young."""
        now = time.monotonic()
        if self._is_terminal and now - self._last >= EVERY:
            self._write(text)
            self._last = now

    def clear(self) -> None:
        """Take the line away, so that something else can be written there."""
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
