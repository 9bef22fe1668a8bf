"""A small treebank in a folder for `--data`, and a copy of the committed results."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from headwise import Sentence


@pytest.fixture(autouse=True)
def _uncovered_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure no coverage in processes of `bench`, which train small parsers; other tests do."""
    for name in [name for name in os.environ if name.startswith("COVERAGE_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory, ewt_sentences: list[Sentence]) -> Path:
    root = tmp_path_factory.mktemp("data")
    short = [sentence for sentence in ewt_sentences if len(sentence) <= 20]
    parts = {
        "English/train": short[:24],
        "English/dev": short[24:36],
        "English/test": short[36:44],
        "More/train": short[:5],
        "More/test": short[5:9],
    }
    for name, sentences in parts.items():
        path = root / "ud" / f"{name}.conllu"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(sentence.conllu for sentence in sentences), encoding="utf-8")
    return root


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return Path(shutil.copytree(Path(__file__).parents[2] / "bench/results", tmp_path / "results"))


@pytest.fixture
def reproduces() -> Callable[[Path, Callable[[], int]], bool]:
    """Check that a command writes the reports again that are in a folder."""

    def lines(path: Path) -> list[str]:
        changing = ("**Made with", "Not there yet")  # with the recipes and the plan
        text = path.read_text(encoding="utf-8")
        return [line for line in text.splitlines() if not line.startswith(changing)]

    def check(out: Path, command: Callable[[], int]) -> bool:
        paths = (out / "report.md", out / "report.json")
        before = [lines(path) for path in paths]
        for path in paths:
            path.unlink()
        return command() == 0 and [lines(path) for path in paths] == before

    return check
