"""Standard streams that are full or closed, and signals: one message, and nothing left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parent.parent / "fixtures" / "ewt-dev-100.conllu"


@pytest.mark.parametrize(
    "arguments", [("parse", SAMPLE), ("info", "en"), ("evaluate", SAMPLE, SAMPLE)]
)
def test_full_disk_is_one_clear_error(arguments: tuple[object, ...]) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "headwise", *map(str, arguments)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"headwise: <stdout>: No space left")
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_a_reader_that_goes_away_ends_the_command_silently() -> None:
    command = [sys.executable, "-m", "headwise", "parse", SAMPLE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr  # noqa: PT018
        process.stdout.close()
        message = process.stderr.read()
    assert (process.returncode, message) == (128 + signal.SIGPIPE, b"")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("parse 'Kids play.' >&-", b"stdout"),
        ("parse <&-", b"stdin"),
        ("convert --from conllu --to conllx - >&-", b"stdout"),
        ("info en >&-", b"stdout"),
    ],
)
def test_closed_streams_are_one_clear_error(command: str, name: bytes) -> None:
    started = f"{sys.executable} -m headwise {command}"
    done = subprocess.run(
        started, shell=True, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith(b"headwise: <" + name + b">: it is closed")


def test_without_stderr_there_is_no_summary() -> None:
    started = f"{sys.executable} -m headwise parse 'Kids play.' 2>&-"
    done = subprocess.run(started, shell=True, capture_output=True, check=True)
    assert done.stdout.count(b"\n") > 4


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_nothing_half_done(number: signal.Signals, tmp_path: Path) -> None:
    # A shell that runs the tests in the background may have made them ignore Ctrl-C.
    started = "import signal, runpy; signal.signal(signal.SIGINT, signal.default_int_handler); "
    started += "runpy.run_module('headwise', run_name='__main__')"
    command = [sys.executable, "-c", started, "parse", "-o", str(tmp_path / "out.conllu")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        process.stdin.write("Kids play.\n\n" * 100)
        process.stdin.flush()
        until(lambda: is_writing_in(tmp_path, process.pid))
        process.send_signal(number)
        _, message = process.communicate()
    assert process.returncode == 128 + number
    assert list(tmp_path.iterdir()) == []
    assert "Traceback" not in message


NO_IMPORTS = """
import sys
import headwise.cli.main

opened = False

def listen(event, arguments):
    global opened
    if event == "import" and opened:
        print("imported:", arguments[0], file=sys.stderr)
    opened = opened or (event == "open" and "results" in str(arguments[0]))

sys.addaudithook(listen)
headwise.cli.main.main()
"""


@pytest.mark.parametrize("flags", [["--threads", "2"], ["--processes", "2"]])
def test_nothing_is_imported_in_the_middle(flags: list[str], tmp_path: Path) -> None:
    # A signal that comes in the middle of an import may be lost: Python ignores errors there.
    path = tmp_path / "results" / "out.conllu"
    path.parent.mkdir()
    command = [sys.executable, "-c", NO_IMPORTS, "parse", *flags, "-o", path]
    done = subprocess.run(command, input=b"Kids play.", capture_output=True, check=True)
    assert path.exists()
    assert b"imported" not in done.stderr


def is_writing_in(folder: Path, pid: int) -> bool:
    """Tell whether a process has a file in a folder open, which may have no name yet."""
    if not Path("/proc/self/fd").is_dir():
        return bool(list(folder.iterdir()))
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            if str(folder) in os.readlink(link):
                return True
    return False


def until(is_so: Callable[[], object], seconds: float = 30) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)
