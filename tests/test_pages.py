"""The examples of docs/python.md and docs/output.md give the output they show."""

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

import headwise
from headwise.cli.main import main

ROOT = Path(__file__).parents[1]
PYTHON_PAGE, OUTPUT_PAGE = (
    (ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("python.md", "output.md")
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
