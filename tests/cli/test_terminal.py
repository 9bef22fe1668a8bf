import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from headwise.cli.terminal import ProgressLine, duration

SAMPLE = Path(__file__).parent.parent / "fixtures" / "ewt-dev-100.conllu"


@pytest.mark.parametrize(
    ("seconds", "text"), [(7.6, "8 s"), (125, "2 min 5 s"), (3780, "1 h 3 min")]
)
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_progress_line_writes_over_itself_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    silent = ProgressLine()
    silent.show("nothing")
    silent.clear()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("headwise.cli.terminal.EVERY", 0.0)
    line = ProgressLine()
    line.show("a long state")
    line.show("short")
    line.clear()
    assert capsys.readouterr().err == "\ra long state\rshort       \r     \r"
    monkeypatch.setattr("headwise.cli.terminal.EVERY", 60.0)
    line.show("too soon")
    assert capsys.readouterr().err == ""


def test_parse_shows_progress_on_a_real_terminal(tiny_run: Path, tmp_path: Path) -> None:
    big = tmp_path / "big.conllu"
    big.write_bytes(SAMPLE.read_bytes() * 10)
    terminal, child = pty.openpty()
    command = [sys.executable, "-m", "headwise", "parse", "-m", tiny_run, big]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=child) as process:
        os.close(child)
        shown = b""
        try:
            while data := os.read(terminal, 1024):
                shown += data
        except OSError:  # Linux: the other end is closed
            pass
        assert process.wait(60) == 0
    os.close(terminal)
    assert b"\r" in shown
    assert b"words/s" in shown
