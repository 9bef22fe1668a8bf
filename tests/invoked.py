"""The `headwise` command inside this process: the same output without the start-up."""

import subprocess

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
