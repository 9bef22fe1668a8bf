"""`headwise completion`: real shells complete a command line."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from invoked import headwise, refusal


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a home with a command `headwise` that runs this Python, and work in it."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "headwise"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m headwise "$@"\n')
    command.chmod(0o755)
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "treebank.conllu").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def completed(line: str) -> list[str]:
    """Complete a command line in bash with the script that was installed."""
    words = line.split(" ")
    script = (
        f"source ~/.bashrc; COMP_WORDS=({' '.join(w or repr(w) for w in words)}); "
        f'COMP_CWORD={len(words) - 1}; compopt() {{ echo "option $*"; }}; '
        '_headwise_completion headwise; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, check=True, text=True
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.slow
def test_bash_completes_commands_flags_models_and_files(home: Path) -> None:
    assert headwise("completion", "bash", "--install").returncode == 0
    assert completed("headwise pa") == ["package", "parse"]
    assert "--memory-budget" in completed("headwise parse --m")
    assert completed("headwise parse -m e") == ["en"]
    assert completed("headwise parse -m au") == ["auto"]
    assert completed("headwise info e") == ["en"]
    assert completed("headwise parse -m ./r")[:2] == ["option", "-o"]
    for line in ("headwise parse tree", "headwise show tree", "headwise evaluate tree"):
        assert completed(line)[:3] == ["option", "-o", "default"]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_installing_twice_adds_one_line(shell: str, home: Path) -> None:
    settings = home / f".{shell}rc"
    settings.write_text("alias ll='ls -l'")
    done = headwise("completion", "--install", SHELL=f"/bin/{shell}")
    assert f"headwise: added to {settings}: source " in done.stderr.decode()
    assert headwise("completion", shell, "--install").returncode == 0
    script = home / ".local/share/headwise" / f"completion.{shell}"
    assert settings.read_text() == f"alias ll='ls -l'\nsource \"{script}\"\n"
    assert script.read_bytes() == headwise("completion", shell).stdout
    assert b"_HEADWISE_COMPLETE" in script.read_bytes()


def test_fish_needs_only_a_file(home: Path) -> None:
    assert headwise("completion", "fish", "--install").returncode == 0
    script = home / ".config/fish/completions/headwise.fish"
    assert "complete " in script.read_text()
    assert not list(home.glob(".*rc"))


def test_zsh_starts_its_completion_if_needed(home: Path) -> None:
    first, second, *_ = headwise("completion", "zsh").stdout.decode().splitlines()
    assert first == "#compdef headwise"
    assert "compinit" in second


def test_a_shell_that_is_not_known_has_to_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    message = refusal("completion")
    assert (
        "the shell 'tcsh' is not known\nhint: choose one: headwise completion bash|zsh" in message
    )
    monkeypatch.delenv("SHELL")
    assert "completion: no shell" in refusal("completion")


def test_settings_that_cannot_be_changed_are_named(home: Path) -> None:
    (home / ".bashrc").mkdir()
    done = headwise("completion", "bash", "--install")
    assert done.returncode == 1
    assert "hint: add this line to it: source " in done.stderr.decode()
