"""`--model auto`, the remark about another language, and the one about a licence."""

import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest
from invoked import headwise, refusal
from made_models import change_manifest, copy_model
from made_packages import install_by_hand

from headwise.cli.models.choice import mention_licence
from headwise.model.find import MODELS_FOLDER
from headwise.settings.about import About

SAMPLE = Path(__file__).parents[2] / "fixtures" / "ewt-dev-100.conllu"
ENGLISH = "The children love the sweets that their grandmother makes, and they eat them every day."
GERMAN = "Die Kinder lieben die Süßigkeiten ihrer Großmutter, und sie essen sie jeden Tag gerne."
REMARK = "headwise: the text looks German, but the model is for English"
NC = About(language="de", licence="CC-BY-NC-SA-4.0")


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the English model under a German name."""
    folder = install_by_hand(tmp_path, "de", MODELS_FOLDER / "en")
    change_manifest(folder, about={"language": "de", "licence": "CC-BY-SA-4.0"})
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(("text", "name"), [(GERMAN, "de"), (ENGLISH, "en")])
def test_auto_takes_the_model_of_the_language(text: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    (tmp_path / "text.xz").write_bytes(lzma.compress(text.encode()))
    expected = headwise("parse", "--quiet", "--model", name, text).stdout
    for source in (text, tmp_path / "text.txt", tmp_path / "text.xz"):
        done = headwise("parse", "--model", "auto", source)
        assert done.stdout == expected
        assert done.stderr.decode().startswith(f"headwise: model {name}\n")
        assert headwise("parse", "--model", "auto", "--quiet", source).stderr == b""
    for stdin in (text.encode(), lzma.compress(text.encode())):
        assert headwise("parse", "--model", "auto", stdin=stdin).stdout == expected


def test_auto_reads_a_pipe_once_and_loses_nothing(tmp_path: Path) -> None:
    text = f"{ENGLISH}\n\n" * 200  # longer than the start by which the language is told
    command = [sys.executable, "-m", "headwise", "parse", "--quiet", "--model"]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", f"cat > {pipe}"], stdin=subprocess.PIPE)
    reader = subprocess.Popen([*command, "auto", str(pipe)], stdout=subprocess.PIPE)
    writer.communicate(text.encode())
    from_pipe, _ = reader.communicate(timeout=60)
    from_stdin = [
        subprocess.run(
            [*command, model, *flags], input=text.encode(), capture_output=True, check=True
        ).stdout
        for model, flags in (("en", []), ("auto", []), ("auto", ["--processes", "2"]))
    ]
    assert from_stdin[0].count(b"# text = ") == 200
    assert from_stdin[0] == from_stdin[1] == from_stdin[2] == from_pipe


def test_auto_knows_the_language_of_conllu() -> None:
    done = headwise("parse", "--model", "auto", SAMPLE)
    assert done.stderr.startswith(b"headwise: model en\n")


def test_auto_refuses_what_it_cannot_do() -> None:
    assert "no model for it is installed" in refusal("parse", "--model", "auto", GERMAN)
    message = refusal("parse", "--model", "auto", "--model", "en", ENGLISH)
    assert "it cannot be combined with other models" in message
    assert "No such file" in refusal("parse", "--model", "auto", "missing.txt")


def test_text_in_another_language_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(f"{GERMAN}\n" * 30, encoding="utf-8")
    for source in (GERMAN, tmp_path / "text.txt"):
        done = headwise("parse", source)
        assert done.returncode == 0
        assert done.stderr.decode().count(REMARK) == 1
        assert "pip install ./models/de" in done.stderr.decode()
    assert headwise("parse", "--quiet", GERMAN).stderr == b""
    for source in (ENGLISH, "Guten Morgen!", SAMPLE, "99", tmp_path / "missing.txt"):
        assert b"looks" not in headwise("parse", source).stderr


@pytest.mark.usefixtures("german")
def test_the_remark_names_the_model_that_is_installed() -> None:
    assert headwise("parse", GERMAN).stderr.decode().startswith(f"{REMARK}; try --model de\n")


def test_the_remark_is_made_of_what_comes_first_from_stdin() -> None:
    command = [sys.executable, "-m", "headwise", "parse"]
    done = subprocess.run(command, input=GERMAN.encode(), capture_output=True, check=True)
    assert done.stderr.decode().count(REMARK) == 1
    assert GERMAN.encode() in done.stdout


def test_a_licence_is_mentioned_once_on_each_machine(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path)}
    mention_licence("de", NC, True, state)
    assert capfd.readouterr().err == ""
    for expected in ("headwise: model de: CC-BY-NC-SA-4.0, not for commercial use\n", "", ""):
        mention_licence("de", NC, False, state)
        assert capfd.readouterr().err == expected
    mention_licence("fr", About(language="fr", licence="CC-BY-SA-4.0"), False, state)
    assert capfd.readouterr().err == ""
    assert [path.name for path in tmp_path.rglob("*")] == ["headwise", "licences"]


@pytest.mark.parametrize("home", ["/dev/null", "/proc/nowhere"])
def test_a_machine_that_cannot_remember_still_parses(
    home: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        mention_licence("de", NC, False, {"XDG_STATE_HOME": home})
        assert "not for commercial use" in capfd.readouterr().err
    (tmp_path / "headwise").mkdir()
    (tmp_path / "headwise/licences").write_bytes(b"\xff\xfe")
    mention_licence("de", NC, False, {"XDG_STATE_HOME": str(tmp_path)})
    assert "not for commercial use" in capfd.readouterr().err


def test_a_command_mentions_the_licence_of_its_model(tmp_path: Path) -> None:
    model = copy_model(MODELS_FOLDER / "en", tmp_path / "model")
    change_manifest(model, about={"language": "en", "licence": "CC-BY-NC-SA-4.0"})
    for expected in (1, 0):
        done = headwise("parse", "--model", model, ENGLISH, XDG_STATE_HOME=str(tmp_path / "state"))
        assert done.stderr.decode().count("not for commercial use") == expected
