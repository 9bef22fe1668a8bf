"""The site of `make docs`: all pages, found by its navigation; nothing comes from elsewhere."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from docs.gather import CLONE, PARTS, gather, place, write_page

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
TIMEOUT = 60_000
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
SETTINGS = tomllib.loads((CLONE / "docs/zensical.toml").read_text())["project"]


def pages_of(navigation: list[object]) -> list[str]:
    found: list[str] = []
    for item in navigation:
        for value in item.values() if isinstance(item, dict) else [item]:
            found += pages_of(value) if isinstance(value, list) else [str(value)]
    return found


def test_the_navigation_has_each_page_once() -> None:
    found = pages_of(SETTINGS["nav"])
    pages = (CLONE / "docs").rglob("*.md")
    listed = {page.relative_to(CLONE / "docs").as_posix() for page in pages}
    assert len(found) == len(set(found))
    assert {page for page in found if not page.startswith("clone/")} == listed


def test_files_outside_docs_become_pages_of_the_site() -> None:
    assert str(place(CLONE / "docs/research/small.md")) == "research/small.md"
    assert str(place(CLONE / "models/de/README.md")) == "clone/models/de/README.md"
    assert str(place(CLONE / "examples/spark.py")) == "clone/examples/spark.py.md"
    assert str(place(CLONE / "examples")) == "clone/examples/README.md"
    assert str(place(CLONE / "LICENSE")) == "clone/LICENSE.md"


def test_links_are_rewritten_and_code_is_not(tmp_path: Path) -> None:
    page = CLONE / "docs" / "research" / "made-for-a-test.md"
    text = (
        "[a](../train.md#x) [b](../../models/de/README.md) [c](../../examples) ![d](https://x.org)\n"
        "`](../../LICENSE)` ``a ` b](../../LICENSE)`` [e](#here) [f](../../LICENSE)\n"
        "```\n](../../LICENSE)\n```\n"
    )
    made = tmp_path / "page.md"
    targets: list[Path] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("docs.gather.read_page", lambda path: text if path == page else "")
        targets = write_page(page, made)
    assert made.read_text() == (
        "[a](../train.md#x) [b](../clone/models/de/README.md) [c](../clone/examples/README.md) "
        "![d](https://x.org)\n"
        "`](../../LICENSE)` ``a ` b](../../LICENSE)`` [e](#here) [f](../clone/LICENSE.md)\n"
        "```\n](../../LICENSE)\n```\n"
    )
    names = [target.relative_to(CLONE).as_posix() for target in targets]
    assert names == ["docs/train.md", "models/de/README.md", "examples", "LICENSE"]


def test_what_pages_link_to_is_gathered(tmp_path: Path) -> None:
    gather(tmp_path)
    pages = tmp_path / "pages"
    assert (tmp_path / "zensical.toml").is_file()
    for page in pages.rglob("*.md"):
        for link in PARTS.finditer(page.read_text(encoding="utf-8")):
            name = (link[2] or "").partition("#")[0]
            if name and not re.match(r"https?://", name):
                assert (page.parent / name).exists(), (page.relative_to(pages), name)
    tables = (pages / "clone/src/headwise/convert/tables/README.md").read_text()
    assert "- [english.txt](english.txt.md)" in tables
    assert "```txt\n" in (pages / "clone/src/headwise/convert/tables/english.txt.md").read_text()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    gather(folder)
    # The source is at another distance from here than from build/docs.
    settings = (folder / "zensical.toml").read_text()
    assert settings.count('"../../src"') == 1
    settings = settings.replace('"../../src"', f'"{CLONE / "src"}"')
    (folder / "zensical.toml").write_text(settings)
    command = [Path(sys.executable).parent / "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in (done.stdout + done.stderr).lower()
    return folder / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Open a page that may fetch nothing but files, and has no error on its console."""
    problems: list[str] = []
    page = browser.new_page(viewport=DESKTOP)
    page.set_default_timeout(TIMEOUT)
    page.on(
        "request",
        lambda request: None if request.url.startswith("file:") else problems.append(request.url),
    )
    page.on(
        "console",
        lambda message: problems.append(message.text) if message.type == "error" else None,
    )
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    page.close()
    assert problems == []


@pytest.mark.slow
def test_pages_fit_their_screen_and_their_pictures_show(site: Path, browser: Browser) -> None:
    page = browser.new_page(java_script_enabled=False)  # search reads its index on each page
    page.set_default_timeout(TIMEOUT)
    built = [path for path in site.rglob("*.html") if path.name != "404.html"]
    assert len(built) > 30
    for path in built:
        page.goto(path.as_uri())
        for size in (DESKTOP, PHONE):
            page.set_viewport_size(size)
            width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert width <= 0, (path.name, size)
        assert page.evaluate("[...document.images].every(i => i.naturalWidth > 0)"), path.name
        assert page.evaluate("[...document.images].every(i => i.alt.length > 5)"), path.name
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_site_follows_the_system_into_the_dark(site: Path, page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto((site / "train.html").as_uri())
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", colour)[:3]))
    assert (brightness > 700) if scheme == "light" else (brightness < 100)


@pytest.mark.slow
def test_search_finds_a_flag_without_a_network(site: Path, page: Page) -> None:
    page.goto((site / "train.html").as_uri())
    page.get_by_role("button", name="Search").first.click()
    page.keyboard.type("memory budget")
    found = page.get_by_role("option").filter(has_text=re.compile("memory.budget", re.IGNORECASE))
    found.first.click()
    expect(page).not_to_have_url(re.compile("train"))
    expect(page.get_by_role("article")).to_contain_text(re.compile("memory.budget"))


@pytest.mark.slow
def test_a_command_is_copied_by_a_button(site: Path, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto((site / "serve.html").as_uri())
    blocks = page.locator("div.highlight:has(pre)")
    assert blocks.count() > 5
    for block in blocks.all():
        expect(block.get_by_role("button")).to_have_count(1)
    blocks.nth(1).get_by_role("button").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == blocks.nth(1).locator("code").inner_text().strip()
