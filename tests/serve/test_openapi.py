"""The description against the code, and the code against requests made from the description."""

import httpx
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from headwise.render.svg import DrawnTree
from headwise.serve.api import ParseRequest, description
from headwise.serve.app import ROUTES
from headwise.treebank.records import EmptyRecord, SentenceRecord, TokenRecord, WordRecord
from headwise.version import VERSION

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    unsupported_method,
]


def test_every_route_is_described() -> None:
    described = {
        (path, method.upper()) for path, ways in description()["paths"].items() for method in ways
    }
    assert described == {(path, method) for path, _, methods in ROUTES for method in methods}
    assert description()["info"]["version"] == VERSION


@pytest.mark.parametrize(
    ("name", "struct", "more"),
    [
        ("ParseRequest", ParseRequest, set()),
        ("Sentence", SentenceRecord, {"greedy", "distribution", "picture", "greedy_picture"}),
        ("Word", WordRecord, set()),
        ("Token", TokenRecord, set()),
        ("EmptyNode", EmptyRecord, set()),
        ("Picture", DrawnTree, set()),
    ],
)
def test_every_field_is_described(name: str, struct: type[msgspec.Struct], more: set[str]) -> None:
    schema = description()["components"]["schemas"][name]
    assert set(schema["properties"]) == set(struct.__struct_fields__) | more
    fields = msgspec.structs.fields(struct)
    if name != "ParseRequest":
        always = {field.name for field in fields if field.required}
        assert always <= set(schema["required"])


@pytest.fixture(scope="module")
def api(client: httpx.Client) -> BaseSchema:
    return schemathesis.openapi.from_url(f"{str(client.base_url).rstrip('/')}/openapi.json")


@pytest.mark.parametrize(
    ("path", "method", "mode"),
    [
        (path, method, mode)
        for path, _, methods in ROUTES
        for method in methods
        for mode in GenerationMode
        # Only these two take anything that could be wrong.
        if mode == GenerationMode.POSITIVE or path in ("/parse", "/process")
    ],
)
def test_no_request_breaks_the_server(
    api: BaseSchema, path: str, method: str, mode: GenerationMode
) -> None:
    """Send what the description allows, and what it does not."""
    operation = api[path][method]

    @settings(
        max_examples=60 if operation.body or operation.query else 1,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def ask(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=CHECKS, timeout=30)

    ask()
