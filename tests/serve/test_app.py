import httpx
import pytest

from headwise.runtime.parser import Parser
from headwise.runtime.scorer import Selection
from headwise.serve.models import Models
from headwise.settings.serving import ServeConfig
from tests.serve.made_servers import serving

TOKEN = {"authorization": "Bearer sésame".encode()}


def test_a_token_is_asked_for_where_there_is_one(models: Models) -> None:
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


def test_pages_of_other_origins_may_ask_only_if_told(models: Models, client: httpx.Client) -> None:
    origin = {"origin": "https://example.org"}
    wish = origin | {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    assert "access-control-allow-origin" not in client.get("/models", headers=origin).headers
    assert "access-control-allow-origin" not in client.options("/parse", headers=wish).headers
    config = ServeConfig(cors=("https://example.org",), token="x")
    with serving(config, models) as asked:
        allowed = "access-control-allow-origin"
        assert asked.options("/parse", headers=wish).headers[allowed] == "https://example.org"
        refused = asked.get("/models", headers=origin)
        assert refused.status_code == 401
        assert refused.headers[allowed] == "https://example.org"
        other = wish | {"origin": "https://example.com"}
        assert allowed not in asked.options("/parse", headers=other).headers


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
