"""Commands that write, under faults: one message, nothing half-written, the same bytes later."""

import os
import random
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.faults.conftest import Command
from tests.faults.made_faults import (
    MEBIBYTE,
    full_disk,
    read_only_disk,
    read_tree,
    require_message,
    run,
    start,
    temporary_files,
)

SIGNALS = {signal.SIGKILL: (-9,), signal.SIGTERM: (-15, 143), signal.SIGINT: (130,)}
"""Possible exit codes; a shell shows those below 0 as 128 and more."""
MEMORY = {"parse": (60, 140, 200, 230), "corpus": (180, 240, 300), "train": (300,)}
"""MiB of address space that do not suffice. With more, PyTorch may crash in its own code."""


def test_a_full_disk(command: Command, tmp_path: Path) -> None:
    with full_disk(tmp_path / "disk", 16) as disk:
        code, stderr = run(*command.arguments, cwd=disk.folder, limits=disk.limits)
        assert code == 1, stderr
        require_message(stderr, "No space left on device", "File too large")
        assert temporary_files(disk.folder) == []
        if command.name == "parse":
            assert read_tree(disk.folder) == {}
        disk.repair()
        command.require_same(disk.folder)


def test_a_read_only_folder(command: Command, tmp_path: Path) -> None:
    with read_only_disk(tmp_path / "disk") as disk:
        if disk is None:
            pytest.skip("root can write everywhere, and nothing can be mounted here")
        code, stderr = run(*command.arguments, cwd=disk.folder)
        assert code == 1, stderr
        require_message(stderr, "Read-only file system", "Permission denied")
        assert list(disk.folder.iterdir()) == []
        if command.name != "train":  # which a full disk and a kill resume already
            disk.repair()
            command.require_same(disk.folder)


def test_too_little_memory(command: Command, tmp_path: Path) -> None:
    for size in MEMORY[command.name]:
        limits = {resource.RLIMIT_AS: size * MEBIBYTE}
        code, stderr = run(*command.arguments, cwd=tmp_path, limits=limits)
        if "OpenBLAS" in stderr:  # it ends the process while numpy is imported
            continue
        assert code == 1, (size, stderr)
        require_message(stderr, "not enough memory")
        assert temporary_files(tmp_path) == []
    if command.name != "train":
        command.require_same(tmp_path)


@pytest.mark.parametrize("n_files", [5, 8, 12])
def test_too_few_descriptors(command: Command, tmp_path: Path, n_files: int) -> None:
    if command.name == "train":
        pytest.skip("it needs no more than Python itself")
    code, stderr = run(*command.arguments, cwd=tmp_path, limits={resource.RLIMIT_NOFILE: n_files})
    if code:
        assert temporary_files(tmp_path) == []
        require_message(stderr, "Too many open files", "too many files are open", "ulimit -n")
    else:
        assert command.result(tmp_path) == command.expected


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_at_a_random_moment(
    command: Command, tmp_path: Path, number: signal.Signals
) -> None:
    moments = random.Random(f"{command.name} {number.name}")
    n_times = 1 if command.name == "train" else 3
    for _ in range(n_times):
        with start(*command.arguments, cwd=tmp_path) as process:
            _wait_for_work(command, process)
            time.sleep(moments.uniform(0, 0.5))
            os.killpg(process.pid, number)
            _, stderr = process.communicate(timeout=60)
        if process.returncode:
            assert process.returncode in SIGNALS[number], stderr
        assert b"Traceback" not in stderr, stderr
        if number == signal.SIGINT and process.returncode:
            assert stderr.endswith(b"headwise: interrupted\n")
        if command.name == "parse":  # a signal may also come after the last byte
            assert command.result(tmp_path) in ({}, command.expected)
        assert temporary_files(tmp_path) == []
    if command.name != "train" or number == signal.SIGKILL:
        command.require_same(tmp_path)


def _wait_for_work(command: Command, process: "subprocess.Popen[bytes]") -> None:
    """Wait until training is in its first epoch, or until the other commands load a model."""
    if command.name == "train":
        assert process.stderr
        assert any(line.startswith(b"adam") for line in process.stderr)
        return
    maps = Path(f"/proc/{process.pid}/maps")
    deadline = time.monotonic() + 60
    while process.poll() is None and "onnxruntime" not in maps.read_text(encoding="utf-8"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
