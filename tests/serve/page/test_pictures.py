"""Pictures: those of `headwise.render.to_svg`, from right to left, repaired, as PNG."""

import struct
from xml.etree import ElementTree

from playwright.sync_api import Page, expect
from serve.page.conftest import PageMaker
from serve.page.visits import (
    HEBREW,
    KIDS,
    REPAIRED,
    answer_with,
    choose_view,
    parse,
    refuse_once,
    saved,
    word,
)

from headwise import Parse, Sentence, load, sentence_from_words
from headwise.render import to_svg

MIXED = ["Ærø", "日本語", "naïve", "WWW", "e\u0301", "iii", "שלום", "👍", "x" * 80, "\u0301a"]


def test_saved_svg_is_that_of_the_command_line(page: Page) -> None:
    for words in (KIDS.split(), HEBREW.split(), MIXED):
        sentence = sentence_from_words([(form,) for form in words], ["form"])
        [(parsed, parsed_as)] = load().annotate([sentence])
        assert isinstance(parsed, Sentence)
        assert isinstance(parsed_as, Parse)
        parse(page, sentence.conllu)
        expect(page.locator(".word").first).to_have_text(words[0])
        assert saved(page, "Save sentence 1 as SVG").decode() == to_svg(parsed, parsed_as) + "\n"


def test_png_is_twice_the_size_of_the_picture(page: Page) -> None:
    parse(page, KIDS)
    svg = ElementTree.fromstring(saved(page, "Save sentence 1 as SVG"))
    png = saved(page, "Save sentence 1 as PNG")
    assert png.startswith(b"\x89PNG\r\n")
    assert struct.unpack(">II", png[16:24]) == tuple(
        2 * int(svg.get(side, 0)) for side in ("width", "height")
    )


def lefts(page: Page, selector: str) -> list[float]:
    return page.locator(selector).evaluate_all("all => all.map(e => e.getBoundingClientRect().x)")


def test_hebrew_goes_from_right_to_left(page: Page) -> None:
    parse(page, HEBREW)
    assert lefts(page, "text.word") == sorted(lefts(page, "text.word"), reverse=True)
    word(page, 1).click()
    page.keyboard.press("ArrowLeft")
    expect(word(page, 2)).to_be_focused()
    choose_view(page, "Matrix")
    assert lefts(page, ".matrix thead th") == sorted(lefts(page, ".matrix thead th"), reverse=True)


def test_repair_is_shown_beside_the_selected_heads(page: Page) -> None:
    answer_with(page, REPAIRED)
    parse(page, "Eat or be eaten")
    expect(page.locator(".repair .note")).to_have_text(
        "The heads that the words selected are not a tree: some of them form a cycle. "
        "Chu-Liu-Edmonds found the best tree and moved “Eat” (1) from “eaten” (4) to ROOT."
    )
    expect(page.locator("figure")).to_have_count(2)
    expect(page.locator(".arc.gone title")).to_have_text("60%: eaten → Eat, 60%")
    page.locator(".arc.new .label").hover()
    expect(page.get_by_role("tooltip")).to_contain_text("root: ROOT → Eat, 40%")
    expect(page.locator(".tree .arc.unsure")).to_have_count(1)
    greedy, repaired = lefts(page, "figure")
    assert greedy < repaired
    word(page, 1).click()
    expect(page.locator(".distribution tbody tr").nth(0)).to_contain_text("selected first")
    choose_view(page, "Matrix")
    expect(page.locator("td.replaced")).to_have_attribute(
        "title", "Eat ← eaten: 0.6000, selected first, then repaired"
    )


def test_reason_for_a_repair(page: Page) -> None:
    for how, greedy, reason in (
        ("mst", [0, 4, 4, 0], "not a single tree: 2 words selected ROOT"),
        ("eisner", [3, 4, 0, 3], "a tree whose arcs cross"),
    ):
        answer_with(page, REPAIRED | {"how": how, "greedy": greedy})
        parse(page, "Eat or be eaten")
        expect(page.locator(".repair .note")).to_contain_text(reason)


def test_long_sentences_have_no_matrix(page: Page) -> None:
    parse(page, sentence_from_words([("a",)] * 61, ["form"]).conllu)
    choose_view(page, "Matrix")
    expect(page.locator(".body .note")).to_have_text(
        "This sentence has 61 words; the matrix is shown for up to 60."
    )


def test_long_texts_have_no_distributions_and_at_the_end_no_trees(page: Page) -> None:
    short = {key: value for key, value in REPAIRED.items() if key != "distribution"}
    answer_with(page, short, short | {"picture": None})
    with page.expect_request("**/parse") as request:
        parse(page, "a " * 10_001)
    assert "distribution" not in request.value.post_data_json
    word(page, 1).click()
    expect(page.locator(".distribution")).to_contain_text("left out for long texts")
    last = page.get_by_role("article").nth(1)
    expect(last.locator(".note")).to_contain_text("Trees are left out at the end of long texts")
    expect(last.locator("table.words tbody tr")).to_have_count(4)
    expect(last.locator(".downloads button")).to_have_count(0)


def test_too_large_a_distribution_is_done_without(open_page: PageMaker) -> None:
    page = open_page(fails=1)
    refuse_once(page, "parse", 413, "a distribution of more than 1,000,000 probabilities")
    parse(page, "Kids love candy.")
    word(page, 1).click()
    expect(page.locator(".distribution")).to_contain_text("left out for long texts")
