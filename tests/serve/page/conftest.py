"""The page in a real browser, against the real server in a process of its own.

All tests share the server and the browser; each gets fresh pages. An error on the console, a
violation of the Content-Security-Policy or a request to another host fails the test.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DESKTOP = {"width": 1280, "height": 800}
MAX_BYTES = 50_000
FAILED_LOAD = "Failed to load resource"
"""The browser's message about an answer with an error status."""

PageMaker = Callable[..., Page]

_ENVIRONMENT = {name: os.environ[name] for name in os.environ if name != "HEADWISE_TOKEN"}
_ENVIRONMENT["OMP_NUM_THREADS"] = "1"


@pytest.fixture(scope="package")
def server() -> Iterator[str]:
    """Serve the built-in model; gives the address."""
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


@pytest.fixture(scope="package")  # its event loop must end before other tests start theirs
def browser() -> Iterator[BrowserContext]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    # Chromium has no sandbox for root, who runs CI in containers.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        context = chromium.new_context(viewport=DESKTOP, reduced_motion="reduce")
        context.set_default_timeout(8_000)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield context
        chromium.close()


@pytest.fixture
def open_page(browser: BrowserContext, server: str) -> Iterator[PageMaker]:
    """Open watched pages; `fails` is how many requests are answered with an error."""
    pages: list[Page] = []
    errors: list[str] = []
    failed: list[str] = []
    expected = 0

    def opened(fragment: str = "", fails: int = 0) -> Page:
        nonlocal expected
        expected += fails
        page = browser.new_page()
        pages.append(page)
        page.on("console", lambda message: note(message.type, message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: check(request.url))
        page.goto(server + fragment)
        expect(page.get_by_role("button", name="Kids love candy")).to_be_visible()
        return page

    def note(kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            (failed if text.startswith(FAILED_LOAD) else errors).append(text)

    def check(url: str) -> None:
        if not url.startswith((server, "blob:" + server)):
            errors.append(f"request to {url}")

    yield opened
    for page in pages:
        page.close()
    assert not errors
    assert len(failed) == expected, failed


@pytest.fixture
def page(open_page: PageMaker) -> Page:
    return open_page()
