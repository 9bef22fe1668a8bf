"""What docs/python.md and docs/output.md show is what happens."""

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
PYTHON, OUTPUT = (
    (ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("python.md", "output.md")
)
KIDS = ROOT / "examples/kids.conllu"
SNIPPETS = re.findall(r"```python\n(.*?)```\n(?:\n```\n(.*?)```\n)?", PYTHON, re.DOTALL)


@pytest.mark.parametrize(("code", "shown"), SNIPPETS)
def test_python_on_the_page_does_what_it_shows(
    code: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples/kids.conllu").write_bytes(KIDS.read_bytes())
    monkeypatch.chdir(tmp_path)
    printed = StringIO()
    with redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == shown
    assert [len(list(headwise.read_sentences(path))) for path in tmp_path.glob("*.conllu")] in (
        [],
        [2],
    )


def test_the_page_has_every_keyword_of_load() -> None:
    for name in headwise.load.__kwdefaults__:
        assert f"| `{name}` |" in PYTHON


def parsed(form: str) -> str:
    arguments = ["parse", str(KIDS), "--format", form, "--quiet"]
    done = CliRunner().invoke(main, arguments, env={"COLUMNS": "80"})
    assert done.exit_code == 0
    return done.output


def test_the_tree_on_the_page_is_the_one_that_is_drawn() -> None:
    assert parsed("tree").strip() in OUTPUT


def test_the_json_on_the_page_is_the_one_that_is_written() -> None:
    found = re.search(r"```json\n(.*?)```", OUTPUT, re.DOTALL)
    assert found
    shown, written = json.loads(found[1]), json.loads(parsed("json"))
    assert shown["words"] == written["words"][: len(shown["words"])]
    assert {**shown, "words": []} == {**written, "words": []}
