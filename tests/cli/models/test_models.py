"""`headwise models` and `headwise package`, and pip, which installs what the latter writes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_packages import install_by_hand

from headwise.cli.main import main
from headwise.model.find import release_index
from headwise.text.choose import installed_languages

ROOT = Path(__file__).parents[3]


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    return result.exit_code, result.stdout, result.stderr


def test_the_list_has_what_is_inside_and_what_is_offered() -> None:
    _, output, _ = run("models")
    rows = {line.split()[0]: line for line in output.splitlines() if line and " " in line}
    assert "inside headwise" in rows["en"]
    assert "CC-BY-NC-SA-4.0 NC" in rows["de"]
    assert "NC" not in rows["pt"]
    assert "NC: not for commercial use" in output
    assert "pip install ./models/NAME in a clone of headwise" in output


def test_an_installed_model_is_listed_as_such(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_by_hand(tmp_path, "de", tiny_run / "model")
    monkeypatch.syspath_prepend(str(tmp_path))
    models = {one["name"]: one for one in json.loads(run("models", "--json")[1])}
    assert models["de"]["status"] == "installed"
    assert models["en"]["status"] == "inside"
    assert models["cs"]["status"] == "available"
    assert models["cs"]["is_non_commercial"] is True
    assert models["cs"]["package"] == "headwise-cs"
    assert models["en"]["scores"]["dev_las"] > 80


def test_a_damaged_model_does_not_hide_the_others(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install_by_hand(tmp_path, "fr", tiny_run / "model")
    (folder / "model.json").write_text("{")
    monkeypatch.syspath_prepend(str(tmp_path))
    code, output, message = run("models")
    assert code == 0
    assert "inside headwise" in output
    assert "model.json" in message
    assert "fr" not in installed_languages()


def test_the_index_is_made_from_a_folder_of_packages() -> None:
    _, output, _ = run("models", "--folder", ROOT / "models", "--json")
    assert output == (ROOT / "src/headwise/models/index.json").read_text()
    assert [one["name"] for one in json.loads(output)] == list(release_index())


def test_a_folder_without_packages_is_named(tmp_path: Path) -> None:
    code, output, message = run("models", "--folder", tmp_path)
    assert (code, output) == (1, "")
    assert "there are no model packages in this folder" in message


def test_flags_add_to_the_file(tiny_run: Path, tmp_path: Path) -> None:
    (tmp_path / "about.toml").write_text('licence = "MIT"\nlimits = "speech"\n')
    out = tmp_path / "fr"
    flags = ["--about", tmp_path / "about.toml", "--source", "UD_A 1", "--attribution", "B"]
    code, _, message = run("package", tiny_run, "--name", "fr", "--out", out, *flags)
    assert (code, "pip install" in message) == (0, True)
    about = json.loads((out / "src/headwise_fr/model.json").read_text())["about"]
    assert (about["language"], about["licence"], about["limits"]) == ("fr", "MIT", "speech")
    assert [(one["name"], one["attribution"]) for one in about["sources"]] == [("UD_A 1", "B")]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "licence of the model is not known"),
        (["--licence", "free!"], "licence"),
        (["--licence", "MIT", "--language", "Klingon"], "--language: 'Klingon' is not a language"),
        (["--licence", "MIT", "--attribution", "me"], "needs --source"),
        (["--licence", "MIT", "--package-version", "a b"], "'a b' cannot be the version"),
    ],
)
def test_what_is_missing_is_named(
    flags: list[str], message: str, tiny_run: Path, tmp_path: Path
) -> None:
    code, _, error = run("package", tiny_run, "--name", "fr", "--out", tmp_path / "fr", *flags)
    assert code == 1
    assert message in error
    assert not (tmp_path / "fr").exists()


def test_the_line_about_pip_can_be_copied(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, out, where in (("fr", "fr", "./fr"), ("en", tmp_path / "en", tmp_path / "en")):
        _, _, message = run("package", tiny_run, "--name", name, "--out", out, "--licence", "MIT")
        assert f"pip install {where}\n" in message
        assert ("--model en is still the model that comes with headwise" in message) == (
            name == "en"
        )


@pytest.mark.slow
def test_pip_installs_a_package_that_any_folder_knows_by_name(
    full_run: Path, tmp_path: Path
) -> None:
    package, site, elsewhere = (tmp_path / name for name in ("fr", "site", "elsewhere"))
    elsewhere.mkdir()
    flags = ["--name", "fr", "--out", package, "--licence", "CC-BY-SA-4.0"]
    assert run("package", full_run, *flags)[0] == 0
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation"]
    wheels = []
    for attempt in ("one", "two"):
        built = tmp_path / attempt
        subprocess.run([*pip, "wheel", "--quiet", *offline, "-w", built, package], check=True)
        wheels.extend(built.glob("headwise_fr-*.whl"))
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    subprocess.run([*pip, "install", "--quiet", *offline, "--target", site, wheels[0]], check=True)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(ROOT / "src")])}
    command = [sys.executable, "-m", "headwise", "parse", "--quiet", "Kids love candy.", "--model"]
    outputs = [
        subprocess.run(
            [*command, model], cwd=elsewhere, env=environment, check=True, capture_output=True
        ).stdout
        for model in ("fr", "french", str(full_run))
    ]
    assert outputs[0] == outputs[1] == outputs[2]
    assert outputs[0].count(b"\tfr\t") == 0
    assert b"candy" in outputs[0]
