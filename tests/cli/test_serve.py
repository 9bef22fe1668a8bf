"""`headwise serve`: its flags, and its messages if it cannot start."""

import builtins
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from headwise.cli.main import main
from headwise.settings.serving import ServeConfig

ROOT = Path(__file__).parent.parent.parent


def invoke(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["serve", *arguments])
    return done.exit_code, done.output


def test_every_setting_has_a_flag_and_a_line_in_the_docs() -> None:
    code, output = invoke("--help")
    assert code == 0
    assert "Examples:" in output
    documented = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for field in ServeConfig.__struct_fields__:
        flag = f"--{field.replace('_', '-')}"
        assert flag in output
        assert f"`{flag}`" in documented


def test_settings_reach_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[object] = []
    monkeypatch.setattr(
        "headwise.serve.server.run_server", lambda *arguments: received.extend(arguments)
    )
    monkeypatch.setenv("HEADWISE_TOKEN", "secret")
    code, output = invoke(
        "-m", "en", "-m", "x=models/pt", "--cors", "https://a.b", "--max-words", "5",
        "--allowed-host", "a.b", "--allowed-host", "c",
    )  # fmt: skip
    assert (code, output) == (0, "")
    config, models, processes, quiet = received
    assert config == ServeConfig(
        token="secret", cors=("https://a.b",), max_words=5, allowed_host=("a.b", "c")
    )
    assert (models, processes, quiet) == (("en", "x=models/pt"), 1, False)


@pytest.mark.parametrize(
    ("flags", "what"),
    [
        (["--max-seconds", "nan"], "$.max_seconds"),
        (["--token", ""], "is empty"),
        (["--model", "nowhere"], "nowhere: there is no such model"),
        (["--host", "192.0.2.1"], "cannot listen on 192.0.2.1, port 8080: "),
    ],
)
def test_an_impossible_setting_is_one_message(flags: list[str], what: str) -> None:
    code, output = invoke(*flags)
    assert code == 1
    assert what in output
    assert "hint:" in output


@pytest.mark.parametrize(
    "flags",
    [
        ["--max-words", "0"],
        ["--workers", "-1"],
        ["--max-seconds", "0"],
        ["--cors", "example.org"],
        ["--cors", "https://example.org/page"],
        ["--allowed-host", "https://example.org"],
    ],
)
def test_wrong_values_are_usage_errors(flags: list[str]) -> None:
    code, output = invoke(*flags)
    assert code == 2
    assert f"Invalid value for '{flags[0]}'" in output


def test_an_empty_variable_does_not_open_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWISE_TOKEN", "")
    code, output = invoke()
    assert code == 1
    assert "HEADWISE_TOKEN: the token is empty" in output


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name == "headwise.serve.server":
            raise ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.delitem(sys.modules, "headwise.serve.server", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    code, output = invoke()
    assert code == 1
    assert "pip install 'headwise[serve]'" in output
