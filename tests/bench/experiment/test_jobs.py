import fcntl
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from bench.experiment.jobs import (
    Event,
    Failed,
    Finished,
    Job,
    Lane,
    Locked,
    OutOfTime,
    Started,
    Step,
    run_jobs,
)

TWO: dict[Lane, int] = {"device": 2, "cpu": 2}
WRITE = "import sys; open(sys.argv[1], 'a').write('x')"


def made_job(tmp_path: Path, name: str, *codes: str, lane: Lane = "cpu") -> Job:
    folder = tmp_path / name
    steps = tuple(
        Step(
            f"step {i}", (sys.executable, "-c", code, str(folder / f"out-{i}")), folder / f"out-{i}"
        )
        for i, code in enumerate(codes)
    )
    return Job(name, lane, folder, tmp_path / f"{name}.log", steps)


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_steps_run_in_order_and_their_time_is_saved(tmp_path: Path) -> None:
    job = made_job(tmp_path, "one", WRITE, WRITE)
    events = list(run_jobs([job], TWO))
    assert kinds(events) == ["Started", "Finished"]
    assert isinstance(events[1], Finished)
    assert list(events[1].seconds) == ["step 0", "step 1"]
    assert json.loads((job.folder / "seconds.json").read_text()) == dict(events[1].seconds)


def test_finished_steps_are_skipped(tmp_path: Path) -> None:
    job = made_job(tmp_path, "one", WRITE, WRITE)
    list(run_jobs([job], TWO))
    (job.folder / "out-1").unlink()
    (job.folder / "seconds.json").write_text("{")  # unreadable: times start from zero
    assert kinds(list(run_jobs([job], TWO))) == ["Started", "Finished"]
    assert (job.folder / "out-0").read_text() == "x"
    assert (job.folder / "out-1").read_text() == "x"


def test_a_failed_step_ends_only_its_own_job(tmp_path: Path) -> None:
    bad = made_job(tmp_path, "bad", "import sys; sys.exit('no luck')", WRITE)
    good = made_job(tmp_path, "good", WRITE)
    events = list(run_jobs([bad, good], TWO))
    assert [event.reason for event in events if isinstance(event, Failed)] == [
        "step 0 exited with 1"
    ]
    assert [event.job for event in events if isinstance(event, Finished)] == [good]
    assert "no luck" in bad.log_path.read_text()
    assert not (bad.folder / "out-1").exists()


def test_a_step_that_writes_nothing_has_failed(tmp_path: Path) -> None:
    job = made_job(tmp_path, "idle", "pass")
    assert list(run_jobs([job], TWO)) == [Started(job), Failed(job, "step 0 did not write out-0")]


def test_each_lane_has_its_limit(tmp_path: Path) -> None:
    many = [made_job(tmp_path, f"job-{i}", WRITE, lane="device") for i in range(4)]
    running = most = 0
    for event in run_jobs(many, {"device": 2, "cpu": 0}):
        running += 1 if isinstance(event, Started) else -1
        most = max(most, running)
    assert most == 2
    other = made_job(tmp_path, "other", WRITE)
    assert list(run_jobs([other], {"device": 1, "cpu": 0})) == []


def test_after_the_deadline_jobs_are_stopped_and_can_be_resumed(tmp_path: Path) -> None:
    wait = (
        f"import sys, time\nif not open({str(tmp_path / 'go')!r}).read(): time.sleep(60)\n{WRITE}"
    )
    (tmp_path / "go").write_text("")
    long, after = made_job(tmp_path, "long", WRITE, wait), made_job(tmp_path, "after", WRITE)
    started = time.monotonic()
    events = list(run_jobs([long, after], {"device": 1, "cpu": 1}, started + 1.0))
    assert time.monotonic() - started < 8
    assert events[-1] == OutOfTime((long, after))
    assert (long.folder / "out-0").exists()
    seconds = json.loads((long.folder / "seconds.json").read_text())["step 1"]
    (tmp_path / "go").write_text("now")
    events = list(run_jobs([long, after], TWO))
    assert kinds(events).count("Finished") == 2
    assert (long.folder / "out-0").read_text() == "x"
    assert json.loads((long.folder / "seconds.json").read_text())["step 1"] >= seconds


def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    deaf = "import signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    job = made_job(tmp_path, "deaf", deaf + "open(sys.argv[1] + '.up', 'w')\ntime.sleep(60)")
    started = time.monotonic()
    for event in run_jobs([job], TWO, started + 1.5, grace=0.2):
        assert isinstance(event, Started | OutOfTime)
    assert (job.folder / "out-0.up").exists()
    assert time.monotonic() - started < 8


def test_a_job_locked_by_another_call_is_waited_for(tmp_path: Path) -> None:
    job = made_job(tmp_path, "shared", WRITE)
    job.folder.mkdir()
    with (job.folder / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        events = run_jobs([job], TWO)
        assert next(events) == Locked(job)
    assert kinds(list(events)) == ["Started", "Finished"]


def test_a_job_waits_for_the_files_it_needs(tmp_path: Path) -> None:
    first = made_job(tmp_path, "first", WRITE)
    second = replace(made_job(tmp_path, "second", WRITE), needs=(first.folder / "out-0",))
    events = list(run_jobs([second, first], TWO))
    names = [(type(event).__name__, event.job.name) for event in events]  # type: ignore[union-attr]
    assert names[0] == ("Started", "first")
    assert set(names[1:3]) == {("Finished", "first"), ("Started", "second")}
    assert names[3:] == [("Finished", "second")]


def test_a_job_fails_if_a_job_it_needs_failed(tmp_path: Path) -> None:
    first = made_job(tmp_path, "first", "raise SystemExit(3)")
    second = replace(made_job(tmp_path, "second", WRITE), needs=(first.folder / "out-0",))
    events = list(run_jobs([first, second], TWO))
    assert kinds(events) == ["Started", "Failed", "Failed"]
    assert isinstance(events[-1], Failed)
    assert events[-1].reason == f"{first.folder / 'out-0'} does not exist, and no job writes it"
    assert not second.folder.exists()
