"""Gather the pages of the site: `docs/`, and what these pages link to elsewhere in the clone.

A page may link to a model card, a report or a table of rules outside `docs/`. The site has a copy
of each below `clone/`, so that no link leads outside. A text file becomes a page with its content.
Usage: python docs/gather.py FOLDER, which gets `pages/` and `zensical.toml`.
"""

import os
import re
import shutil
import sys
from pathlib import Path, PurePosixPath

CLONE = Path(__file__).parent.parent
DOCS = CLONE / "docs"
IN_NAVIGATION = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
COPIED = (".png", ".svg", ".css", ".js")
# Code is left alone: a fenced block, code within a line, or a link outside of both.
PARTS = re.compile(r"^```.*?^```|(`+)[^`].*?\1|\]\(([^)\s]+)\)", re.DOTALL | re.MULTILINE)


def gather(folder: Path) -> None:
    """Write the settings of the site, and all pages with their pictures."""
    waiting = [path for path in DOCS.rglob("*") if path.suffix in (".md", *COPIED)]
    waiting += [CLONE / name for name in IN_NAVIGATION]
    gathered = set(waiting)
    for path in waiting:  # It grows: each page adds those that it links to.
        for target in write_page(path, folder / "pages" / place(path)):
            if target not in gathered:
                gathered.add(target)
                waiting.append(target)
    shutil.copyfile(DOCS / "zensical.toml", folder / "zensical.toml")


def place(path: Path) -> PurePosixPath:
    """Say where on the site a file of the clone is.

    `docs/a.md` is `a.md`, `models/de/README.md` is `clone/models/de/README.md`, and
    `examples/spark.py` is `clone/examples/spark.py.md`.
    """
    if path.is_relative_to(DOCS):
        return PurePosixPath(path.relative_to(DOCS).as_posix())
    name = "clone" / PurePosixPath(path.relative_to(CLONE).as_posix())
    if path.is_dir():
        return name / "README.md"
    return name if path.suffix in (".md", *COPIED) else name.with_name(f"{name.name}.md")


def write_page(path: Path, written: Path) -> list[Path]:
    """Write one page or picture, and return the files that it links to."""
    written.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in COPIED:
        shutil.copyfile(path, written)
        return []
    targets = []

    def relink(link: re.Match[str]) -> str:
        if not link[2] or re.match(r"[a-z]+:|#", link[2]):
            return link[0]
        name, hash_sign, anchor = link[2].partition("#")
        target = Path(os.path.normpath((path if path.is_dir() else path.parent) / name))
        if not target.exists():
            return link[0]  # The build names the page and the line.
        targets.append(target)
        relative = os.path.relpath(place(target), place(path).parent)
        return f"]({relative}{hash_sign}{anchor})"

    written.write_text(PARTS.sub(relink, read_page(path)), encoding="utf-8")
    return targets


def read_page(path: Path) -> str:
    """Return a page: Markdown as it is, a text file as a block of code, a folder as a list."""
    if path.is_dir():
        links = [f"- [{file.name}]({file.name})" for file in sorted(path.iterdir())]
        return f"# {path.relative_to(CLONE)}\n\n" + "\n".join(links) + "\n"
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    return f"# {path.relative_to(CLONE)}\n\n```{path.suffix[1:]}\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    gather(Path(sys.argv[1]))
