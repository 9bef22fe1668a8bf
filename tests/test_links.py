"""Links of all pages lead somewhere, on a code host as well as on the site."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

from docs.gather import CLONE, PARTS

PAGES = [
    *(CLONE / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((CLONE / "docs").rglob("*.md")),
    *sorted((CLONE / "models").rglob("*.md")),
    *sorted((CLONE / "src").rglob("*.md")),
    *sorted((CLONE / "bench").rglob("*.md")),
]
CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def links(page: Path) -> list[str]:
    return [link[2] for link in PARTS.finditer(page.read_text(encoding="utf-8")) if link[2]]


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page that a code host and the site have both."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    headings = [heading.strip() for heading in re.findall(r"^#+ (.*)", text, re.MULTILINE)]
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", heading) for heading in headings]
    on_host = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain]
    on_site = [slugify(heading, "-") for heading in plain]
    # Of several headings with one anchor, only the first has it.
    return {
        host
        for host, site, heading in zip(on_host, on_site, headings, strict=True)
        if host == site or f'id="{host}"' in heading
    } | set(re.findall(r'<a id="([^"]+)">', text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CLONE)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for link in links(page):
        if re.match(r"https?://", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert target.is_relative_to(CLONE), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.skipif((CLONE / "PKG-INFO").is_file(), reason="needs the repository")
def test_code_names_pages_that_exist() -> None:
    names = ["src", "bench", "configs", "tests", "fuzz", "examples", "models", "Makefile"]
    listed = subprocess.run(
        ["git", "ls-files", *names, "*.md", "*.cff", "pyproject.toml"],
        cwd=CLONE, capture_output=True, check=True, text=True,
    )  # fmt: skip
    for name in listed.stdout.split():
        path = CLONE / name
        if path.suffix not in (".py", ".md", ".toml", ".cff", "") or not path.is_file():
            continue
        for page in re.findall(r"\bdocs/[\w/-]+\.(?:md|png|svg)\b", path.read_text("utf-8")):
            assert (CLONE / page).exists(), f"{name} names {page}"
