"""Workers that die: a child of `parse`, a Ray worker of `corpus`."""

import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from bench.corpus import descendants, is_worker
from tests.faults.conftest import Command
from tests.faults.made_faults import read_tree, require_message, run, start

SECONDS = 60


def children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in listed.split()]


def test_a_child_of_parse_dies(tmp_path: Path) -> None:
    arguments = ("parse", "--processes", 2, "--input", "lines", "-o", "out")
    with start(*arguments, cwd=tmp_path, stdin=subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.write(b"Kids love candy.\n")
        process.stdin.flush()
        deadline = time.monotonic() + SECONDS
        while len(children(process.pid)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(children(process.pid)[0], signal.SIGKILL)
        _, stderr = process.communicate(b"Kids love candy.\n" * 2_000, timeout=SECONDS)
    assert process.returncode == 1
    require_message(stderr.decode(), "code -9")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["corpus"], indirect=True)
def test_a_ray_worker_dies(command: Command, tmp_path: Path) -> None:
    arguments = [2 if argument == 0 else argument for argument in command.arguments]
    with start(*arguments, cwd=tmp_path) as process:
        deadline = time.monotonic() + SECONDS
        while not (workers := [pid for pid in descendants(process.pid) if is_worker(pid)]):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        os.kill(workers[0], signal.SIGKILL)
        _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, stderr
    assert b"Traceback" not in stderr
    assert read_tree(tmp_path / "out") == command.expected


# Without memory, Ray's own library may abort the process, or write a traceback at its end.
@pytest.mark.parametrize("command", ["corpus"], indirect=True)
def test_ray_has_too_few_descriptors_to_start(command: Command, tmp_path: Path) -> None:
    arguments = [2 if argument == 0 else argument for argument in command.arguments]
    code, stderr = run(*arguments, cwd=tmp_path, limits={resource.RLIMIT_NOFILE: 60})
    assert code == 1
    require_message(stderr, "ulimit -n")
    command.require_same(tmp_path)
