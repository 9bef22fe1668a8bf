"""A server under faults: every answer is right or a clear refusal, and it recovers."""

import http.client
import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.made_faults import (
    MEBIBYTE,
    Limits,
    full_disk,
    read_only_disk,
    require_message,
    run,
    start,
)
from tests.faults.test_workers import children

SECONDS = 30


class Server:
    """A server in a process of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]", address: tuple[str, int]) -> None:
        self.process, self.address = process, address

    def parse(self, **body: object) -> tuple[int, list[int]]:
        """Send a request; give the status and the heads."""
        connection = http.client.HTTPConnection(*self.address, timeout=SECONDS)
        kind = {"Content-Type": "application/json"}
        connection.request("POST", "/parse", json.dumps(body), kind)
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        sentences = answer.get("sentences", [])
        return response.status, [word["head"] for one in sentences for word in one["words"]]

    def parse_until_right(self) -> None:
        """Send requests until one is answered; processes may be starting."""
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                assert self.parse(text="Kids love candy.") == (200, [2, 0, 2, 2])
                return
            except (OSError, http.client.HTTPException):
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """End it; give the exit code and the rest of what it wrote to stderr."""
        self.process.send_signal(number)
        _, stderr = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, stderr.decode()


@contextmanager
def serving(
    folder: Path,
    *flags: object,
    limits: Limits | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    arguments = ("serve", "--port", 0, "--workers", 1, *flags)
    with start(*arguments, cwd=folder, limits=limits, environment=environment) as process:
        try:
            assert process.stderr
            line = process.stderr.readline().decode()
            found = re.search(r"at http://([0-9.]+):(\d+)", line)
            assert found, line + process.stderr.read().decode()
            yield Server(process, (found[1], int(found[2])))
        finally:
            process.kill()


def test_too_little_memory_to_start(tmp_path: Path) -> None:
    limits = {resource.RLIMIT_AS: 200 * MEBIBYTE}
    code, stderr = run("serve", "--port", 0, cwd=tmp_path, limits=limits)
    assert code == 1
    require_message(stderr, "not enough memory")


def test_too_little_memory_to_answer(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.parse_until_right()
        status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
        found = re.search(r"VmSize:\s+(\d+) kB", status)
        assert found
        hard = resource.prlimit(server.process.pid, resource.RLIMIT_AS)[1]
        limit = int(found[1]) * 512
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, (limit, hard))
        statuses = {server.parse(tokens=[["word"] * 1_400])[0] for _ in range(3)}
        assert {503} <= statuses <= {200, 503}  # what was freed before may suffice
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, (hard, hard))
        server.parse_until_right()
        code, stderr = server.stop()
    assert code == -signal.SIGTERM
    assert stderr == "headwise: requests answered: 5\n"


def test_too_few_descriptors(tmp_path: Path) -> None:
    with serving(tmp_path, limits={resource.RLIMIT_NOFILE: 24}) as server:
        held = [socket.create_connection(server.address) for _ in range(40)]
        time.sleep(0.5)  # so that the server accepts as many as it can
        for connection in held:
            connection.close()
        server.parse_until_right()
        code, stderr = server.stop()
    assert code == -signal.SIGTERM
    assert "Traceback" not in stderr


@pytest.mark.parametrize("is_full", [True, False], ids=["full", "read-only"])
def test_no_room_for_temporary_files(tmp_path: Path, is_full: bool) -> None:
    with full_disk(tmp_path / "disk", 16) if is_full else read_only_disk(tmp_path / "disk") as disk:
        if disk is None or disk.limits:
            pytest.skip("nothing can be mounted here")
        environment = {"TMPDIR": str(disk.folder)}
        with serving(tmp_path, "--processes", 2, environment=environment) as server:
            server.parse_until_right()
            code, stderr = server.stop()
        assert code in (0, -signal.SIGTERM)
        assert "Traceback" not in stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_signal_at_a_random_moment(tmp_path: Path, number: signal.Signals) -> None:
    moment = random.Random(number).uniform(0, 0.5)
    with serving(tmp_path) as server:
        time.sleep(moment)
        code, stderr = server.stop(number)
    assert code == (0 if number == signal.SIGINT else -number)
    assert "Traceback" not in stderr
    assert list(tmp_path.iterdir()) == []


def test_a_process_dies(tmp_path: Path) -> None:
    with serving(tmp_path, "--processes", 2) as server:
        server.parse_until_right()
        for _ in range(2):
            workers = [
                pid
                for pid in children(server.process.pid)
                if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
            ]
            os.kill(workers[0], signal.SIGKILL)
            server.parse_until_right()
        code, stderr = server.stop()
    assert code in (0, -signal.SIGTERM)
    assert "Traceback" not in stderr
