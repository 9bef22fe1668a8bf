"""What no honest client sends, byte by byte."""

import socket
from collections.abc import Iterator

import httpx
import pytest

from headwise.serve import wire
from headwise.serve.models import Models
from headwise.settings.serving import ServeConfig
from tests.serve.made_servers import serving

POST = b"POST /parse HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
GOOD = b'{"text": "Hi."}'


@pytest.fixture(scope="module")
def hasty(models: Models) -> Iterator[httpx.Client]:
    """Ask a server that waits for nobody."""
    patch = pytest.MonkeyPatch()
    patch.setattr(wire, "MAX_HEAD_SECONDS", 0.8)
    config = ServeConfig(max_seconds=0.8, max_bytes=1_000, max_connections=20)
    with serving(config, models) as client:
        yield client
    patch.undo()


def connect(client: httpx.Client) -> socket.socket:
    port = client.base_url.port
    assert port
    return socket.create_connection((client.base_url.host, port), timeout=10)


def read_all(sock: socket.socket) -> bytes:
    data = b""
    try:
        while part := sock.recv(65_536):
            data += part
    except ConnectionResetError:
        pass
    return data


def say(client: httpx.Client, *parts: bytes) -> bytes:
    """Send parts and read until the server hangs up."""
    with connect(client) as sock:
        try:
            for part in parts:
                sock.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return read_all(sock)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize(
    "sent",
    [
        b"GARBAGE\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nA\x00B: c\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nA : c\r\n\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        POST + b"Content-Length: abc\r\n\r\n",
        POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        POST + b"Content-Length: 99999999999999999999999999\r\n\r\n",
    ],
)
def test_what_is_no_http_gets_400(hasty: httpx.Client, sent: bytes) -> None:
    assert status(say(hasty, sent)) == 400


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow", b"\r\n\r\n"]
)
def test_a_slow_head_ends_the_connection(hasty: httpx.Client, sent: bytes) -> None:
    assert status(say(hasty, sent)) == 408


def test_a_slow_second_head_ends_the_connection(hasty: httpx.Client) -> None:
    first = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    with connect(hasty) as sock:
        sock.sendall(first)
        assert status(sock.recv(10_000)) == 200
        sock.sendall(b"GET /hea")
        assert status(read_all(sock)) == 408


def test_a_slow_body_ends_the_connection(hasty: httpx.Client) -> None:
    answer = say(hasty, POST + b"Content-Length: 500\r\n\r\n{")
    assert status(answer) == 408
    assert b"connection: close" in answer
    assert b"took longer" in answer


def test_a_body_that_breaks_off_is_noticed(hasty: httpx.Client) -> None:
    with connect(hasty) as sock:
        sock.sendall(POST + b"Content-Length: 500\r\n\r\n{")
    assert hasty.get("/health").status_code == 200


@pytest.mark.parametrize(
    "line", [b"X-%d: " + b"a" * 4_000 + b"\r\n", b"X-%d: b\r\n" * 300, b"X-%d" + b"c" * 4_000]
)
def test_endless_heads_are_cut(hasty: httpx.Client, line: bytes) -> None:
    parts = [line.replace(b"%d", str(i).encode()) for i in range(400)]
    answer = say(hasty, b"GET / HTTP/1.1\r\nHost: x\r\n", *parts)
    assert not answer or status(answer) in (400, 431)


@pytest.mark.parametrize(
    "head", [b"GET / HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", b"GET /?%s HTTP/1.1\r\nHost: x\r\n\r\n"]
)
def test_large_heads_that_end_are_refused_too(hasty: httpx.Client, head: bytes) -> None:
    assert status(say(hasty, head % (b"a" * 70_000))) == 431


def test_endless_paths_are_cut(hasty: httpx.Client) -> None:
    answer = say(hasty, b"GET /", *[b"a" * 8_000] * 200)
    assert not answer or status(answer) in (400, 431)


def test_chunks_without_end_are_cut(hasty: httpx.Client) -> None:
    chunk = b"100\r\n" + b" " * 256 + b"\r\n"
    answer = say(hasty, POST + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 40)
    assert not answer or status(answer) == 413


def test_a_body_declared_far_too_large_is_not_waited_for(hasty: httpx.Client) -> None:
    assert status(say(hasty, POST + b"Content-Length: 9999999999\r\n\r\n")) == 413


def test_chunks_and_expectations_are_honoured(hasty: httpx.Client) -> None:
    chunked = POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    sent = b"".join(b"1\r\n%c\r\n" % byte for byte in GOOD) + b"0\r\n\r\n"
    assert status(say(hasty, chunked, sent)) == 200
    with connect(hasty) as sock:
        head = b"Connection: close\r\nExpect: 100-continue\r\nContent-Length: 15\r\n\r\n"
        sock.sendall(POST + head)
        assert status(sock.recv(1_000)) == 100
        sock.sendall(GOOD)
        assert status(read_all(sock)) == 200


def test_requests_in_a_row_are_answered_in_order(hasty: httpx.Client) -> None:
    one = POST + b"Content-Length: 15\r\n\r\n" + GOOD
    last = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answer = say(hasty, one * 3 + last)
    assert answer.count(b"HTTP/1.1 200") == 4
    assert answer.endswith(b'"jobs":0}')


def test_an_upgrade_is_not_made(hasty: httpx.Client) -> None:
    head = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    with connect(hasty) as sock:
        sock.sendall(head)
        assert status(sock.recv(1_000)) in (200, 400)


def test_too_many_connections_get_503(hasty: httpx.Client) -> None:
    held = [connect(hasty) for _ in range(25)]
    answer = say(hasty, b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert status(answer) == 503
    for sock in held:
        assert status(read_all(sock)) == 408
        sock.close()
    assert hasty.get("/health").status_code == 200
