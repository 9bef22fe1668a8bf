"""A server at ten times its capacity, with cancelled requests and killed workers.

    python -m bench.soak --requests 30000

320 connections send sentences of about 20 words to a server whose queue has room for a tenth of
them; one request in twenty is cancelled as soon as it is sent. After a quarter, a half and three
quarters of the requests, one of the server's processes is killed. Every answer must be the parse
that the library gives, or a 429 or 503 with a message. A connection may only break when a process
was killed. The memory of all processes is measured after 5,000 requests, and at the end.
Server and clients share the machine.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import time
from collections import Counter
from itertools import count

import headwise
from bench.corpus import descendants, status_of
from bench.serve import SAMPLE, Server, sample_texts, serving

CONNECTIONS = 320
MAX_QUEUE = 640
"""Words that may wait: 32 sentences."""
CANCELLED = 20
"""One request in so many is cancelled."""
SETTLED = 5_000
"""Requests after which memory should not grow."""
MOST_GROWTH = 0.05
KILL_SECONDS = 5.0
"""For so long after a kill, connections may break."""
REFUSALS = (429, 503)
Arcs = list[tuple[int, str]]


class Soak:
    """The requests that are sent, and what became of them."""

    def __init__(self, server: Server, texts: list[str], n_requests: int) -> None:
        """Parse the texts, to compare with."""
        parser = headwise.load()
        self._texts = texts
        self._arcs = [
            [
                arc
                for _, parse in parser.annotate_text(text)
                for arc in zip(parse.heads, parse.labels, strict=True)
            ]
            for text in texts
        ]
        self._server, self._n_requests = server, n_requests
        self._numbers = count()
        self._killed_at = -KILL_SECONDS
        self._host, self._port = server.url.removeprefix("http://").split(":")
        self.outcomes: Counter[str] = Counter()
        self.n_kills = 0
        self.memory: list[int] = []
        """In MiB, whenever a thousand requests are done, from `SETTLED` on."""

    async def run(self) -> None:
        """Send all requests, from many connections."""
        await asyncio.gather(*(self._send_many() for _ in range(CONNECTIONS)))
        await asyncio.sleep(1)
        self.memory.append(self._measure())

    async def _send_many(self) -> None:
        while (number := next(self._numbers)) < self._n_requests:
            if number % 1_000 == 0 and number >= SETTLED:
                self.memory.append(self._measure())
            if number and number % (self._n_requests // 4) == 0:
                self._kill_one()
            try:
                self.outcomes[await self._send(number)] += 1
            except (OSError, asyncio.IncompleteReadError, ValueError) as error:
                is_of_kill = time.monotonic() - self._killed_at < KILL_SECONDS
                cause = "by a kill" if is_of_kill else f"WRONG: {type(error).__name__}"
                self.outcomes[f"broken {cause}"] += 1

    async def _send(self, number: int) -> str:
        which = number % len(self._texts)
        body = json.dumps({"text": self._texts[which]}).encode()
        head = "POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        head += f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        reader, writer = await asyncio.open_connection(self._host, int(self._port))
        try:
            writer.write(head.encode() + body)
            await writer.drain()
            if number % CANCELLED == 0:
                return "cancelled"
            answer = await asyncio.wait_for(reader.read(), 120)
        finally:
            writer.close()
        top, _, content = answer.partition(b"\r\n\r\n")
        if not content:
            raise ConnectionResetError
        return self._judge(int(top.split()[1]), content, which)

    def _judge(self, status: int, content: bytes, which: int) -> str:
        if status in REFUSALS:
            is_clear = b'"message":' in content or content == b"Service Unavailable"
            return f"{status}" if is_clear else f"WRONG: {status} without a message"
        if status != 200:
            return f"WRONG: {status}"
        sentences = json.loads(content)["sentences"]
        arcs = [(word["head"], word["deprel"]) for one in sentences for word in one["words"]]
        return "200 and right" if arcs == self._arcs[which] else "WRONG: another parse"

    def _kill_one(self) -> None:
        workers = [
            pid for pid in descendants(self._server.pid) if status_of(pid).get("Threads", 0) > 1
        ]
        if workers and self.n_kills < 3:
            os.kill(max(workers), signal.SIGKILL)
            self._killed_at = time.monotonic()
            self.n_kills += 1

    def _measure(self) -> int:
        processes = [self._server.pid, *descendants(self._server.pid)]
        return sum(status_of(pid).get("VmRSS", 0) for pid in processes) // 1024


def main() -> None:
    """Print what became of the requests."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument("--requests", type=int, default=30_000)
    options.add_argument("--processes", type=int, default=2)
    arguments = options.parse_args()
    started = time.monotonic()
    with serving(1, arguments.processes, "--max-queue", str(MAX_QUEUE)) as server:
        soak = Soak(server, sample_texts(SAMPLE), arguments.requests)
        asyncio.run(soak.run())
    seconds = time.monotonic() - started
    print(f"{arguments.requests:,} requests in {seconds:.0f} s, {soak.n_kills} processes killed")
    for outcome, n_times in sorted(soak.outcomes.items()):
        print(f"  {outcome}: {n_times:,}")
    growth = soak.memory[-1] / soak.memory[0] - 1
    print(f"memory after {SETTLED:,} requests {soak.memory[0]} MiB, at the end", end=" ")
    print(f"{soak.memory[-1]} MiB ({growth:+.1%}), at most {max(soak.memory)} MiB")
    is_wrong = any(outcome.startswith(("WRONG", "broken WRONG")) for outcome in soak.outcomes)
    sys.exit(is_wrong or growth > MOST_GROWTH)


if __name__ == "__main__":
    main()
