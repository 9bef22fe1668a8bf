"""The description against the code, and the code against requests made from the description."""

import httpx
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

from headwise.serve.app import ROUTES
from headwise.serve.schema import describe_api
from headwise.version import VERSION
from tests.serve.made_servers import url_of

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    unsupported_method,
]


def test_every_route_is_described() -> None:
    described = {
        (path, method.upper())
        for path, operations in describe_api()["paths"].items()
        for method in operations
    }
    assert described == {(path, method) for path, _, methods in ROUTES for method in methods}
    assert describe_api()["info"]["version"] == VERSION


@pytest.fixture(scope="module")
def api(client: httpx.Client) -> BaseSchema:
    return schemathesis.openapi.from_url(url_of(client, "/openapi.json"))


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
