"""The parts of the bench that need no other parser."""

import time
from pathlib import Path

import pytest

from bench.speed.__main__ import _row, baseline_of
from bench.speed.own import run
from bench.speed.peers.common import Columns, sentences, timed_run, write
from bench.speed.report import Row, plot, stage_table, table
from bench.speed.stages import ORDER, Stopwatch, measure
from bench.speed.systems import System

SAMPLE = Path(__file__).parent.parent.parent / "fixtures" / "ewt-dev-100.conllu"


def test_sentences_are_written_with_new_heads(tmp_path: Path) -> None:
    read = list(sentences(SAMPLE))
    parsed = [Columns([], [], [0] * len(forms), ["x"] * len(forms)) for _, _, forms in read]
    out = tmp_path / "out.conllu"
    n_words = write(out, parsed, [(lines, rows) for lines, rows, _ in read])
    again = list(sentences(out))
    assert [forms for _, _, forms in again] == [forms for _, _, forms in read]
    assert n_words == sum(len(forms) for _, _, forms in read)
    assert all(lines[i].split("\t")[6:8] == ["0", "x"] for lines, rows, _ in again for i in rows)


def test_text_is_written_from_its_forms(tmp_path: Path) -> None:
    out = tmp_path / "out.conllu"
    assert write(out, [Columns(["Kids", "run"], ["N", "V"], [2, 0], ["nsubj", "root"])]) == 2
    assert [forms for _, _, forms in sentences(out)] == [["Kids", "run"]]


def test_loading_is_timed_separately() -> None:
    found = timed_run(lambda: time.sleep(0.05), lambda _: 7)
    assert found["load"] >= 0.05 > found["seconds"]
    assert found["words"] == 7
    assert found["peak"] > 1


def test_an_inner_step_is_not_counted_twice() -> None:
    watch = Stopwatch()
    watch.enter("outer")
    watch.enter("inner")
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    watch.leave()
    watch.leave()
    assert watch.seconds["inner"] >= 0.05 > watch.seconds["outer"]


@pytest.mark.parametrize("what", ["conllu", "text"])
def test_our_parser_goes_through_all_steps(what: str, full_run: Path, tmp_path: Path) -> None:
    data = SAMPLE.read_bytes() if what == "conllu" else b"Kids love candy. So do I."
    source = tmp_path / "in"
    source.write_bytes(data)
    written = []
    for threads, processes in ((2, 1), (1, 2)):
        found = run(str(full_run), threads, processes, source, tmp_path / "out", what)  # type: ignore[arg-type]
        assert found["words"] > 5
        written.append((tmp_path / "out").read_bytes())
    assert written[0] == written[1]
    steps = measure(str(full_run), data, what)  # type: ignore[arg-type]
    assert set(steps) == set(ORDER)
    read = "read" if what == "conllu" else "segment"
    assert all(steps[step] > 0 for step in (read, "look up", "represent", "select", "label"))


@pytest.fixture
def rows() -> list[Row]:
    first: Row = {"name": "headwise en", "what": "conllu", "threads": 1, "processes": 1}
    first |= {"words": 2000.0, "cpu_words": 2000.0, "times": 1.0}
    first |= {"load": 0.5, "peak": 100.0, "size": 150.0}
    two_processes = first | {"processes": 2, "words": 3000.0, "times": 0.67}
    other = first | {"name": "other", "words": 500.0, "cpu_words": 500.0, "times": 4.0}
    return [first, two_processes, other]


def test_tables_are_in_markdown(rows: list[Row]) -> None:
    assert "| other | gold tokens | 1 thread | 500 | 500 | 4.00 | 0.50 | 100 | 150 |" in table(rows)
    assert "| headwise en | gold tokens | 2 processes | 3,000 | 2,000 | 0.67 |" in table(rows)
    stages = stage_table({"en": dict.fromkeys(ORDER, 1.0)})
    assert "| sum | 9.0 (100%) |" in stages


def test_the_plot_is_drawn(rows: list[Row], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plot(rows, tmp_path / "speed.png")
    assert (tmp_path / "speed.png").stat().st_size > 1_000


def test_runs_of_the_same_round_are_compared() -> None:
    systems = [System("en", "conllu", ()), System("en", "conllu", (), 2), System("x", "conllu", ())]
    assert [baseline_of(systems, i) for i in range(3)] == [0, 0, 0]
    base = [{"seconds": s, "cpu": s, "words": 10, "load": 0, "peak": 1} for s in (1.0, 2.0, 1.0)]
    own = [one | {"cpu": 3 * one["cpu"]} for one in base[:2]]  # a slow one has fewer rounds
    assert _row(systems[2], own, base)["times"] == 3.0
