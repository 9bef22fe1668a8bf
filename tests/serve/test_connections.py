"""What no honest client sends, byte by byte."""

import json
import logging
import socket
from collections.abc import Iterator

import httpx
import pytest

from headwise.serve.models import Models
from headwise.serve.server import MAX_PIPELINED, LogLimit
from headwise.settings.serving import ServeConfig
from tests.serve.made_servers import connect, serving, wait_until

POST = b"POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
GOOD = b'{"text": "Hi."}'


@pytest.fixture(scope="module")
def hasty(models: Models) -> Iterator[httpx.Client]:
    """Ask a server with very short time limits."""
    config = ServeConfig(max_seconds=0.8, max_bytes=100_000, max_connections=20)
    with serving(config, models) as client:
        yield client


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


NOT_HTTP = [
    b"GARBAGE\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    HEALTH + b"A\x00B: c\r\n\r\n",
    HEALTH + b"A : c\r\n\r\n",
    POST + b"Content-Length: -1\r\n\r\n",
    POST + b"Content-Length: abc\r\n\r\n",
    POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    POST + b"Content-Length: 99999999999999999999999999\r\n\r\n",
]
TOO_SLOW = [
    b"",
    b"GET / HT",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow",
    b"\r\n\r\n",
    POST + b"Content-Length: 500\r\n\r\n{",
]
TOO_LARGE = [
    HEALTH + b"X: " + b"a" * 70_000 + b"\r\n\r\n",
    b"GET /?" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
]


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        *((sent, 400) for sent in NOT_HTTP),
        *((sent, 408) for sent in TOO_SLOW),
        *((sent, 431) for sent in TOO_LARGE),
        (POST + b"Content-Length: 9999999999\r\n\r\n", 413),
        (HEALTH + b"Host: localhost\r\nConnection: close\r\n\r\n", 421),
    ],
)
def test_what_is_broken_slow_or_large_ends_the_connection(
    hasty: httpx.Client, sent: bytes, expected: int
) -> None:
    assert status(say(hasty, sent)) == expected


@pytest.mark.parametrize(
    ("start", "part", "statuses"),
    [
        (HEALTH, b"X-%d: " + b"a" * 4_000 + b"\r\n", {400, 431}),
        (HEALTH, b"X-%d: b\r\n" * 300, {400, 431}),
        (HEALTH, b"X-%d" + b"c" * 4_000, {400, 431}),
        (b"GET /", b"a" * 8_000, {400, 431}),
        (CHUNKED, b"8000\r\n" + b" " * 0x8000 + b"\r\n", {413}),
        (CHUNKED, b"1;a=" + b"b" * 100_000, {431}),
        (CHUNKED, b"0\r\n" + b"Trailer: b\r\n" * 3_000, {431}),
        (CHUNKED, b"0\r\nTrailer: " + b"b" * 100_000, {431}),
    ],
)
def test_heads_chunks_extensions_and_trailers_without_end_are_cut(
    hasty: httpx.Client, start: bytes, part: bytes, statuses: set[int]
) -> None:
    parts = [part.replace(b"%d", str(i).encode()) for i in range(200)]
    answer = say(hasty, start, *parts)
    assert not answer or status(answer) in statuses


def test_a_slow_second_head_ends_the_connection(hasty: httpx.Client) -> None:
    with connect(hasty) as sock:
        sock.sendall(HEALTH + b"\r\n")
        assert status(sock.recv(10_000)) == 200
        sock.sendall(b"GET /hea")
        assert status(read_all(sock)) == 408


def test_a_body_that_breaks_off_is_noticed(hasty: httpx.Client) -> None:
    with connect(hasty) as sock:
        sock.sendall(POST + b"Content-Length: 500\r\n\r\n{")
    assert hasty.get("/health").status_code == 200


def test_a_head_split_inside_its_blank_line_does_not_count_the_body(hasty: httpx.Client) -> None:
    body = json.dumps({"text": "Hi." + " " * 80_000}).encode()
    head = POST + b"Connection: close\r\nContent-Length: %d\r\n\r" % len(body)
    with connect(hasty) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(head)
        wait_until(lambda: hasty.get("/health").status_code == 200)
        sock.sendall(b"\n" + body)
        assert status(read_all(sock)) == 200


def test_requests_far_ahead_of_their_answers_end_the_connection(hasty: httpx.Client) -> None:
    answer = say(hasty, (HEALTH + b"\r\n") * 1_000)
    assert answer.count(b"HTTP/1.1 200") <= MAX_PIPELINED + 1
    assert b"HTTP/1.1 429" in answer


@pytest.mark.parametrize("does_read", [True, False])
def test_only_a_client_that_does_not_read_is_cut_off(models: Models, does_read: bool) -> None:
    data = "# " + "x" * 7_000_000 + "\n1\tKids" + "\t_" * 8 + "\n\n"
    max_seconds = 30 if does_read else 1.5
    with serving(ServeConfig(max_bytes=2**23, max_seconds=max_seconds), models) as client:
        request = httpx.Request("POST", "http://localhost/process", files={"data": data.encode()})
        body = request.read()
        kind = request.headers["content-type"].encode()
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            sock.connect((client.base_url.host, client.base_url.port))
            head = b"POST /process HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + kind
            sock.sendall(
                head + b"\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            )
            if not does_read:
                wait_until(lambda: 'path="/process",status="200"' in client.get("/metrics").text)
            sock.settimeout(10)
            assert (len(read_all(sock)) > 7_000_000) == does_read


def test_a_warning_is_logged_once_in_a_while() -> None:
    limit = LogLimit(interval=60)
    warning, error = (
        logging.LogRecord("x", level, "", 0, "Invalid HTTP request received.", (), None)
        for level in (logging.WARNING, logging.ERROR)
    )
    assert [limit.filter(warning) for _ in range(3)] == [True, False, False]
    assert limit.filter(error)
    assert LogLimit(interval=0).filter(warning)


def test_chunks_and_expectations_are_honoured_and_upgrades_are_not(hasty: httpx.Client) -> None:
    chunked = CHUNKED.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
    sent = b"".join(b"1\r\n%c\r\n" % byte for byte in GOOD) + b"0\r\n\r\n"
    assert status(say(hasty, chunked, sent)) == 200
    with connect(hasty) as sock:
        head = b"Connection: close\r\nExpect: 100-continue\r\nContent-Length: 15\r\n\r\n"
        sock.sendall(POST + head)
        assert status(sock.recv(1_000)) == 100
        sock.sendall(GOOD)
        assert status(read_all(sock)) == 200
    with connect(hasty) as sock:
        sock.sendall(HEALTH + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        assert status(sock.recv(1_000)) in (200, 400)


def test_requests_in_a_row_are_answered_in_order(hasty: httpx.Client) -> None:
    one = POST + b"Content-Length: 15\r\n\r\n" + GOOD
    last = HEALTH + b"Connection: close\r\n\r\n"
    answer = say(hasty, one * 3 + last)
    assert answer.count(b"HTTP/1.1 200") == 4
    assert answer.endswith(b'"jobs":0}')


def test_too_many_connections_get_503(hasty: httpx.Client) -> None:
    held = [connect(hasty) for _ in range(25)]
    answer = say(hasty, HEALTH + b"Connection: close\r\n\r\n")
    assert status(answer) == 503
    for sock in held:
        assert status(read_all(sock)) == 408
        sock.close()
    assert hasty.get("/health").status_code == 200
