"""Quick, readable and complete: 5,000 sentences, 40 words, axe, light and dark, narrow and wide."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from annotate.page.benches import (
    LONG,
    PHONE,
    TEXTS,
    conllu_of,
    findings,
    go_to,
    press,
    settled,
    word,
)
from annotate.page.conftest import Opener, Served

pytestmark = pytest.mark.slow
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
EDIT = """() => new Promise((done) => {
  const drawn = () => document.querySelectorAll(".wb-arc.fixed").length;
  const before = drawn();
  const start = performance.now();
  new MutationObserver((_, watch) => {
    // Shown at once, then drawn again with the answer: the message comes with it.
    if (drawn() === before) return;
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
  }).observe(document.querySelector("#spoken"), { childList: true });
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true }));
})"""
SCROLL = """async () => {
  const box = document.querySelector("#rows");
  let slowest = 0;
  for (let top = 0; top < box.scrollHeight; top += box.scrollHeight / 40) {
    const start = performance.now();
    box.scrollTop = top;
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    slowest = Math.max(slowest, performance.now() - start);
  }
  box.scrollTop = box.scrollHeight;
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return slowest;
}"""
OUTSIDE = """async () => {
  // A new width is drawn in the next frame.
  for (const _ of "ab") await new Promise((done) => requestAnimationFrame(done));
  const tree = document.querySelector("#tree").getBoundingClientRect();
  const parts = [...document.querySelectorAll(".wb-word, .wb-arc .label, .wb-arc .lock")];
  const isOutside = ({ left, right }) => left < tree.left - 1 || right > tree.right + 1;
  const outside = parts.filter((part) => isOutside(part.getBoundingClientRect()));
  return outside.map((part) => part.textContent);
}"""


def test_axe_finds_nothing(shared: str, visit: Opener) -> None:
    page = visit(shared)
    go_to(page, 9)
    press(page, "Space")
    settled(page, "accepted")
    assert findings(page) == []
    page.emulate_media(color_scheme="dark")
    assert findings(page, ["color-contrast"]) == []
    for key in ("l", "?"):
        press(page, key)
        assert findings(page, ["wcag2a", "wcag2aa"]) == [], key
        press(page, "Escape")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(PHONE)
    page.get_by_role("button", name="Sentences").click()
    assert findings(page) == []


def test_nothing_is_cut_off_on_any_screen(shared: str, visit: Opener) -> None:
    page = visit(shared)
    go_to(page, 11)
    for width in (1920, 1280, 1000, 800, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate(TOO_WIDE) <= 0, width
        assert page.evaluate(OUTSIDE) == [], width
    expect(page.locator("#tree")).to_have_class("wb-tree vertical")


def test_an_edit_of_forty_words_is_shown_at_once(shared: str, visit: Opener) -> None:
    page = visit(shared)
    assert len(LONG.split()) == 40
    go_to(page, 11)
    times = []
    for number in (3, 9, 14, 20, 26, 31):
        word(page, number).focus()
        times.append(page.evaluate(EDIT))
    middle = sorted(times)[len(times) // 2]
    print(f"edit of a 40-word sentence: {middle:.0f} ms until drawn ({min(times):.0f} at best)")  # noqa: T201 a figure for the reports
    assert min(times) < 600  # the aim is 100 on a quiet machine


def test_five_thousand_sentences_open_without_lag(
    serve: Callable[..., Served], visit: Opener
) -> None:
    served = serve(conllu_of(*TEXTS * 500))
    page = visit(served.address)
    seconds = page.evaluate("performance.now()") / 1000
    expect(page.locator("#progress-text")).to_have_text("0 of 5,000 done")
    assert page.locator(".wb-row").count() < 60
    slowest = page.evaluate(SCROLL)
    print(f"5,000 sentences: open after {seconds:.2f} s; slowest step {slowest:.0f} ms")  # noqa: T201
    assert seconds < 6
    assert slowest < 400
    page.locator(".wb-row").last.click()
    expect(page.locator("#sentence-name")).to_have_text("Sentence 5,000")
