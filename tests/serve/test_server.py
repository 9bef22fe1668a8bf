"""A server as a user runs it: a process of its own, ended by a signal."""

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from headwise.serve.metrics import METRICS_FOLDER
from headwise.serve.server import CHILD_SETTINGS, make_child_app
from headwise.settings.serving import ServeConfig
from tests.serve.made_servers import wait_until

TEXT = "Kids love candy, and every word selects its head. "
INSTALLED = """
from headwise.__main__ import run_command

if __name__ == "__main__":
    run_command()
"""
"""The command as a script: Python looks in its folder, and not in the current one."""


@contextmanager
def process(
    *flags: str, command: tuple[str, ...] = ("-m", "headwise"), cwd: Path | None = None
) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    arguments = [sys.executable, *command, "serve", "--port", "0", *flags]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, cwd=cwd) as running:
        try:
            assert running.stderr
            line = running.stderr.readline()
            found = re.fullmatch(r"headwise: serving en at (http://[0-9.]+:\d+)\n", line)
            assert found, line + running.stderr.read()
            yield found[1], running
        finally:
            running.kill()


def test_sigterm_under_load_loses_no_accepted_request() -> None:
    with process("--workers", "2", "--host", "0.0.0.0") as (url, running):
        assert running.stderr
        assert "without --token" in running.stderr.readline()
        outcomes: list[object] = []

        def hammer(n_sentences: int) -> None:
            # A connection each, so that none is cut between two requests.
            while True:
                try:
                    answer = httpx.post(
                        f"{url}/parse", json={"text": TEXT * n_sentences}, timeout=60
                    )
                except httpx.TransportError:  # not accepted any more
                    return
                outcomes.append(
                    (answer.status_code, len(answer.json()["sentences"]) == n_sentences)
                )

        threads = [threading.Thread(target=hammer, args=(n,)) for n in (1, 1, 5, 100, 300)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(outcomes) > 10)
        running.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join(60)
        log = running.stderr.read()
        assert running.wait(30) == -signal.SIGTERM  # which systemd takes for a good end
        answered = re.search(r"requests answered: (\d+)", log)
        assert answered, log
        assert set(outcomes) == {(200, True)}
        assert len(outcomes) == int(answered[1])
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/health")


def test_an_interrupt_ends_it_quietly() -> None:
    with process() as (url, running):
        kind = {"content-type": "multipart/form-data; boundary=x"}
        broken = httpx.post(f"{url}/process", content=b"--y", headers=kind)
        assert broken.status_code == 400
        running.send_signal(signal.SIGINT)
        assert running.stderr
        assert running.stderr.read() == "headwise: requests answered: 1\n"
        assert running.wait(30) == 0


@pytest.mark.slow
def test_processes_import_nothing_from_the_current_folder(tmp_path: Path) -> None:
    folder = tmp_path / "current"
    folder.mkdir()
    (folder / "multiprocessing.py").write_text("exit('foreign code')")
    command = tmp_path / "headwise"
    command.write_text(INSTALLED)
    with process("--processes", "2", command=(str(command),), cwd=folder) as (url, running):
        assert httpx.get(f"{url}/health", timeout=60).status_code == 200
        running.send_signal(signal.SIGTERM)
        assert running.stderr
        assert "foreign code" not in running.stderr.read()


def test_several_processes_share_a_port_and_count_together() -> None:
    """Scrapes of one counter gave 5, 5, 1, 5, since each process counted alone."""
    with process("--processes", "2", "--workers", "1") as (url, running):

        def is_up() -> bool:
            try:
                return httpx.get(f"{url}/health", timeout=10).status_code == 200
            except httpx.TransportError:
                return False

        wait_until(is_up, 30)
        wait_until(lambda: len(_children(running.pid)) >= 2, 30)
        for _ in range(20):  # a connection each, so that both processes get some
            answer = httpx.post(f"{url}/parse", json={"text": "Hi."}, timeout=30)
            assert answer.status_code == 200
        scrapes = {httpx.get(f"{url}/metrics", timeout=30).text for _ in range(8)}
        for line in (
            'headwise_requests_total{path="/parse",status="200"} 20.0',
            "headwise_sentences_total 20.0",
            "headwise_jobs 0.0",
        ):
            assert all(f"\n{line}\n" in scrape for scrape in scrapes)
        folder = _metrics_folder(running.pid)
        assert folder.stat().st_mode & 0o777 == 0o700
        running.send_signal(signal.SIGTERM)
        assert running.stderr
        assert "Traceback" not in running.stderr.read()
        assert running.wait(30) in (0, -signal.SIGTERM)
        assert not folder.exists()


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [int(child) for child in listed]


def _metrics_folder(pid: int) -> Path:
    """Find the folder in the environment of a child."""
    for child in _children(pid):
        environment = Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
        for entry in environment:
            if entry.startswith(METRICS_FOLDER.encode()):
                return Path(entry.partition(b"=")[2].decode())
    raise AssertionError("no folder")


def test_a_child_process_has_the_settings_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    handed = {"config": {"max_words": 7, "cors": ["https://a.b"]}, "models": ["en"]}
    monkeypatch.setenv(CHILD_SETTINGS, json.dumps(handed))
    interval = sys.getswitchinterval()
    app = make_child_app()
    sys.setswitchinterval(interval)
    assert app.state.service.config == ServeConfig(max_words=7, cors=("https://a.b",))
    assert list(app.state.service.models.parsers) == ["en"]
    app.state.service.close()
