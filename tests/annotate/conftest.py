"""The model inside the package, and a file of 100 sentences to annotate."""

from pathlib import Path

import pytest

import headwise
from headwise.annotate.decode import Redecoder
from headwise.runtime.parser import Parser
from headwise.serve.models import Models, load_models

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture(scope="session")
def models() -> Models:
    return load_models(["en"])


@pytest.fixture(scope="session")
def parser(models: Models) -> Parser:
    return models.parsers["en"]


@pytest.fixture(scope="session")
def redecoder(parser: Parser) -> Redecoder:
    return Redecoder(parser)


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "ewt.conllu"
    path.write_bytes((FIXTURES / "ewt-dev-100.conllu").read_bytes())
    return path


@pytest.fixture(scope="session")
def sentences() -> list[headwise.Sentence]:
    return list(headwise.read_sentences(FIXTURES / "ewt-dev-100.conllu"))
