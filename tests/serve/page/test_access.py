"""Access by keyboard and screen reader, in light and dark, on a phone."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from serve.page.visits import (
    ANALYSED,
    HEBREW,
    KIDS,
    LONG,
    PHONE,
    REPAIRED,
    answer_with,
    choose_view,
    parse,
    word,
)


def press_until(page: Page, key: str, selector: str) -> None:
    for _ in range(30):
        page.keyboard.press(key)
        if page.locator(f"{selector}:focus").count():
            return
    raise AssertionError(f"{key} never reached {selector}")


def test_keyboard_alone_does_everything(page: Page) -> None:
    press_until(page, "Tab", "#text")
    page.keyboard.type("Kids love candy.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("article")).to_have_count(1)
    press_until(page, "Tab", '[role="option"]')
    expect(word(page, 1)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="Which head for “love”?")).to_be_visible()
    page.keyboard.press("End")
    expect(word(page, 4)).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    expect(word(page, 1)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".distribution")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Which head for “Kids”?")).to_be_visible()
    page.keyboard.press("ArrowRight")
    press_until(page, "Tab", ".distribution button")
    page.keyboard.press("Enter")
    expect(page.locator(".distribution")).to_have_count(0)
    expect(word(page, 2)).to_be_focused()
    press_until(page, "Shift+Tab", 'input[name="view"]')
    page.keyboard.press("ArrowRight")
    expect(page.locator(".matrix")).to_be_visible()


def findings(page: Page) -> list[str]:
    """Run all rules in the light scheme, and those about colours in the dark one."""
    violations = Axe().run(page).response["violations"]
    page.emulate_media(color_scheme="dark")
    colours = Axe().run(page, options={"runOnly": ["color-contrast"]}).response["violations"]
    page.emulate_media(color_scheme="light")
    return [
        f"{found['id']} ({found['impact']}): {found['nodes'][0]['html'][:200]}"
        for found in violations + colours
        if found["impact"] in ("serious", "critical")
    ]


def test_axe_finds_nothing_serious(page: Page) -> None:
    page.get_by_role("button", name="Parse", exact=True).click()
    expect(page.get_by_role("alert")).not_to_be_empty()
    assert findings(page) == []
    parse(page, f"{KIDS} {LONG}")
    word(page, 3).click()
    assert findings(page) == []
    answer_with(page, REPAIRED)
    parse(page, "Eat or be eaten")
    for view in ("Tree", "Matrix", "Table"):
        choose_view(page, view)
        assert findings(page) == []
    page.get_by_role("button", name="conj").focus()
    expect(page.get_by_role("tooltip")).to_be_visible()
    assert findings(page) == []
    page.unroute_all()
    parse(page, KIDS)
    choose_view(page, "CoNLL-U")
    expect(page.locator("pre.conllu")).to_contain_text("candy")
    assert findings(page) == []


def test_axe_finds_nothing_serious_about_lemmas_and_features(page: Page) -> None:
    answer_with(page, ANALYSED)
    parse(page, "Kids sing")
    word(page, 1).click()
    assert findings(page) == []
    choose_view(page, "Table")
    assert findings(page) == []


def test_page_itself_never_scrolls_sideways_on_a_phone(page: Page) -> None:
    page.set_viewport_size(PHONE)
    too_wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(too_wide) <= 0
    for text in (LONG, HEBREW, "x" * 900):
        parse(page, text)
        for view in ("Matrix", "Table", "CoNLL-U", "Tree"):
            choose_view(page, view)
            assert page.evaluate(too_wide) <= 0, (text[:20], view)
        word(page, 1).click()
        assert page.evaluate(too_wide) <= 0


def test_wide_trees_use_the_window_then_shrink_then_scroll(page: Page) -> None:
    parse(page, LONG)
    svg = page.locator(".body svg")
    natural = int(svg.get_attribute("width") or 0)
    for window, is_whole, is_scrolled in (
        (natural + 200, True, False),
        (natural - 500, False, False),
        (natural // 2, False, True),
    ):
        page.set_viewport_size({"width": window, "height": 800})
        shown = svg.evaluate("svg => svg.getBoundingClientRect().width")
        assert (shown == natural) == is_whole
        assert shown >= 0.7 * natural - 1
        box = page.locator(".scroll")
        assert box.evaluate("box => box.scrollWidth > box.clientWidth") == is_scrolled
