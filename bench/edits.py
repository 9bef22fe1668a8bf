"""Time from a key press in the workbench to the new tree on the screen, in Chromium.

    OMP_NUM_THREADS=1 python -m bench.edits
    OMP_NUM_THREADS=1 python -m bench.edits UD_English-EWT/dev.conllu.xz --model en --words 40

Opens the first sentence of so many words in `headwise annotate` and gives words their second most
probable heads and back again, each time through the keyboard. An edit begins with the key and ends
when the frame with the new tree has been painted. Prints the median and the fastest of all edits,
and where the time goes: the answer of the server as the page sees it, CPU time of the server's
process, and CPU time of the page's main thread by kind of work. Needs Chromium on the path, and a
quiet machine: the load is printed too.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from playwright.sync_api import CDPSession, Page, ViewportSize, sync_playwright

import headwise

SAMPLE = Path(__file__).parents[1] / "tests/fixtures/ewt-dev-100.conllu"
VIEWPORT: ViewportSize = {"width": 1280, "height": 800}
EDIT = """(key) => new Promise((done) => {
  const start = performance.now();
  performance.clearResourceTimings();
  const painted = () => {
    const decode = performance.getEntriesByType("resource")
      .find((one) => one.name.endsWith("/annotate/decode"));
    done({ drawn: performance.now() - start, answered: decode ? decode.duration : null });
  };
  new MutationObserver((_, watch) => {
    watch.disconnect();
    // The frame is painted before the next task; other tasks may wait for it, too.
    requestAnimationFrame(() => scheduler.postTask(painted, { priority: "user-blocking" }));
  }).observe(document.querySelector("#spoken"), { childList: true });
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  setTimeout(done, 10_000, null);
})"""
METRICS = {
    "ScriptDuration": "script",
    "RecalcStyleDuration": "style",
    "LayoutDuration": "layout",
    "TaskDuration": "all",
}


class Edit(NamedTuple):
    """One edit, in milliseconds."""

    drawn: float
    answered: float | None
    """None if the page knew the answer."""
    server: float
    page: dict[str, float]


@contextmanager
def served(path: Path, model: str) -> Iterator[tuple[str, int]]:
    """Open a file in the workbench; gives the address and the process."""
    command = [sys.executable, "-m", "headwise", "annotate", str(path), "--no-browser"]
    process = subprocess.Popen(
        [*command, "--port", "0", "--model", model],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout
        for line in process.stdout:
            if found := re.search(r"http://[^/]+:\d+\S+", line):
                yield found[0], process.pid
                break
        else:
            sys.exit("the workbench did not start")
    finally:
        process.terminate()
        process.communicate(timeout=20)


def cpu_of(process: int) -> float:
    """Return the CPU time of a process so far, in milliseconds, to a microsecond."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6


def page_cpu(session: CDPSession) -> dict[str, float]:
    """Return the CPU time of the page's main thread so far, by kind of work, in milliseconds."""
    found = session.send("Performance.getMetrics")["metrics"]
    return {METRICS[one["name"]]: 1e3 * one["value"] for one in found if one["name"] in METRICS}


def make_edits(page: Page, process: int, n_words: int, n_edits: int) -> Iterator[Edit]:
    """Give words their second heads, then their first ones."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    for number in range(n_edits):
        word = number // 2 * 7 % n_words + 1
        page.locator(f'.wb-word[data-id="{word}"]').focus()
        page.wait_for_timeout(600)  # what can wait is done by then, and the last edit is saved
        before, cpu = page_cpu(session), cpu_of(process)
        took = page.evaluate(EDIT, "1" if number % 2 else "2")
        if took is None:
            continue  # the word has no other head
        spent = {kind: value - before[kind] for kind, value in page_cpu(session).items()}
        yield Edit(took["drawn"], took["answered"], cpu_of(process) - cpu, spent)


def main() -> None:
    """Print a table."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument("file", type=Path, nargs="?", default=SAMPLE, help="CoNLL-U")
    options.add_argument("--model", default="en")
    options.add_argument("--words", type=int, default=40)
    options.add_argument("--edits", type=int, default=30)
    given = options.parse_args()
    sentences = headwise.read_sentences(given.file)
    sentence = next(s for s in sentences if len(s) == given.words)
    bare = headwise.sentence_from_words([(word.form,) for word in sentence.words], ["form"])
    chromium = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder, "edits.conllu")
        path.write_text(bare.conllu, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        with served(path, given.model) as (address, process):
            page = browser.new_page(viewport=VIEWPORT)
            page.goto(address)
            page.wait_for_selector(".wb-readings button")
            page.wait_for_timeout(1_000)
            edits = list(make_edits(page, process, given.words, given.edits))
        browser.close()
    print(f"{len(edits)} edits of {given.words} words, load {os.getloadavg()[0]:.1f}; milliseconds")
    print("| | median | fastest |\n|---|---|---|")
    rows = {
        "key to painted tree": [edit.drawn for edit in edits],
        "answer of the server": [edit.answered for edit in edits if edit.answered is not None],
        "CPU of the server": [edit.server for edit in edits],
        **{f"CPU of the page, {kind}": [e.page[kind] for e in edits] for kind in METRICS.values()},
    }
    for name, times in rows.items():
        print(f"| {name} | {median(times):.1f} | {min(times):.1f} |")


if __name__ == "__main__":
    main()
