"""Each phase shows how long it still takes, on a terminal and in a log."""

from collections.abc import Iterator

import pytest

from headwise.cli.training_progress import PhaseClock, show_reports
from headwise.learn.fit.reports import (
    CalibrationReport,
    EpochReport,
    PhaseReport,
    Report,
    SegmentReport,
    StepReport,
)
from headwise.learn.segment.score import SegmentScores


class Clock:
    """A clock that the test winds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_clock_goes_by_the_last_part_or_by_the_share_that_is_done() -> None:
    clock = Clock()
    phase = PhaseClock(clock)
    clock.now = 2
    assert phase.within(0.25, 3) == 6 + 3 * 8
    clock.now = 10
    assert phase.part_done(3) == 30
    clock.now = 14
    assert phase.within(0.5, 2) == 6 + 2 * 10
    clock.now = 25  # longer than the last one
    assert phase.within(0.9, 2) == 2 * 15


def reports(clock: Clock) -> Iterator[Report]:
    """Make the reports of a run; each thing takes a minute."""

    def after_a_minute(report: Report) -> Report:
        clock.now += 60
        return report

    yield PhaseReport(1, 3, "words in text")
    scores = SegmentScores(99.0, 98.0, 90.0)
    for epoch in (1, 2):
        yield after_a_minute(SegmentReport(epoch, 2, 0.5, scores, scores, None))  # type: ignore[arg-type]
    yield PhaseReport(2, 3, "heads")
    for epoch in (1, 2):
        yield after_a_minute(StepReport("adam", epoch, 3, 20, 40, 1.5))
        yield after_a_minute(StepReport("adam", epoch, 3, 40, 40, 1.5))
        yield EpochReport(
            phase="adam", epoch=epoch, loss=1.5, dev_uas=80, tree_rate=90, is_best=True, seconds=120
        )
    yield PhaseReport(3, 3, "probabilities")
    yield after_a_minute(CalibrationReport("heads", 1.1, 2.0, 1.0, 2))


def test_a_log_has_the_time_left_of_every_phase(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    show_reports(reports(clock), log_every=60, clock=clock)
    lines = capsys.readouterr().err.splitlines()
    left = [line.partition("  at most ")[2] or line.split("  ")[0] for line in lines]
    assert left == [
        "1/3 words in text", "1 min 0 s left", "words in text 2/2",
        "2/3 heads", "5 min 0 s left", "4 min 0 s left", "4 min 0 s left",
        "3 min 0 s left", "2 min 0 s left", "2 min 0 s left",
        "3/3 probabilities", "2 min 0 s left",
    ]  # fmt: skip


def test_a_log_leaves_out_what_follows_too_soon(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    show_reports(reports(clock), log_every=1000, clock=clock)
    assert "50%" not in capsys.readouterr().err
