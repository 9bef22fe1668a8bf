"""Throughput, latency, overload and memory of a server, measured with wrk over loopback.

    python -m bench.serve
    python -m bench.serve --seconds 10 --rounds 5 --requests 10000 200000 --workers 2

wrk 4 must be on the path. Texts are sentences of about 20 words from a treebank file. It prints

- requests per second at 32 connections: of the parser on threads in this process (text in, JSON
  out), of a server with as many threads, and of one with as many processes of one thread each, in
  turns for several rounds; and the 99th percentile of the latency at that load and at half of it;
- the answers at ten times the capacity, and how soon after that one request is answered;
- the resident memory after some requests and after many.

Server, wrk and this script share the machine.
"""

import argparse
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

import headwise
from headwise.render import to_json

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
DELAY = "function delay() return math.random(0, {max_delay}) end\n"


class WrkResult(NamedTuple):
    """What wrk measured."""

    rate: float
    p99: float
    """Milliseconds."""
    refused: int
    n_requests: int
    broken: str
    """Connections that failed, as wrk reports them."""


class Server(NamedTuple):
    """A server in a process of its own."""

    url: str
    pid: int

    def memory(self) -> int:
        """Return its resident memory in MiB."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found
        return int(found[1]) // 1024


@contextmanager
def serving(workers: int, processes: int = 1, *flags: str) -> Iterator[Server]:
    """Start a server on a free port, wait until it answers, and stop it at the end."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "headwise", "serve", "--quiet", "--port", str(port)]
    command += ["--workers", str(workers), "--processes", str(processes), *flags]
    process = subprocess.Popen(command)
    url = f"http://127.0.0.1:{port}"
    try:
        ask_until_answered(url, "Wait.")
        time.sleep(2 * (processes - 1))  # for the other processes
        yield Server(url, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def load(url: str, texts: list[str], connections: int, seconds: int, delay: int = 0) -> WrkResult:
    """Run wrk for some seconds; each connection pauses for up to `delay` milliseconds."""
    bodies = ", ".join(f"[==[{json.dumps({'text': text})}]==]" for text in texts)
    script = SCRIPT.format(bodies=bodies) + (DELAY.format(max_delay=delay) if delay else "")
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
    return WrkResult(
        float(rate[1]), float(tail[1]) * scale, int(refused[1]) if refused else 0,
        int(total[1]), broken[1] if broken else "none",
    )  # fmt: skip


def in_process(texts: list[str], workers: int, seconds: float) -> float:
    """Parse without a server, on as many threads; return texts per second."""
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
    """Send a request until it is answered; return how long that took."""
    started = time.perf_counter()
    body, kind = json.dumps({"text": text}), {"Content-Type": "application/json"}
    while True:
        connection = http.client.HTTPConnection(url.removeprefix("http://"))
        try:
            connection.request("POST", "/parse", body, kind)
            if connection.getresponse().status == 200:
                return time.perf_counter() - started
        except ConnectionRefusedError:  # it is still starting
            pass
        finally:
            connection.close()
        time.sleep(0.01)


def sample_texts(path: str) -> list[str]:
    """Read sentences of about 20 words."""
    sentences = [s for s in headwise.read_sentences(path) if 16 <= len(s) <= 24]
    return [sentence.text for sentence in sentences]


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument("--seconds", type=int, default=5)
    options.add_argument("--rounds", type=int, default=1)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--requests", type=int, nargs=2, default=[1_000, 3_000])
    options.add_argument("--sample", default=SAMPLE)
    arguments = options.parse_args()
    texts = sample_texts(arguments.sample)
    throughput(texts, arguments.workers, arguments.rounds, arguments.seconds)
    with serving(arguments.workers) as server:
        overload(server, texts, arguments.seconds)
    with serving(arguments.workers) as server:
        memory_growth(server, texts, arguments.requests)


def throughput(texts: list[str], workers: int, rounds: int, seconds: int) -> None:
    """Compare servers with the parser alone, in turns; print the medians of all rounds."""
    alone: list[float] = []
    seen: dict[tuple[int, int], list[tuple[WrkResult, WrkResult]]] = {
        (workers, 1): [],
        (1, workers): [],
    }
    for _ in range(rounds):
        alone.append(in_process(texts, workers, seconds))
        for (n_threads, n_processes), answers in seen.items():
            with serving(n_threads, n_processes) as server:
                load(server.url, texts, CONNECTIONS, 2)  # to warm up
                full = load(server.url, texts, CONNECTIONS, seconds)
                pause = round(2 * 1000 * CONNECTIONS / (full.rate / 2))
                answers.append((full, load(server.url, texts, CONNECTIONS, seconds, pause)))
    print(f"in process, {workers} threads: {median(alone):.0f} requests/s")
    for (n_threads, n_processes), answers in seen.items():
        rate = median(full.rate for full, _ in answers)
        shares = [full.rate / own for (full, _), own in zip(answers, alone, strict=True)]
        p99, p99_half = (median(of.p99 for of in both) for both in zip(*answers, strict=True))
        broken = {load.broken for both in answers for load in both}
        each = ", ".join(f"{share:.0%}" for share in shares)
        print(f"served, {n_processes} x {n_threads} threads, {CONNECTIONS} connections:", end=" ")
        print(f"{rate:.0f} requests/s, {median(shares):.0%} ({each});")
        print(f"  p99 {p99:.0f} ms, at half that {p99_half:.0f} ms; broken: {', '.join(broken)}")


def overload(server: Server, texts: list[str], seconds: int) -> None:
    """Send ten times what the server can do: 320 connections with 20 sentences each."""
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


def memory_growth(server: Server, texts: list[str], requests: list[int]) -> None:
    """Compare the memory after some requests and after many."""
    n_requests, seen = 0, []
    for n_wanted in requests:
        while n_requests < n_wanted:
            n_requests += load(server.url, texts, CONNECTIONS, 5).n_requests
        seen.append(server.memory())
        print(f"after {n_requests:,} requests: {seen[-1]} MiB")
    print(f"  {seen[1] / seen[0] - 1:+.1%}")


if __name__ == "__main__":
    main()
