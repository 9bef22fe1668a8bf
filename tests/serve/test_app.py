from collections.abc import Iterator

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.runtime.parser import Parser
from headwise.runtime.scorer import Selection
from headwise.serve.models import Models
from headwise.settings.serving import ServeConfig
from tests.serve.made_servers import serving

TOKEN = {"authorization": "Bearer sésame".encode()}


def test_a_token_is_required_if_there_is_one(models: Models) -> None:
    with serving(ServeConfig(token="sésame"), models) as client:
        for path in ("/models", "/metrics", "/openapi.json", "/process?data=x", "/nothing"):
            answer = client.get(path)
            assert answer.status_code == 401, path
            assert answer.headers["www-authenticate"] == "Bearer"
            assert "token" in answer.json()["error"]["message"]
        for wrong in (b"Bearer sesame", b"Basic x", b"Bearer", b"sesame", b"Bearer \xff"):
            answer = client.post("/parse", json={"text": "Hi."}, headers={"authorization": wrong})
            assert answer.status_code == 401
        assert client.get("/").status_code == client.get("/health").status_code == 200
        assert client.post("/parse", json={"text": "Hi."}, headers=TOKEN).status_code == 200
        assert client.get("/metrics", headers=TOKEN).status_code == 200


PREFLIGHT = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type",
}
ALLOWED = "access-control-allow-origin"


def test_pages_of_other_origins_may_ask_only_if_allowed(models: Models) -> None:
    friend, stranger = {"origin": "https://example.org"}, {"origin": "https://example.com"}
    config = ServeConfig(cors=("https://example.org",), token="x", allowed_host=("*",))
    with serving(config, models) as client:
        assert client.get("/health", headers={"host": "evil.example"}).status_code == 200
        preflight = client.options("/parse", headers=friend | PREFLIGHT)
        assert preflight.headers[ALLOWED] == "https://example.org"
        assert ALLOWED not in client.options("/parse", headers=stranger | PREFLIGHT).headers
        without_token = client.get("/models", headers=friend | {"sec-fetch-site": "cross-site"})
        assert without_token.status_code == 401
        assert without_token.headers[ALLOWED] == "https://example.org"
        assert client.get("/models", headers=stranger).status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://example.org"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "https://example.org", "sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"}, 403),
        ({"origin": "https://proxy.example", "sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({}, 200),
    ],
)
def test_a_page_of_another_site_cannot_post_a_form(
    client: httpx.Client, headers: dict[str, str], status: int
) -> None:
    answer = client.post("/process", data={"data": "x", "tokenizer": ""}, headers=headers)
    assert answer.status_code == status
    if status == 403:
        assert ALLOWED not in answer.headers
        assert ALLOWED not in client.options("/parse", headers=headers | PREFLIGHT).headers


def test_our_own_page_and_links_from_anywhere_work(client: httpx.Client) -> None:
    port = client.base_url.port
    own = {"origin": f"http://127.0.0.1:{port}"}
    assert client.post("/parse", json={"text": "Hi."}, headers=own).status_code == 200
    link = {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"}
    assert client.get("/models", headers=link).status_code == 200
    image = {"sec-fetch-site": "cross-site", "sec-fetch-dest": "image"}
    assert client.get("/models", headers=image).status_code == 403
    assert client.get("/", headers=image).status_code == 200


@pytest.fixture(scope="module")
def named(models: Models) -> Iterator[httpx.Client]:
    config = ServeConfig(allowed_host=("Parser.example.org",), host="0.0.0.0")
    with serving(config, models) as client:
        yield client


@pytest.mark.parametrize(
    ("host", "is_allowed"),
    [
        ("localhost", True),
        ("LOCALHOST:8080", True),
        ("127.0.0.1:1", True),
        ("[::1]:8080", True),
        ("192.168.0.7", True),
        ("parser.example.org:443", True),
        ("evil.example", False),
        ("parser.example.org.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("[evil.example]", False),
        ("", False),
    ],
)
def test_the_server_has_only_its_own_names(
    named: httpx.Client, host: str, is_allowed: bool
) -> None:
    for path in ("/", "/health", "/models"):
        answer = named.get(path, headers={"host": host})
        assert answer.status_code == (200 if is_allowed else 421)
    if not is_allowed:
        assert "--allowed-host" in answer.json()["error"]["hint"]


KINDS = st.sampled_from(
    ["application/json", "application/x-www-form-urlencoded", "multipart/form-data", "", "a"]
)
PARAMETERS = st.sampled_from(
    ["", "; boundary=x", "; boundary*=utf-8''x; boundary*0=x", '; boundary="', "; charset=\xff"]
)
HEADER = st.text(
    st.characters(min_codepoint=0x21, max_codepoint=0xFF, exclude_categories=["Cc"]), max_size=20
)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["/parse", "/process", "/models", "/metrics", "/static/x", "/%ff", "/%00"]),
    st.sampled_from(["GET", "POST", "OPTIONS", "PUT"]),
    st.builds(str.__add__, KINDS, PARAMETERS),
    st.dictionaries(
        st.sampled_from(["origin", "authorization", "if-none-match", "sec-fetch-site", "accept"]),
        HEADER,
    ),
    st.one_of(
        st.binary(max_size=80),
        st.sampled_from([b"--x\r\n\r\n\r\n--x--", b"data=%", b'{"text":"\\u0000"}', b"[[[["]),
    ),
)
def test_no_request_makes_the_server_fail(
    client: httpx.Client, path: str, method: str, kind: str, headers: dict[str, str], body: bytes
) -> None:
    sent = {name: value.encode("latin-1") for name, value in headers.items()}
    sent["content-type"] = kind.encode("latin-1")
    answer = client.request(method, path, content=body, headers=sent)
    assert answer.status_code < 500


def test_methods(client: httpx.Client) -> None:
    options = client.options("/parse")
    assert (options.status_code, options.headers["allow"]) == (204, "POST, OPTIONS")
    assert client.options("/nothing").status_code == 404
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        answer = client.request(method, "/parse")
        assert answer.status_code == 405
        assert answer.headers["allow"] == "POST"
        assert answer.json()["error"]["message"] == "method not allowed"
    assert client.request("TRACE", "/").status_code == 405
    for path in ("/health", "/models", "/metrics", "/openapi.json"):
        head = client.head(path)
        assert (head.status_code, head.content) == (200, b"")
    assert client.get("/parse/").status_code == 404


class _Broken:
    def __init__(self, vocab: object) -> None:
        self.vocab = vocab

    def select(self, sentences: object) -> list[Selection]:
        raise ZeroDivisionError("a fault of ours")


@pytest.mark.filterwarnings("ignore")
def test_a_fault_of_ours_is_a_500_and_the_server_goes_on(parser: Parser) -> None:
    broken = Parser(_Broken(parser.vocab), parser.segmenter, parser.settings)  # type: ignore[arg-type]
    with serving(ServeConfig(), Models({"en": broken})) as client:
        answer = client.post("/parse", json={"text": "Hi."})
        assert answer.status_code == 500
        assert "fault of ours" not in answer.text
        assert client.get("/health").json()["jobs"] == 0
        assert 'path="/parse",status="500"' in client.get("/metrics").text
