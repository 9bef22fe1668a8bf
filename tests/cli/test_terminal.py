import subprocess
from pathlib import Path

import pytest
from invoked import on_terminal

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
    large = tmp_path / "large.conllu"
    large.write_bytes(SAMPLE.read_bytes() * 10)
    shown = on_terminal("parse", "-m", tiny_run, large, stdout=subprocess.DEVNULL)
    assert "\r" in shown
    assert "words/s" in shown
