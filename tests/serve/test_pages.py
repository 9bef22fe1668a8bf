import http.client
from pathlib import Path

import httpx
import pytest

from headwise.serve.pages import NO_PAGE, POLICY, read_files


def test_the_page_is_served_with_a_strict_policy(client: httpx.Client) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "unsafe" not in POLICY
    assert POLICY.startswith("default-src 'none'")
    assert client.head("/").headers["content-length"] == answer.headers["content-length"]


def test_what_is_known_is_not_sent_again(client: httpx.Client) -> None:
    etag = client.get("/").headers["etag"]
    again = client.get("/", headers={"if-none-match": f'"x", W/{etag}'})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/", headers={"if-none-match": '"x"'}).status_code == 200


def test_only_files_of_known_kinds_are_read(tmp_path: Path) -> None:
    for name in ("index.html", "a.js", "b.css", "notes.md", "noending", ".hidden"):
        (tmp_path / name).write_text(name)
    (tmp_path / "folder.js").mkdir()
    (tmp_path / "folder.js" / "c.js").write_text("c")
    table = read_files(tmp_path)
    assert sorted(table) == ["a.js", "b.css", "index.html"]
    assert table["a.js"][1] == "text/javascript; charset=utf-8"
    assert not read_files(tmp_path / "nowhere")
    assert NO_PAGE.isascii()


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/..%5capp.py",
        "/static//etc/passwd",
        "/static/",
        "/static/index.html%00.js",
        "//etc/passwd",
        "/../../etc/passwd",
        "/static/C:/x.js",
        "/%ff%fe",
    ],
)
def test_no_path_leads_to_the_file_system(client: httpx.Client, path: str) -> None:
    host = client.base_url.host
    connection = http.client.HTTPConnection(host, client.base_url.port)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", "localhost")
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status in (400, 404)
    assert b"root:" not in answer.read()
    connection.close()
