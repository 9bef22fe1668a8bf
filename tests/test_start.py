"""Everything that docs/start.md tells a newcomer to type is done here, in its order.

Commands that install are checked, and what they would install is put where Python finds it: the
environment of the tests has everything else. The servers get a free port.
"""

import os
import pty
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from made_packages import install_by_hand

from headwise.errors import CPU_TORCH
from headwise.model.find import packages_in

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/start.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```(sh|python)\n(.*?)```\n(?:\n```\n(.*?)```\n)?", re.DOTALL)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
INSTALLS = ("python3 -m venv ", ". .venv/bin/activate", "pip ")
SERVERS = ("headwise serve", "headwise annotate ")
SECONDS = 600


class Newcomer:
    """A terminal of 80 columns in a folder that looks like a clone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("models", "tests", "examples"):
            (folder / name).symlink_to(ROOT / name)
        self.site = folder / "site"
        self.site.mkdir()
        paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        modules = os.pathsep.join(filter(None, [str(self.site), os.environ.get("PYTHONPATH")]))
        ours = {"PATH": paths, "PYTHONPATH": modules, "COLUMNS": "80", "NO_COLOR": "1"}
        self.environment = os.environ | ours | {"PYTHONUTF8": "1", "BROWSER": "true"}
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.environment.pop(name, None)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = str(listener.getsockname()[1])

    def install(self, command: str) -> None:
        """Check a command that installs, and install packages of models by hand."""
        if not command.startswith("pip "):
            return
        if command.startswith("pip install torch"):
            assert command == CPU_TORCH
            return
        action, *names = shlex.split(command.removeprefix("pip ").replace(" --yes", ""))
        for name in names:
            if action == "uninstall":
                assert any(self.site.glob(f"{name.replace('-', '_')}-*.dist-info"))
            elif name.startswith("./"):
                self.install_model(self.folder / name)
            else:
                assert re.fullmatch(r"\.(\[[a-z,]+\])?", name)
                assert set(re.findall(r"[a-z]+", name)) <= PROJECT["optional-dependencies"].keys()

    def install_model(self, package: Path) -> None:
        model = packages_in(package.parent)[package.name]
        project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        ((name, module),) = project["entry-points"]["headwise.models"].items()
        assert project["name"] == f"headwise-{name}"
        install_by_hand(self.site, module.removeprefix("headwise_"), model, f"{name} = {module}")

    def run(self, command: str) -> str:
        """Run a command that must succeed, and return what it shows on the terminal."""
        terminal, child = pty.openpty()
        command = command.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}")
        shown = b""
        with (self.folder / "stderr").open("w+b") as stderr:
            process = subprocess.Popen(
                ["bash", "-ec", command], stdin=child, stdout=child, stderr=stderr,
                cwd=self.folder, env=self.environment,
            )  # fmt: skip
            os.close(child)
            try:
                while select.select([terminal], [], [], SECONDS)[0]:
                    shown += os.read(terminal, 65_536)
            except OSError:  # Linux: the other end is closed
                pass
            os.close(terminal)
            assert process.wait(SECONDS) == 0, (self.folder / "stderr").read_text()
        return shown.decode().replace("\r\n", "\n")

    def run_python(self, code: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True,
            encoding="utf-8", cwd=self.folder, env=self.environment,
        )  # fmt: skip
        return done.stdout

    @contextmanager
    def server(self, command: str) -> Iterator[str]:
        """Start a server, give the address that it prints, and end it."""
        words = [sys.executable, "-m", *shlex.split(command)]
        with subprocess.Popen(
            [*words, "--port", self.port], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            cwd=self.folder, env=self.environment, text=True, encoding="utf-8",
        ) as process:  # fmt: skip
            try:
                assert process.stdout
                address = next(
                    found[0] for line in process.stdout if (found := re.search(r"http://\S+", line))
                )
                yield address
                process.terminate()
                assert process.wait(60) in (0, -signal.SIGTERM)
            finally:
                process.kill()


def assert_shown(output: str, shown: str, with_numbers: bool) -> None:
    """Compare; a last line `...` in what is shown stands for any further output."""
    if not with_numbers:
        output, shown = (re.sub(r"\d+(\.\d+)?|(?<= ) +", "", text) for text in (output, shown))
    if shown.endswith("\n...\n"):
        shown = shown.removesuffix("...\n")
        output = output[: len(shown)]
    assert output.strip() == shown.strip()


@pytest.mark.slow
@pytest.mark.skipif(
    (ROOT / "PKG-INFO").is_file(), reason="a source distribution has no other models than en"
)
def test_the_first_hour_works_as_printed(tmp_path: Path) -> None:
    newcomer = Newcomer(tmp_path)
    has_trained, n_shown, n_servers = False, 0, 0
    with ExitStack() as running:
        for language, code, shown in BLOCK.findall(PAGE):
            if language == "python":
                output = newcomer.run_python(code)
            else:
                output = ""
                for line in code.splitlines():
                    if line.startswith(INSTALLS):
                        newcomer.install(line)
                    elif line.startswith(SERVERS):
                        running.close()
                        address = running.enter_context(newcomer.server(line))
                        assert urlopen(address, timeout=60).status == 200
                        n_servers += 1
                    else:
                        output += newcomer.run(line)
            has_trained |= "headwise train" in code
            if shown:
                assert_shown(output, shown, with_numbers=not has_trained)
                n_shown += 1
    assert has_trained
    assert not (tmp_path / "hour").exists()
    assert (n_shown, n_servers) == (10, 2)
    assert PAGE.count("```") == 2 * (len(BLOCK.findall(PAGE)) + n_shown)
