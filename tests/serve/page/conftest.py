"""The page in a real browser, against the real server in a process of its own.

Each test gets a fresh page that watches itself: an error on the console, a violation of the
Content-Security-Policy or a request to another host fails the test that caused it.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DESKTOP = {"width": 1280, "height": 800}
MAX_BYTES = 50_000
FAILED_LOAD = "Failed to load resource"
"""What the browser itself says of an answer that is an error."""

PageMaker = Callable[..., Page]

_ENVIRONMENT = {name: os.environ[name] for name in os.environ if name != "HEADWISE_TOKEN"}
_ENVIRONMENT["OMP_NUM_THREADS"] = "1"


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Serve the model inside; gives the address."""
    command = [sys.executable, "-m", "headwise", "serve", "--port", "0", "--workers", "1"]
    process = subprocess.Popen(
        [*command, "--max-bytes", str(MAX_BYTES)],
        stderr=subprocess.PIPE,
        text=True,
        env=_ENVIRONMENT,
    )
    assert process.stderr
    with process:
        line = process.stderr.readline()
        address = re.search(r"http://\S+", line)
        assert address, line + process.stderr.read()
        yield address[0] + "/"
        process.send_signal(signal.SIGTERM)


@pytest.fixture(scope="module")  # its event loop must end before other tests start theirs
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    # Chromium has no sandbox for root, who runs CI in containers.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Browser, server: str) -> Iterator[PageMaker]:
    """Open pages that are watched; `fails` is how many requests may be answered with an error."""
    contexts: list[BrowserContext] = []
    troubles: list[str] = []
    failed: list[str] = []
    allowed = 0

    def opened(fragment: str = "", fails: int = 0, **options: object) -> Page:
        nonlocal allowed
        allowed += fails
        context = browser.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce"} | options)
        contexts.append(context)
        context.set_default_timeout(8_000)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.on("console", lambda message: note(message.type, message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: check(request.url))
        page.goto(server + fragment)
        expect(page.get_by_role("button", name="Kids love candy")).to_be_visible()
        return page

    def note(kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            (failed if text.startswith(FAILED_LOAD) else troubles).append(text)

    def check(url: str) -> None:
        if not url.startswith((server, "blob:" + server)):
            troubles.append(f"request to {url}")

    yield opened
    for context in contexts:
        context.close()
    assert not troubles
    assert len(failed) == allowed, failed


@pytest.fixture
def page(open_page: PageMaker) -> Page:
    return open_page()
