from pathlib import Path

import pytest

from headwise.cli import terminal
from headwise.cli.streams.inputs import ParseInput
from headwise.cli.streams.parse_run import follow
from headwise.cli.streams.tally import Counts, Reading, Tally


@pytest.fixture
def files(tmp_path: Path) -> list[ParseInput]:
    for name, size in (("a", 300), ("b", 100)):
        (tmp_path / name).write_bytes(b"x" * size)
    return [ParseInput(str(tmp_path / name), True, name) for name in "ab"]


def test_the_share_counts_bytes_of_sentences_that_are_done(files: list[ParseInput]) -> None:
    reading = Reading(files)
    assert reading.share_done(0) is None
    with follow(files[0].content, reading) as stream:
        assert not isinstance(stream, str)
        stream.read()
        assert list(reading.count("abc")) == ["a", "b", "c"]
        assert reading.share_done(1) == pytest.approx(300 / 400 / 3)
        assert reading.share_done(3) == pytest.approx(300 / 400)
    with follow(files[1].content, reading) as stream:
        assert reading.share_done(3) == pytest.approx(300 / 400)
    assert reading.share_done(3) == 1.0


@pytest.mark.parametrize(
    "other", [ParseInput("-", True), ParseInput("Kids.", False), ParseInput("no", True)]
)
def test_without_sizes_there_is_no_share(other: ParseInput, files: list[ParseInput]) -> None:
    reading = Reading([*files, other])
    list(reading.count("abc"))
    assert reading.share_done(1) is None
    with follow("-", reading) as stream:
        assert stream == "-"


def test_without_a_terminal_there_is_a_line_now_and_then(
    files: list[ParseInput], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "EVERY_LINE", 60.0)
    reading = Reading(files)
    tally = Tally(True, "conllu", reading)
    with follow(files[0].content, reading) as stream:
        assert not isinstance(stream, str)
        stream.read()
        list(reading.count(range(200)))
        tally.add(Counts({"greedy": 1}, 4, []))
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(terminal, "EVERY_LINE", 0.0)
        tally.add(Counts({}, 0, []))
        assert capsys.readouterr().err.startswith("0%, 1 sentence, 4 words, ")
        tally.add(Counts({"greedy": 99}, 396, []))
    line = capsys.readouterr().err
    assert line.startswith("37%, 0 s left, 100 sentences, 400 words, ")
    assert line.endswith(" words/s\n")
