"""A local page opens the workbench, which keeps the token out of the browser's command line."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from headwise.annotate.server import write_door

pytestmark = pytest.mark.slow


def test_the_local_page_leads_to_the_workbench(
    tmp_path: Path, browser: Browser, shared: str
) -> None:
    path = tmp_path / "a file.conllu.headwise-open.html"
    write_door(path, shared)
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_url(f"{shared.partition('#')[0]}*")
    page.wait_for_selector("body[data-ready]")
    page.close()
