"""Fuzz a whole server over real connections: requests that are almost HTTP.

Every request gets a response that blames nobody wrongly, or a closed connection: never 500, never a
traceback in the log, and the server still parses at the end.
"""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile

from fuzz.mutate import change_bytes, change_list, change_string
from fuzz.targets import Target, make_body

PATHS = (
    "/parse",
    "/process",
    "/models",
    "/health",
    "/metrics",
    "/openapi.json",
    "/",
    "/page.js",
    "/x",
)
METHODS = ("POST", "POST", "POST", "GET", "HEAD", "PUT", "OPTIONS", "DELETE")
TYPES = {
    b"json": "application/json",
    b"query": "application/x-www-form-urlencoded",
    b"multipart": "multipart/form-data; boundary=x",
}
ALLOWED = {*range(200, 300), *range(300, 400), *range(400, 500), 503}
SECONDS = 5.0
PATIENCE = 0.5
"""Seconds for a response to begin; a request that was cut off gets none for a long time."""
AFTER_RESPONSE = 0.01
START = "Kids love candy."


def make_request(rng: random.Random) -> bytes:
    """Make a request with a body that may not fit its head."""
    kind, _, body = make_body(rng).partition(b"\n")
    path, method = rng.choice(PATHS), rng.choice(METHODS)
    if rng.random() < 0.6:
        path, method = ("/parse" if kind == b"json" else "/process"), "POST"
    path = change_string(rng, path)[:2_000] if rng.random() < 0.1 else path
    headers = ["Host: 127.0.0.1", f"Content-Type: {TYPES[kind]}"]
    chunked = rng.random() < 0.2
    headers.append("Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(body)}")
    if rng.random() < 0.3:
        headers = change_list(rng, headers, lambda header: change_string(rng, header)[:5_000])
    head = f"{method} {path} HTTP/1.1\r\n" + "\r\n".join(headers) + "\r\n\r\n"
    if chunked:
        trailer = b"X: y\r\n" * rng.choice((0, 1, 2_000))
        body = f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n" + trailer + b"\r\n"
    data = head.encode("utf-8", "surrogatepass") + body
    return change_bytes(rng, data) if rng.random() < 0.1 else data


@contextmanager
def fuzzed_server() -> Iterator[Target]:
    """Start a server; at the end it must be alive, and its log without a traceback."""
    command = [sys.executable, "-m", "headwise", "serve", "--port", "0"]
    with TemporaryFile() as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            port = wait_for_port(log, server)
            yield Target("server", make_request, lambda data: check_request(port, data))
            assert server.poll() is None, "the server has died"
            assert START in ask(port, make_plain_request(), SECONDS), (
                "the server does not parse any more"
            )
            text = read_log(log)
            assert "Traceback" not in text, text[text.index("Traceback") :][:3_000]
        finally:
            server.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                server.wait(10)
            server.kill()


def read_log(log: object) -> str:
    """Read what the server has logged so far, without moving its place in the file."""
    descriptor = log.fileno()  # type: ignore[attr-defined]
    return os.pread(descriptor, 2**26, 0).decode("utf-8", "replace")


def wait_for_port(log: object, server: "subprocess.Popen[bytes]") -> int:
    """Wait until the server says where it listens."""
    while server.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)", read_log(log)):
            return int(found[1])
        with suppress(subprocess.TimeoutExpired):
            server.wait(0.05)
    raise AssertionError(f"the server does not start: {read_log(log)}")


def make_plain_request() -> bytes:
    """Make a request that must be answered."""
    body = json.dumps({"text": START}).encode()
    head = f"POST /parse HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Content-Type: application/json\r\nConnection: close\r\n\r\n".encode() + body


def ask(port: int, data: bytes, seconds: float) -> str:
    """Send a request, and read what comes until nothing more has come for so many seconds."""
    answer = bytearray()
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        with suppress(ConnectionError):
            connection.sendall(data)
        connection.settimeout(seconds)
        with suppress(ConnectionError, TimeoutError):
            while part := connection.recv(65_536):
                answer += part
                connection.settimeout(AFTER_RESPONSE)
    return answer.decode("utf-8", "replace")


def check_request(port: int, data: bytes) -> None:
    """Every response has a status that is allowed; a request that never ends may get none."""
    answer = ask(port, data, PATIENCE)
    for status in re.findall(r"^HTTP/1\.1 (\d{3}) ", answer, re.MULTILINE):
        assert int(status) in ALLOWED, f"status {status}: {answer[:500]}"
