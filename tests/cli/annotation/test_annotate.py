"""`headwise annotate`: marks are removed, wrong use is explained, the page is opened."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from headwise.cli.annotation.annotate import has_display
from headwise.cli.main import main

MARKED = (
    "# status = done\n# note = x\n1\tKids\t_\t_\t_\t_\t0\troot\t_\tFixed=Head|SpaceAfter=No\n\n"
)
CLEAN = "1\tKids\t_\t_\t_\t_\t0\troot\t_\tSpaceAfter=No\n\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file.conllu"
    path.write_text(MARKED)
    return path


def test_clean_removes_the_marks(path: Path, tmp_path: Path) -> None:
    printed = CliRunner().invoke(main, ["annotate", str(path), "--clean"])
    assert (printed.exit_code, printed.output) == (0, CLEAN)
    target = tmp_path / "out.conllu"
    written = CliRunner().invoke(main, ["annotate", str(path), "--clean", "-o", str(target)])
    assert (written.exit_code, target.read_text()) == (0, CLEAN)
    assert path.read_text() == MARKED


def test_output_without_clean_is_explained(path: Path) -> None:
    result = CliRunner().invoke(main, ["annotate", str(path), "-o", "x"])
    assert result.exit_code == 1
    assert "--output needs --clean" in result.stderr


def test_a_journal_is_refused_with_the_name_of_its_file(path: Path) -> None:
    journal = f"{path}.headwise-journal"
    for arguments in ([journal], [str(path), "--compare", journal]):
        result = CliRunner().invoke(main, ["annotate", *arguments])
        assert result.exit_code == 1
        assert f"{journal}: this is the journal of a file\nhint: " in result.stderr
        assert result.stderr.endswith(f"seconds: {path}\n")


def test_a_missing_library_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("headwise.annotate.")]:
        if "server" in name:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "headwise.annotate.routes", None)
    result = CliRunner().invoke(main, ["annotate", str(path)])
    assert result.exit_code == 1
    assert "which is not installed" in result.stderr


@pytest.mark.parametrize("no_browser", [True, False])
def test_the_address_is_printed_and_opened(
    path: Path, monkeypatch: pytest.MonkeyPatch, no_browser: bool
) -> None:
    opened: list[str] = []
    page = path.with_name("a page.html")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", opened.append)

    def serve(*arguments: object) -> None:
        show = arguments[-2]
        warn = arguments[-1]
        assert callable(show)
        assert callable(warn)
        assert arguments[:6] == (path, "en", 9_000, True, Path("other.conllu"), not no_browser)
        show("http://127.0.0.1:1/annotate#token=x", None if no_browser else page)
        warn("a warning")

    monkeypatch.setattr("headwise.annotate.server.run_workbench", serve)
    flags = ["--no-browser"] if no_browser else []
    arguments = ["--port", "9000", "--keep", "--compare", "other.conllu", *flags]
    result = CliRunner().invoke(main, ["annotate", str(path), *arguments])
    assert result.exit_code == 0
    assert result.stdout == "http://127.0.0.1:1/annotate#token=x\n"
    assert "headwise: a warning" in result.stderr
    assert opened == ([] if no_browser else [page.as_uri()])


def test_a_display_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert not has_display({})
    assert has_display({"WAYLAND_DISPLAY": "wayland-0"})
    monkeypatch.setattr("sys.platform", "darwin")
    assert has_display({})
