"""The model inside the package, and a server with small limits."""

from collections.abc import Iterator

import httpx
import pytest

from headwise.runtime.parser import Parser
from headwise.serve.models import Models, load_models
from headwise.settings.serving import ServeConfig
from tests.serve.made_servers import Gate, serving


@pytest.fixture(scope="session")
def models() -> Models:
    """`en`, and `words`, which is the same but cannot find words in text."""
    parser = load_models(["en"]).parsers["en"]
    blind = Parser(parser.scorer, None, parser.settings)
    return Models({"en": parser, "words-only": blind})


@pytest.fixture(scope="session")
def parser(models: Models) -> Parser:
    return models.parsers["en"]


@pytest.fixture(scope="session")
def client(models: Models) -> Iterator[httpx.Client]:
    """Ask a server with small limits."""
    config = ServeConfig(
        max_bytes=100_000, max_sentences=150, max_words=3_000, max_sentence_words=200, max_token=100
    )
    with serving(config, models) as asked:
        yield asked


@pytest.fixture
def gate(parser: Parser) -> Iterator[Gate]:
    made = Gate(parser.scorer)
    yield made
    made.open.set()


@pytest.fixture
def gated(gate: Gate, parser: Parser) -> Models:
    return Models({"en": Parser(gate, parser.segmenter, parser.settings)})
