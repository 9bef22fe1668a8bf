"""Load on a server, over loopback, by wrk: throughput, latency, overload, memory.

    python -m bench.serve
    python -m bench.serve --seconds 30 --requests 10000 200000 --workers 2

wrk 4 must be on the path. Texts are sentences of about 20 words from a treebank file. Printed are:
how many requests a second one process answers without a server (threads on the parser, text in and
JSON out) and how many with one, at 32 connections; the 99th percentile of the time to answer at
half that; what happens at ten times the capacity, and how soon one request is answered after it;
the resident memory after so many requests. Server, wrk and this script share the machine.
"""

import argparse
import http.client
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import headwise
from headwise.render import to_json
from headwise.render.arcs import text_of

CONNECTIONS = 32
SAMPLE = "tests/fixtures/ewt-dev-100.conllu"
SCRIPT = """
local bodies = {{ {bodies} }}
local next_body = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
function request()
  next_body = next_body % #bodies + 1
  return wrk.format(nil, "/parse", nil, bodies[next_body])
end
"""
DELAY = "function delay() return math.random(0, {most}) end\n"


class Loaded(NamedTuple):
    """What wrk saw."""

    rate: float
    p99: float
    """Milliseconds."""
    refused: int
    n_requests: int
    broken: str
    """Connections that failed, in wrk's words."""


class Server(NamedTuple):
    """A server in a process of its own."""

    url: str
    pid: int

    def memory(self) -> int:
        """Give its resident memory in MiB."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found
        return int(found[1]) // 1024


@contextmanager
def serving(workers: int, *flags: str) -> Iterator[Server]:
    """Start a server on a free port, and end it."""
    command = [sys.executable, "-m", "headwise", "serve", "--port", "0", "--workers", str(workers)]
    process = subprocess.Popen([*command, *flags], stderr=subprocess.PIPE, text=True)
    assert process.stderr
    found = re.search(r"http://\S+", process.stderr.readline())
    assert found
    try:
        yield Server(found[0], process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def load(url: str, texts: list[str], connections: int, seconds: int, delay: int = 0) -> Loaded:
    """Let wrk ask for so long; with `delay`, each connection pauses up to so many milliseconds."""
    bodies = ", ".join(f"[==[{json.dumps({'text': text})}]==]" for text in texts)
    script = SCRIPT.format(bodies=bodies) + (DELAY.format(most=delay) if delay else "")
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as stream:
        stream.write(script)
        stream.flush()
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s"]
        done = subprocess.run(
            [*command, "--latency", "-s", stream.name, url],
            capture_output=True, check=True, text=True,
        ).stdout  # fmt: skip
    tail = re.search(r"99%\s+([0-9.]+)(us|ms|s)", done)
    rate = re.search(r"Requests/sec:\s+([0-9.]+)", done)
    total = re.search(r"(\d+) requests in", done)
    assert tail
    assert rate
    assert total
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", done)
    broken = re.search(r"Socket errors: (.*)", done)
    scale = {"us": 0.001, "ms": 1.0, "s": 1000.0}[tail[2]]
    return Loaded(
        float(rate[1]), float(tail[1]) * scale, int(refused[1]) if refused else 0,
        int(total[1]), broken[1] if broken else "none",
    )  # fmt: skip


def in_process(texts: list[str], workers: int, seconds: float) -> float:
    """Parse without a server, on as many threads; give texts a second."""
    parser = headwise.load()

    def parse(text: str) -> int:
        return sum(len(to_json(*both)) for both in parser.annotate_text(text))

    n_texts = 0
    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        while time.perf_counter() - started < seconds:
            n_texts += len(list(pool.map(parse, texts)))
        return n_texts / (time.perf_counter() - started)


def ask_until_answered(url: str, text: str) -> float:
    """Ask for one parse until it is given; say how long that took."""
    started = time.perf_counter()
    body, kind = json.dumps({"text": text}), {"Content-Type": "application/json"}
    while True:
        connection = http.client.HTTPConnection(url.removeprefix("http://"))
        connection.request("POST", "/parse", body, kind)
        if connection.getresponse().status == 200:
            return time.perf_counter() - started
        connection.close()
        time.sleep(0.01)


def sample_texts(path: str) -> list[str]:
    """Give sentences of about 20 words."""
    sentences = [s for s in headwise.read_sentences(path) if 16 <= len(s) <= 24]
    return [text_of(sentence) for sentence in sentences]


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument("--seconds", type=int, default=5)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--requests", type=int, nargs=2, default=[1_000, 3_000])
    options.add_argument("--sample", default=SAMPLE)
    given = options.parse_args()
    texts = sample_texts(given.sample)
    with serving(given.workers) as server:
        load(server.url, texts, CONNECTIONS, 2)  # to warm up
        alone = in_process(texts, given.workers, given.seconds)
        print(f"in process, {given.workers} threads: {alone:.0f} requests/s")
        full = load(server.url, texts, CONNECTIONS, given.seconds)
        print(f"served, {CONNECTIONS} connections: {full.rate:.0f} requests/s", end=" ")
        print(f"({full.rate / alone:.0%}), p99 {full.p99:.0f} ms, broken: {full.broken}")
        pause = round(2 * 1000 * CONNECTIONS / (full.rate / 2))
        half = load(server.url, texts, CONNECTIONS, given.seconds, pause)
        print(f"at {half.rate / full.rate:.0%} of that: p99 {half.p99:.0f} ms")
    with serving(given.workers) as server:
        overload(server, texts, given.seconds)
    with serving(given.workers) as server:
        remember(server, texts, given.requests)


def overload(server: Server, texts: list[str], seconds: int) -> None:
    """Ask for ten times what there is room for: 320 connections with 20 sentences each."""
    long = [" ".join(texts[i:] + texts[:i])[:2_000] for i in range(10)]
    load(server.url, long, 4, 2)
    before = server.memory()
    full = load(server.url, long, 10 * CONNECTIONS, seconds)
    recovered = ask_until_answered(server.url, texts[0])
    after = server.memory()
    print(
        f"overload, {10 * CONNECTIONS} connections, 400 words each: {full.n_requests} answers,",
        end=" ",
    )
    print(
        f"{full.refused} of them 429; broken: {full.broken}; next answer after {recovered:.2f} s;"
    )
    print(f"  memory {before} MiB before, {after} MiB after")


def remember(server: Server, texts: list[str], requests: list[int]) -> None:
    """Compare the memory after some requests and after many."""
    n_requests, seen = 0, []
    for most in requests:
        while n_requests < most:
            n_requests += load(server.url, texts, CONNECTIONS, 5).n_requests
        seen.append(server.memory())
        print(f"after {n_requests:,} requests: {seen[-1]} MiB")
    print(f"  {seen[1] / seen[0] - 1:+.1%}")


if __name__ == "__main__":
    main()
