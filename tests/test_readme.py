"""What the README tells a reader to do is done here, in the order of the page."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_parse_command_draws_what_the_page_shows() -> None:
    command = next(line for line in README.splitlines() if 'headwise parse "' in line)
    arguments = shlex.split(command.split("headwise parse", 1)[1])
    done = subprocess.run(
        [sys.executable, "-m", "headwise", "parse", *arguments, "--format", "tree"],
        capture_output=True, check=True, cwd=ROOT, text=True, encoding="utf-8",
        env=os.environ | {"COLUMNS": "80", "PYTHONUTF8": "1"},
    )  # fmt: skip
    shown = re.search(r"```\n( ╭.*?)```", README, re.DOTALL)
    assert shown
    assert done.stdout.rstrip() == shown[1].rstrip()


def test_python_snippets_run() -> None:
    for snippet in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        subprocess.run([sys.executable, "-W", "error", "-c", snippet], check=True, cwd=ROOT)


def test_links_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            assert link.startswith("https://") or (page.parent / link).exists(), (page.name, link)


def test_readme_fits_on_a_page() -> None:
    assert len(README.splitlines()) <= 120
