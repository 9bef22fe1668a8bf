"""What README and docs tell a reader to do is done here, and gives the output they show."""

import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import fields
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

import headwise
from headwise.cli.main import main
from headwise.document import Document, ParsedSentence, ParsedWord

ROOT = Path(__file__).parents[1]
README, PYTHON_PAGE, OUTPUT_PAGE = (
    (ROOT / page).read_text(encoding="utf-8")
    for page in ("README.md", "docs/python.md", "docs/output.md")
)
KIDS = ROOT / "examples/kids.conllu"
SNIPPETS = re.findall(r"```python\n(.*?)```\n(?:\n```\n(.*?)```\n)?", PYTHON_PAGE, re.DOTALL)


@pytest.mark.parametrize(("code", "output"), SNIPPETS)
def test_each_python_snippet_prints_the_output_below_it(
    code: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples/kids.conllu").write_bytes(KIDS.read_bytes())
    monkeypatch.chdir(tmp_path)
    printed = StringIO()
    with redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == output
    written = [list(headwise.read_sentences(path)) for path in tmp_path.glob("*.conllu")]
    assert [len(sentences) for sentences in written] in ([], [2])


def test_the_page_lists_every_keyword_of_load() -> None:
    for name in headwise.load.__kwdefaults__:
        assert f"| `{name}` |" in PYTHON_PAGE


@pytest.mark.parametrize("kind", [Document, ParsedSentence, ParsedWord])
def test_the_page_lists_what_documents_sentences_and_words_have(kind: type) -> None:
    names = {name for name in dir(kind) if not name.startswith("_")}
    names |= {field.name for field in fields(kind)}
    # For the words of a sentence, which share them.
    names -= {"document_text", "words_at", "children_of", "token_of"}
    page = PYTHON_PAGE.replace("()`", "`")
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def parse_kids(output_format: str) -> str:
    arguments = ["parse", str(KIDS), "--format", output_format, "--quiet"]
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": "80"})
    assert result.exit_code == 0
    return result.output


def test_the_page_shows_the_tree_that_is_drawn() -> None:
    assert parse_kids("tree").strip() in OUTPUT_PAGE


def test_the_page_shows_the_json_that_is_written() -> None:
    example = re.search(r"```json\n(.*?)```", OUTPUT_PAGE, re.DOTALL)
    assert example
    shown, written = json.loads(example[1]), json.loads(parse_kids("json"))
    assert shown["words"] == written["words"][: len(shown["words"])]
    assert {**shown, "words": []} == {**written, "words": []}


def test_the_parse_command_draws_what_the_page_shows() -> None:
    command = next(line for line in README.splitlines() if 'headwise parse "' in line)
    arguments = shlex.split(command.split("headwise parse", 1)[1])
    done = subprocess.run(
        [sys.executable, "-m", "headwise", "parse", *arguments, "--format", "tree"],
        capture_output=True, check=True, cwd=ROOT, text=True, encoding="utf-8",
        env=os.environ | {"COLUMNS": "80", "PYTHONUTF8": "1"},
    )  # fmt: skip
    shown = re.search(r"```\n( ╭.*?)```", README, re.DOTALL)
    assert shown
    assert done.stdout.rstrip() == shown[1].rstrip()


def test_python_snippets_run() -> None:
    for snippet in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        subprocess.run([sys.executable, "-W", "error", "-c", snippet], check=True, cwd=ROOT)


def test_readme_fits_on_a_screen() -> None:
    assert len(README.splitlines()) <= 60


def test_the_picture_of_readme_is_what_the_parser_draws(tmp_path: Path) -> None:
    sentence, path = re.findall(r"!\[The tree of: (.*?)\]\((.*?)\)", README)[0]
    drawn = tmp_path / "tree.svg"
    CliRunner().invoke(main, ["parse", "--text", sentence, "-o", str(drawn)])
    hint = f'headwise parse "{sentence}" -o {path}'
    assert drawn.read_bytes() == (ROOT / path).read_bytes(), f"to draw it anew: {hint}"


def test_readme_promises_safety_in_four_sentences() -> None:
    (promise,) = re.findall(r"\*\*Safe\*\*: (.*?)\n\n", README, re.DOTALL)
    assert len(re.findall(r"\.(?=\s|$)", promise)) == 4
