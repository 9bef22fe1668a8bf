"""What greedy or hostile clients cost everybody else: latency and memory of a server under them.

    python -m bench.greedy_clients
    python -m bench.greedy_clients --workers 2

While each kind of client is at work, a short request and `/health` are sent again and again; the
longest time that either took is printed, and by how much the memory of the server grew. Server and
clients share the machine.
"""

import argparse
import http.client
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from bench.serve import Server, serving

MIB = 2**20
BODY_BYTES = 4 * MIB
JSON_TYPE = "application/json"
FORM_TYPE = "application/x-www-form-urlencoded"
PARTS_TYPE = "multipart/form-data; boundary=x"
Body = tuple[str, str, bytes]
"""Path, content type and body of a request."""


def large_bodies() -> dict[str, Body]:
    """Make bodies of the largest size that are slow to decode."""
    json_parse, form_process = ("/parse", JSON_TYPE), ("/process", FORM_TYPE)
    parts_process = ("/process", PARTS_TYPE)
    head, name, end = b"--x\r\nContent-Disposition: form-data", b'; name="data"', b"\r\n--x--\r\n"
    part = head + name + b"\r\n\r\n"
    return {
        "one text": (*json_parse, filled(b'{"text": "', b"a ", b'"}')),
        "many tokens": (*json_parse, filled(b'{"tokens": [[', b'"a",', b'"a"]]}')),
        "many lists": (*json_parse, filled(b'{"tokens": [', b'[""],', b'["a"]]}')),
        "blank lines of CoNLL-U": (*json_parse, filled(b'{"conllu": "', b"\\n", b'"}')),
        "escaped form": (*form_process, filled(b"tokenizer&data=", b"%41", b"")),
        "form of many fields": (*form_process, filled(b"", b"a&", b"")),
        "multipart, line ends": (*parts_process, filled(part, b"\r\n", end)),
        "multipart, hyphens": (*parts_process, filled(part, b"\r\n--", end)),
        "multipart, semicolons": (*parts_process, filled(head, b";", name + b"\r\n\r\n" + end)),
    }


def filled(start: bytes, middle: bytes, end: bytes) -> bytes:
    """Repeat the middle up to the largest size."""
    n_times = (BODY_BYTES - len(start) - len(end)) // len(middle)
    return start + middle * n_times + end


def ask(server: Server, path: str, body: bytes | None, kind: str) -> tuple[int, float]:
    """Send one request; return its status and the seconds that it took."""
    started = time.perf_counter()
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=120)
    connection.request("GET" if body is None else "POST", path, body, {"Content-Type": kind})
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, time.perf_counter() - started


@contextmanager
def watched(server: Server, what: str) -> Iterator[None]:
    """Print the worst latency, and the growth of memory, while the block runs."""
    before = peak = server.memory()
    longest = {"short request": 0.0, "/health": 0.0}
    statuses: Counter[int] = Counter()
    done = threading.Event()

    def probe() -> None:
        nonlocal peak
        short = json.dumps({"text": "Kids love candy."}).encode()
        while not done.is_set():
            status, seconds = ask(server, "/parse", short, JSON_TYPE)
            statuses[status] += 1
            longest["short request"] = max(longest["short request"], seconds)
            _, seconds = ask(server, "/health", None, JSON_TYPE)
            longest["/health"] = max(longest["/health"], seconds)
            peak = max(peak, server.memory())
            time.sleep(0.02)

    thread = threading.Thread(target=probe)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    times = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in longest.items())
    refused = {status: n for status, n in statuses.items() if n and status != 200}
    print(f"{what}: at most {times}; short requests refused: {refused or 'none'};", end=" ")
    print(f"memory {before} MiB before, {peak} MiB at most", flush=True)


def in_threads(n_threads: int, call: Callable[[], object]) -> None:
    """Call a function in so many threads at the same time, and wait for all."""
    threads = [threading.Thread(target=call) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def long_sentences(server: Server) -> None:
    """Eight requests with a sentence of 1,500 words each, for Eisner's algorithm."""
    statuses: Counter[int] = Counter()
    words = ["the", "dog", "sees", "likes", "of", "in", "and", "Kids", "love", "candy", "that"]
    tokens = [words[i * i % 17 % len(words)] for i in range(1_500)]
    body = json.dumps({"tokens": [tokens], "decoder": "eisner"}).encode()

    def call() -> None:
        status, _ = ask(server, "/parse", body, JSON_TYPE)
        statuses[status] += 1

    with watched(server, "8 x 1,500 words with Eisner"):
        in_threads(8, call)
    print(f"  their answers: {dict(statuses)}")


def hold(server: Server, n_connections: int, sent: bytes, seconds: float) -> None:
    """Open connections, send the same on each, and keep them open."""
    host, port = server.url.removeprefix("http://").split(":")
    held = []
    for _ in range(n_connections):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        sock.connect((host, int(port)))
        sock.settimeout(5)
        with suppress(OSError):  # the server may refuse it
            sock.sendall(sent)
        held.append(sock)
    time.sleep(seconds)
    for sock in held:
        sock.close()


def slow_clients() -> dict[str, bytes]:
    """Make what a hundred connections send, each of which then waits."""
    head = b"POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n"
    unsent = head + b"Content-Length: %d\r\n\r\n" % BODY_BYTES
    tokens = b'{"distribution": true, "tokens": [[' + b'"a",' * 699 + b'"a"]]}'
    return {
        "half of a head": b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 90,
        "head of 60 KB": b"GET /?" + b"a" * 60_000,
        "body of 4 MB but for a byte": unsent + b" " * (BODY_BYTES - 1),
        "endless trailers": chunked + b"0\r\n" + b"A: b\r\n" * 1_000_000,
        "one endless trailer": chunked + b"0\r\nA: " + b"b" * (4 * BODY_BYTES),
        "requests ahead": b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 10_000,
        "4 MB answers, not read": head + b"Content-Length: %d\r\n\r\n" % len(tokens) + tokens,
    }


def main() -> None:
    """Let each kind of client have a server of its own."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument("--workers", type=int, default=2)
    workers = options.parse_args().workers
    with serving(workers) as server:
        long_sentences(server)
    for what, (path, kind, body) in large_bodies().items():
        with serving(workers) as server, watched(server, f"8 bodies of 4 MB: {what}"):
            in_threads(8, lambda: ask(server, path, body, kind))  # noqa: B023 - called at once
    for what, sent in slow_clients().items():
        with serving(workers) as server, watched(server, f"100 connections: {what}"):
            hold(server, 100, sent, 5)


if __name__ == "__main__":
    main()
