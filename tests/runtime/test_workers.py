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
    time.sleep(0.02 if item.startswith(b"slow") else 0)
    return item + item


def refuse_b(item: bytes) -> bytes:
    if item == b"b":
        raise DataError("no b", "letters", 2, "leave it out")
    return item


def die_at_b(item: bytes) -> bytes:
    if item == b"b":
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def wait_for_ever(item: bytes) -> bytes:
    if item == b"wait":
        time.sleep(600)
    return refuse_b(item)


def break_at_b(item: bytes) -> bytes:
    if item == b"b":
        raise OSError("not of the pipe")
    return item


def nobody_is_left() -> bool:
    return not multiprocessing.active_children()


@pytest.mark.parametrize("n_processes", [1, 2, 5])
def test_answers_come_in_the_order_of_items(n_processes: int) -> None:
    items = [b"slow%d" % i if i % 3 == 0 else b"%d" % i for i in range(40)]
    assert list(map_in_processes(double, items, n_processes)) == [item * 2 for item in items]
    assert nobody_is_left()


def test_no_items_give_no_answers() -> None:
    assert list(map_in_processes(double, [], 2)) == []


def test_large_items_pass_in_both_directions() -> None:
    items = [bytes([i]) * 3_000_000 for i in range(6)]
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


def test_an_error_comes_at_its_place_in_the_words_of_the_child() -> None:
    answers = map_in_processes(refuse_b, [b"a", b"b", b"c"], 2)
    assert next(answers) == b"a"
    with pytest.raises(HeadwiseError, match="letters:2: no b\nhint: leave it out"):
        next(answers)
    assert nobody_is_left()


def test_a_process_that_dies_is_an_error_and_no_wait() -> None:
    answers = map_in_processes(die_at_b, [b"a", b"b", b"c", b"d"], 2)
    with pytest.raises(HeadwiseError, match="a process ended early, with code -9"):
        list(answers)
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


def test_a_mistake_of_the_work_is_shown_and_no_end_of_the_pipe(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(HeadwiseError, match=r"with code 1\Z"):
        list(map_in_processes(break_at_b, [b"a", b"b"], 1))
    assert "OSError: not of the pipe" in capfd.readouterr().err


def test_a_message_that_is_no_unicode_arrives() -> None:
    def refuse(item: bytes) -> bytes:
        raise DataError(item.decode(), "bad\udcff.conllu", 7, "\udcff")

    with pytest.raises(HeadwiseError, match=r"bad\\udcff.conllu:7: x\nhint: \\udcff"):
        list(map_in_processes(refuse, [b"x"], 2))


def test_a_turn_is_one_at_a_time_and_ends_with_its_holder() -> None:
    turn = FileLock()
    begun, counted = multiprocessing.get_context("fork").Pipe()

    def work(item: bytes) -> bytes:
        with turn:
            begun.send_bytes(item)
            if item == b"die":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.05)
            begun.send_bytes(item)
        return item

    with pytest.raises(HeadwiseError, match="with code -9"):
        list(map_in_processes(work, [b"1", b"2", b"3", b"die", b"4", b"5"], 2))
    turn.close()
    seen = []
    while counted.poll():
        seen.append(counted.recv_bytes())
    told = [item for item in seen if item != b"die"]
    counted.close()
    begun.close()
    pairs = list(zip(told[::2], told[1::2], strict=False))
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


def test_after_an_error_nobody_is_waited_for() -> None:
    began = time.monotonic()
    with pytest.raises(HeadwiseError, match="no b"):
        list(map_in_processes(wait_for_ever, [b"b", b"wait"], 2))
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
