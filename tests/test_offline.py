"""Nothing leaves the machine: no connection, and no file outside of the folders that were named."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PARSE = """
import sys, time, headwise
assert len(list(headwise.load().annotate_text("Kids love candy."))) == 1
time.sleep(float(sys.argv[1]))
"""
SECONDS_UNTIL_TELEMETRY = 15
"""ONNX Runtime makes its first connection some eight seconds after a model was loaded."""


def parse_in(home: Path, *command: str, seconds: int = 0) -> None:
    folders = {"HOME": str(home), "XDG_CACHE_HOME": str(home), "TMPDIR": str(home)}
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"} | folders
    subprocess.run(
        [*command, sys.executable, "-B", "-c", PARSE, str(seconds)],
        env=environment,
        check=True,
        timeout=120,
    )


def test_parsing_writes_no_file_anywhere(tmp_path: Path) -> None:
    parse_in(tmp_path)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_process_that_lives_on_opens_no_connection(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    home = tmp_path / "home"
    home.mkdir()
    trace = ("strace", "-f", "-e", "trace=connect,sendto", "-o", str(log))
    parse_in(home, *trace, seconds=SECONDS_UNTIL_TELEMETRY)
    assert not re.search(r"AF_INET|/var/run/nscd", log.read_text())
    assert list(home.rglob("*")) == []
