"""What `headwise train` shows: the reports of a run, each with the time that its phase still takes.

On a terminal a line in the making shows the batches of an epoch. Elsewhere, as in a log, such a
line is written once a minute.
"""

import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from headwise.cli.terminal import ProgressLine, duration

if TYPE_CHECKING:
    from headwise.learn.fit.reports import Report

LOG_EVERY = 60.0
"""Seconds between two lines of progress without a terminal."""


class PhaseClock:
    """Estimates the rest of a phase from the last of its parts: epochs, or columns."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin the phase, and its first part."""
        self._clock = clock
        self._started = clock()
        self._last: float | None = None

    def part_done(self, n_left: int) -> float:
        """End a part; return the seconds for `n_left` more."""
        now = self._clock()
        self._last, self._started = now - self._started, now
        return self._last * n_left

    def within(self, share: float, n_left: int) -> float:
        """Return the seconds for the rest of a part, done to `share`, and for `n_left` more."""
        elapsed = self._clock() - self._started
        whole = max(elapsed, self._last) if self._last is not None else elapsed / share
        return whole - elapsed + whole * n_left


def show_reports(
    reports: "Iterable[Report]",
    log_every: float = LOG_EVERY,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Show the reports of a run on stderr, until it ends."""
    from headwise.learn.fit.reports import (
        CalibrationReport,
        EpochReport,
        PhaseReport,
        SegmentReport,
        StepReport,
    )

    progress = ProgressLine()
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    phase = PhaseClock(clock)
    n_epochs_left, written_at = 0, clock()
    for report in reports:
        seconds = 0.0
        if isinstance(report, StepReport):
            n_epochs_left = report.n_epochs - report.epoch
            left = phase.within(report.n_done / report.n_batches, n_epochs_left)
            line = f"{report.line()}  {_left(left)}"
            progress.show(line)
            if is_terminal or clock() - written_at < log_every:
                continue
        else:
            if isinstance(report, PhaseReport):
                phase = PhaseClock(clock)
            elif isinstance(report, EpochReport):
                seconds = phase.part_done(n_epochs_left)
            elif isinstance(report, SegmentReport):
                seconds = phase.part_done(report.n_epochs - report.epoch)
            elif isinstance(report, CalibrationReport):
                seconds = phase.part_done(report.n_left)
            progress.clear()
            line = report.line() + (f"  {_left(seconds)}" if seconds else "")
        click.echo(line, err=True)
        written_at = clock()
    progress.clear()


def _left(seconds: float) -> str:
    return f"at most {duration(seconds)} left"
