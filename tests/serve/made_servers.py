"""Servers in threads, on real sockets, and a scorer that waits."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import httpx
import uvicorn
from starlette.applications import Starlette

from headwise.arrays import FloatArray, IntArray
from headwise.runtime.scorer import Scorer, Selection
from headwise.serve.app import make_app
from headwise.serve.models import Models
from headwise.serve.server import uvicorn_settings
from headwise.settings.serving import ServeConfig
from headwise.treebank.sentence import Sentence


@contextmanager
def serving(config: ServeConfig, models: Models) -> Iterator[httpx.Client]:
    """Serve in a thread; give a client of it."""
    with serving_app(make_app(config, models), config) as client:
        yield client


@contextmanager
def serving_app(app: Starlette, config: ServeConfig) -> Iterator[httpx.Client]:
    """Serve an application in a thread; give a client of it."""
    settings = uvicorn.Config(app, log_config=None, **uvicorn_settings(config))
    server = uvicorn.Server(settings)
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with httpx.Client(base_url=url, timeout=30, trust_env=False) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


def url_of(client: httpx.Client, path: str) -> str:
    return str(client.base_url.join(path))


def connect(client: httpx.Client) -> socket.socket:
    assert client.base_url.port
    return socket.create_connection((client.base_url.host, client.base_url.port), timeout=10)


class Gate:
    """A scorer that waits until the gate is open, with sentences of more than so many words."""

    def __init__(self, scorer: Scorer, more_than: int = 0) -> None:
        self._scorer, self.vocab = scorer, scorer.vocab
        self._more_than = more_than
        self.open = threading.Event()

    def select(self, sentences: Sequence[Sentence]) -> list[Selection]:
        if any(len(sentence) > self._more_than for sentence in sentences):
            assert self.open.wait(30)
        return self._scorer.select(sentences)

    def in_treebank(self, name: str) -> Scorer:
        raise NotImplementedError

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        return self._scorer.label(selections, heads)


def wait_until(is_so: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)
