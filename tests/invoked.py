"""The `headwise` command inside this process, and on a terminal in a process of its own."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence

from click.testing import CliRunner

from headwise.cli.main import main


def headwise(
    *arguments: object, stdin: bytes | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a command; an exception that it does not handle is raised here."""
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin, env=environment)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return subprocess.CompletedProcess(
        arguments, result.exit_code, result.stdout_bytes, result.stderr_bytes
    )


def refusal(*arguments: object, stdin: bytes = b"", code: int = 1) -> str:
    """Run a command that must fail without output, and return its message."""
    done = headwise(*arguments, stdin=stdin)
    message = done.stderr.decode()
    assert (done.returncode, done.stdout) == (code, b""), message
    assert message.count("headwise: " if code == 1 else "Usage: ") == 1
    return message


def on_terminal(
    *arguments: object,
    width: int = 80,
    stdout: int | None = None,
    typed: str = "",
    answers: Sequence[str] = (),
    code: int = 0,
    **environment: str,
) -> str:
    """Run a command on a terminal, and return what it shows; stdout may go elsewhere.

    What is typed waits in the terminal until the command reads it; an answer is typed when a
    prompt is shown.
    """
    terminal, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    command = [sys.executable, "-m", "headwise", *map(str, arguments)]
    ours = ("NO_COLOR", "TERM", "COLUMNS")  # the last is set by pytest-xdist
    usual = {name: value for name, value in os.environ.items() if name not in ours}
    everything = {**usual, "PYTHONIOENCODING": "utf-8", **environment}
    output = child if stdout is None else stdout
    os.write(terminal, typed.encode())
    with subprocess.Popen(
        command, stdin=child, stdout=output, stderr=child, env=everything
    ) as process:
        os.close(child)
        shown, waiting = b"", list(answers)
        try:
            while select.select([terminal], [], [], 60)[0] and (data := os.read(terminal, 4096)):
                shown += data
                if waiting and shown.endswith(b"> "):
                    os.write(terminal, waiting.pop(0).encode())
        except OSError:  # Linux: the other end is closed
            pass
        try:
            assert process.wait(60) == code, shown
        finally:
            process.kill()
    os.close(terminal)
    return shown.decode().replace("\r\n", "\n")
