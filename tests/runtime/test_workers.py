"""Processes share work in order; one that fails or dies ends it with an error, and none is left."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from headwise.errors import ConfigError, DataError, HeadwiseError
from headwise.runtime.workers import FileLock, map_in_processes, require_fork


def double(item: bytes) -> bytes:
    """Return an item twice; some items tell the process to do something else instead."""
    if item == b"refuse":
        raise DataError("no", "letters", 2, "leave it out")
    if item == b"fail":
        raise OSError("not of the pipe")
    if item == b"die":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep({b"slow": 0.02, b"wait": 600}.get(item[:4], 0))
    return item + item


def nobody_is_left() -> bool:
    return not multiprocessing.active_children()


@pytest.mark.parametrize("n_processes", [1, 2, 5])
def test_answers_come_in_the_order_of_items(n_processes: int) -> None:
    items = [b"slow%d" % i if i % 3 == 0 else b"%d" % i for i in range(40)]
    assert list(map_in_processes(double, items, n_processes)) == [item * 2 for item in items]
    assert nobody_is_left()


@pytest.mark.parametrize("items", [[], [bytes([i]) * 3_000_000 for i in range(6)]], ids=len)
def test_there_may_be_no_items_or_large_ones(items: list[bytes]) -> None:
    assert list(map_in_processes(double, items, 2)) == [item * 2 for item in items]


def test_items_are_taken_as_they_are_needed() -> None:
    taken = []

    def endless() -> Iterator[bytes]:
        while True:
            taken.append(1)
            yield b"x"

    answers = map_in_processes(double, endless(), 2)
    assert [next(answers) for _ in range(10)] == [b"xx"] * 10
    answers.close()  # type: ignore[attr-defined]
    assert len(taken) <= 10 + 2 * 2
    assert nobody_is_left()


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (b"refuse", r"letters:2: no\nhint: leave it out\Z"),
        (b"die", r"a process ended early, with code -9\nhint: is there enough memory"),
        (b"fail", r"a process ended early, with code 1\Z"),
    ],
)
def test_an_error_in_a_child_is_raised_in_its_place(
    item: bytes, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    answers = map_in_processes(double, [b"a", item, b"c", b"d"], 2)
    assert next(answers) == b"aa"
    with pytest.raises(HeadwiseError, match=message):
        next(answers)
    assert ("OSError: not of the pipe" in capfd.readouterr().err) == (item == b"fail")
    assert nobody_is_left()


def test_an_error_of_the_items_comes_after_all_answers() -> None:
    def items() -> Iterator[bytes]:
        yield from (b"1", b"2", b"3")
        raise EOFError("damaged")

    answers = map_in_processes(double, items(), 2)
    assert [next(answers) for _ in range(3)] == [b"11", b"22", b"33"]
    with pytest.raises(EOFError, match="damaged"):
        next(answers)
    assert nobody_is_left()


def test_a_message_that_is_not_unicode_arrives_escaped() -> None:
    def refuse(item: bytes) -> bytes:
        raise DataError(item.decode(), "bad\udcff.conllu", 7, "\udcff")

    with pytest.raises(HeadwiseError, match=r"bad\\udcff.conllu:7: x\nhint: \\udcff"):
        list(map_in_processes(refuse, [b"x"], 2))


def test_a_lock_has_one_holder_at_a_time_and_is_released_if_it_dies() -> None:
    lock = FileLock()
    begun, counted = multiprocessing.get_context("fork").Pipe()

    def work(item: bytes) -> bytes:
        with lock:
            begun.send_bytes(item)
            if item == b"die":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.05)
            begun.send_bytes(item)
        return item

    with pytest.raises(HeadwiseError, match="with code -9"):
        list(map_in_processes(work, [b"1", b"2", b"3", b"die", b"4", b"5"], 2))
    lock.close()
    seen = []
    while counted.poll():
        seen.append(counted.recv_bytes())
    counted.close()
    begun.close()
    finished = [item for item in seen if item != b"die"]
    pairs = list(zip(finished[::2], finished[1::2], strict=False))
    assert all(one == other for one, other in pairs)
    assert len(pairs) >= 3


def test_processes_that_do_not_start_are_named() -> None:
    code = (
        "import resource\n"
        "from headwise.errors import HeadwiseError\n"
        "from headwise.runtime.workers import map_in_processes\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))\n"
        "try:\n"
        "    list(map_in_processes(bytes, [b'x'], 30))\n"
        "except HeadwiseError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "of 30 cannot start: Too many open files\nhint: try fewer --processes" in done.stdout


def test_after_an_error_no_child_is_waited_for() -> None:
    began = time.monotonic()
    with pytest.raises(HeadwiseError, match="letters:2"):
        list(map_in_processes(double, [b"refuse", b"wait"], 2))
    assert time.monotonic() - began < 60
    assert nobody_is_left()


def test_children_end_with_a_parent_that_is_killed() -> None:
    code = (
        "import os, sys, time\n"
        "from headwise.runtime.workers import map_in_processes\n"
        "work = lambda item: str(os.getpid()).encode()\n"
        "for pid in map_in_processes(work, iter(lambda: b'x', None), 3):\n"
        "    print(pid.decode(), flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        pids = {int(parent.stdout.readline()) for _ in range(60)}
        parent.kill()
    deadline = time.monotonic() + 30
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline, pids
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_without_fork_there_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with pytest.raises(ConfigError, match="use --threads"):
        require_fork()


SIGNALLED_AS_IT_FORKS = """
import os, signal, sys
from headwise.runtime.workers import map_in_processes
signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
os.register_at_fork(before=lambda: os.kill(os.getpid(), signal.SIGTERM))
print(list(map_in_processes(bytes.upper, [b"a"], 2)))
"""


def test_a_signal_that_comes_during_a_fork_is_not_lost() -> None:
    command = [sys.executable, "-c", SIGNALLED_AS_IT_FORKS]
    ended = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (143, b"", b"")
