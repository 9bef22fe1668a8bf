"""Commands as real processes, with limits on what they may use, and disks that are full."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

Limits = Mapping[int, int]
"""Of `resource.setrlimit`: RLIMIT_AS, RLIMIT_NOFILE, RLIMIT_FSIZE."""
MEBIBYTE = 2**20


def start(
    *arguments: object,
    cwd: Path,
    limits: Limits | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: int = subprocess.DEVNULL,
) -> "subprocess.Popen[bytes]":
    """Start a command in a process group of its own."""

    def set_limits() -> None:
        for kind, value in (limits or {}).items():
            resource.setrlimit(kind, (value, value))

    return subprocess.Popen(
        [sys.executable, "-m", "headwise", *map(str, arguments)],
        cwd=cwd,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Without coverage: a signal that arrives while it holds its lock would wait forever.
        env={k: v for k, v in os.environ.items() if not k.startswith("COVERAGE_")}
        | dict(environment or {}),
        start_new_session=True,
        preexec_fn=set_limits,  # noqa: PLW1509 - tests start no threads before
    )


def run(*arguments: object, cwd: Path, limits: Limits | None = None) -> tuple[int, str]:
    """Run a command to its end; give its exit code and what it wrote to stderr."""
    with start(*arguments, cwd=cwd, limits=limits) as process:
        _, stderr = process.communicate(timeout=120)
        return process.returncode, stderr.decode()


def require_message(stderr: str, *words: str) -> None:
    """Require one message of ours, with a hint, as the end of what was written."""
    assert "Traceback" not in stderr, stderr
    assert stderr.count("headwise: ") == 1, stderr
    message = stderr[stderr.index("headwise: ") :]
    what, hint = message.splitlines()
    assert any(word in message for word in words), stderr
    assert what.removeprefix("headwise: ")
    assert hint.startswith("hint: ")


def read_tree(folder: Path) -> dict[str, bytes]:
    """Read all files below a folder, also hidden ones."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "_lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def temporary_files(folder: Path) -> list[Path]:
    """List files that are still being written, or were when a process died."""
    return list(folder.rglob(".*"))


class Disk:
    """A folder to write to that fails until it is repaired."""

    def __init__(self, folder: Path, repair: list[str], limits: Limits) -> None:
        self.folder, self.limits = folder, limits
        self._repair = repair

    def repair(self) -> None:
        self.limits = {}
        if self._repair:
            subprocess.run(self._repair, check=True)


def _mount(folder: Path, options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@contextmanager
def full_disk(folder: Path, kibibytes: int) -> Iterator[Disk]:
    """Give a small disk, or, where none can be mounted, limit the size of each file."""
    folder.mkdir()
    if not _mount(folder, f"size={kibibytes}k"):
        yield Disk(folder, [], {resource.RLIMIT_FSIZE: kibibytes * 1024})
        return
    try:
        yield Disk(folder, ["mount", "-o", "remount,size=64m", str(folder)], {})
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def read_only_disk(folder: Path) -> Iterator[Disk | None]:
    """Give a folder that nobody can write to, or None if this cannot be had here."""
    folder.mkdir()
    if _mount(folder, "size=64m,ro"):
        try:
            yield Disk(folder, ["mount", "-o", "remount,rw", str(folder)], {})
        finally:
            subprocess.run(["umount", str(folder)], check=True)
    elif os.geteuid():
        folder.chmod(0o555)
        yield Disk(folder, ["chmod", "755", str(folder)], {})
        folder.chmod(0o755)
    else:
        yield None
