"""Three commands that write, small inputs for them, and what they write undisturbed."""

from pathlib import Path
from typing import NamedTuple

import pytest

from headwise import Sentence
from tests.conftest import MakeOnce
from tests.faults.made_faults import read_tree, run

RECIPE = """
[model]
word_size = 24
tag_size = 12
hidden_size = 24
label_size = 24
min_count = 1
[train]
adam_epochs = 5
adam_rate = 0.01
sgd_epochs = 1
patience = 9
batch_size = 4
[label]
epochs = 2
"""


class Command(NamedTuple):
    """A command that writes `out` in its working directory, and what is there in the end."""

    name: str
    arguments: tuple[object, ...]
    expected: dict[str, bytes]

    def result(self, folder: Path) -> dict[str, bytes]:
        """Read what the command wrote; of a training run, the model."""
        return result_of(self.name, folder)

    def require_same(self, folder: Path) -> None:
        """Give the command again, with nothing in its way: it must write what it always does."""
        code, stderr = run(*self.arguments, cwd=folder)
        assert code == 0, stderr
        assert self.result(folder) == self.expected


def result_of(name: str, folder: Path) -> dict[str, bytes]:
    if name == "parse":
        return {path.name: path.read_bytes() for path in folder.iterdir()}
    return read_tree(folder / "out" / "model" if name == "train" else folder / "out")


@pytest.fixture(scope="session")
def inputs(make_once: MakeOnce, tiny_treebank: Path, ewt_sentences: list[Sentence]) -> Path:
    """Make a folder: a treebank, a recipe, and text of some 12 units."""

    def write(folder: Path) -> None:
        folder.mkdir()
        (folder / "recipe.toml").write_text(RECIPE)
        (folder / "train.conllu").write_bytes(tiny_treebank.read_bytes())
        text = "\n\n".join(sentence.text for sentence in ewt_sentences)
        (folder / "text.txt").write_text(text, encoding="utf-8")

    return make_once("faults", write)


@pytest.fixture(scope="session", params=["parse", "processes", "corpus", "train"])
def command(request: pytest.FixtureRequest, make_once: MakeOnce, inputs: Path) -> Command:
    """Give each command in turn."""
    text, treebank = inputs / "text.txt", inputs / "train.conllu"
    name, *flags = {
        "parse": ["parse"],
        "processes": ["parse", "--processes", 2],
        "corpus": ["corpus", text, "--workers", 0, "--unit-size", 0.001, "--compression", "none"],
        "train": ["train", inputs / "recipe.toml", "--train", treebank, "--dev", treebank],
    }[request.param]
    if name == "parse":
        flags = [text, *flags, "--format", "json"]
    if name == "train":
        flags += ["--device", "cpu"]
    arguments = (name, *flags, "-o", "out")

    def write(folder: Path) -> None:
        folder.mkdir()
        code, stderr = run(*arguments, cwd=folder)
        assert code == 0, stderr

    folder = make_once(f"undisturbed-{request.param}", write)
    return Command(name, arguments, result_of(name, folder))
