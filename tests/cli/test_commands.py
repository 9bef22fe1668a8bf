"""What holds for every command: help, errors, `headwise info`, and what each of them imports."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from invoked import headwise, refusal
from made_encoders import N_IDS
from made_models import change_manifest, copy_model

from headwise.cli.main import main

FIXTURES = Path(__file__).parent.parent / "fixtures"
SAMPLE = FIXTURES / "ewt-dev-100.conllu"
RECIPE = FIXTURES.parent.parent / "configs" / "paper-ewt.toml"


@pytest.mark.parametrize("command", [None, *main.commands])
def test_help_shows_an_example(command: str | None) -> None:
    done = headwise(*filter(None, [command]), "--help")
    assert done.returncode == 0
    assert b"headwise " in done.stdout.split(b"Example")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["parse", "--threads", "0"], "'--threads': 0 is not in the range"),
        (["evaluate", SAMPLE, SAMPLE, SAMPLE, "--seed", "-1"], "'--seed': -1 is not in the range"),
        (["serve", "--port", "99999"], "'--port': 99999 is not in the range"),
        (["sing"], "No such command"),
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[object], message: str) -> None:
    assert message in refusal(*arguments, code=2)


def rows_of_info(model: Path) -> dict[str, str]:
    lines = headwise("info", model).stdout.decode().splitlines()
    return {key.strip(): value.strip() for key, value in (line.split("  ", 1) for line in lines)}


def test_info_describes_a_model(tiny_run: Path, marked_run: Path, encoder_run: Path) -> None:
    rows = rows_of_info(tiny_run)
    assert rows["reads tags"] == "XPOS"
    assert rows["treebanks"] == "tells none apart"
    assert rows["vocab.json"].endswith("bytes, whole")
    rows = rows_of_info(marked_run)
    assert rows["reads tags"] == "XPOS, FEATS"
    assert rows["treebanks"] == "first, second"
    assert "dev_las second" in rows
    transformer = rows_of_info(encoder_run)["transformer"]
    assert transformer == f"bert, {N_IDS} subwords, states of 16, windows of 39"
    manifest = json.loads(headwise("info", tiny_run, "--format", "json").stdout)
    assert manifest["model"]["hidden_size"] == 32


def test_info_shows_no_control_characters(tiny_run: Path, tmp_path: Path) -> None:
    model = copy_model(tiny_run / "model", tmp_path / "model")
    change_manifest(model, provenance={"data": "\x1b[31mred\x07"})
    assert rows_of_info(model)["data"] == "\\x1b[31mred\\x07"


def test_ctrl_c_during_imports_gives_no_traceback() -> None:
    code = (
        "import runpy, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'headwise.cli.main': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "runpy.run_module('headwise', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"\nheadwise: interrupted\n")


@pytest.mark.parametrize(
    ("module", "extra", "arguments"),
    [
        ("torch", "train", ["train", RECIPE]),
        ("torch", "train", ["parse", SAMPLE, "--device", "cuda"]),
        ("torch", None, ["parse", SAMPLE]),
        ("pyarrow", "corpus", ["corpus", SAMPLE, "-o", "nowhere"]),
    ],
)
def test_a_missing_library_says_what_to_install(
    module: str, extra: str | None, arguments: list[object], tmp_path: Path
) -> None:
    error = f"raise ModuleNotFoundError('no {module}', name={module!r})\n"
    (tmp_path / f"{module}.py").write_text(error)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "headwise", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, check=False, env=environment)
    assert done.returncode == int(extra is not None), done.stderr
    assert extra is None or f"pip install 'headwise[{extra}]'" in done.stderr.decode()
