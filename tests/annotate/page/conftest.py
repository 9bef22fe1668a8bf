"""The workbench in a real browser, each test with a server and a file of its own.

An error on the console, a violation of the Content-Security-Policy or a request to another host
fails the test.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from serve.page.conftest import CHROMIUM, DESKTOP, FAILED_LOAD

from annotate.page.benches import HEBREW, LONG, TEXTS, conllu_of

_ENVIRONMENT = {name: os.environ[name] for name in os.environ if name != "HEADWISE_TOKEN"}
_ENVIRONMENT["OMP_NUM_THREADS"] = "1"


class Served:
    """A file in the workbench: started, killed, started again on the same port."""

    def __init__(self, path: Path, *options: str) -> None:
        self.path = path
        self._options = options
        self.port = 0
        self.address = ""
        self.start()

    def start(self) -> str:
        command = [sys.executable, "-m", "headwise", "annotate", str(self.path), "--no-browser"]
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port), *self._options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=_ENVIRONMENT,
        )
        assert self.process.stdout
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if found := re.search(r"http://[^/]+:(\d+)\S+", line):
                self.address, self.port = found[0], int(found[1])
                return self.address
        raise AssertionError("".join(lines))

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.communicate(timeout=20)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield chromium
        chromium.close()


Opener = Callable[..., Page]


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a file for tests that need none of their own; gives the address."""
    path = tmp_path_factory.mktemp("shared") / "shared.conllu"
    path.write_text(conllu_of(*TEXTS, LONG, HEBREW), encoding="utf-8")
    served = Served(path)
    yield served.address
    served.end()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Serve CoNLL-U in the workbench."""
    running: list[Served] = []

    def served(conllu: str, *options: str) -> Served:
        path = tmp_path / "made.conllu"
        path.write_text(conllu, encoding="utf-8", newline="")
        running.append(Served(path, *options))
        return running[-1]

    yield served
    for one in running:
        one.end()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Opener]:
    """Open watched pages of one visitor; `may_fail` allows requests that are not answered."""
    context = browser.new_context(viewport=DESKTOP, reduced_motion="reduce")
    context.set_default_timeout(8_000)
    errors: list[str] = []
    is_strict = True

    def opened(address: str, may_fail: bool = False) -> Page:
        nonlocal is_strict
        is_strict &= not may_fail
        page = context.new_page()
        origin = address.partition("/annotate")[0]

        def check(url: str) -> None:
            if not url.startswith((origin, f"blob:{origin}")):
                errors.append(f"request to {url}")

        def note(kind: str, text: str) -> None:
            failed = text.startswith(FAILED_LOAD)
            if kind in ("error", "warning") and (is_strict or not failed):
                errors.append(text)

        page.on("console", lambda message: note(message.type, message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: check(request.url))
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        return page

    yield opened
    context.close()
    assert not errors
