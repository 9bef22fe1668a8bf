"""Pictures: those of `headwise.render.to_svg`, from right to left, repaired, as PNG."""

import struct
from xml.etree import ElementTree

import pytest
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


@pytest.mark.parametrize("words", [KIDS.split(), HEBREW.split(), MIXED], ids=["en", "he", "mixed"])
def test_saved_svg_is_that_of_the_command_line(words: list[str], page: Page) -> None:
    sentence = sentence_from_words([(form,) for form in words], ["form"])
    [(parsed, parsed_as)] = load().annotate([sentence])
    assert isinstance(parsed, Sentence)
    assert isinstance(parsed_as, Parse)
    parse(page, sentence.conllu)
    assert saved(page, "Save sentence 1 as SVG").decode() == to_svg(parsed, parsed_as) + "\n"


def test_png_is_twice_the_size_of_the_picture(page: Page) -> None:
    parse(page, KIDS)
    svg = ElementTree.fromstring(saved(page, "Save sentence 1 as SVG"))
    png = saved(page, "Save sentence 1 as PNG")
    assert png.startswith(b"\x89PNG\r\n")
    assert struct.unpack(">II", png[16:24]) == tuple(
        2 * int(svg.get(side, 0)) for side in ("width", "height")
    )


def test_hebrew_goes_from_right_to_left(page: Page) -> None:
    parse(page, HEBREW)
    places = [box["x"] for one in page.locator("text.word").all() if (box := one.bounding_box())]
    assert places == sorted(places, reverse=True)
    word(page, 1).click()
    page.keyboard.press("ArrowLeft")
    expect(word(page, 2)).to_be_focused()
    choose_view(page, "Matrix")
    boxes = [one.bounding_box() for one in page.locator(".matrix thead th").all()]
    assert boxes[0]
    assert boxes[-1]
    assert boxes[0]["x"] > boxes[-1]["x"]


def test_repair_is_shown_beside_what_the_words_chose(page: Page) -> None:
    answer_with(page, REPAIRED)
    parse(page, "Eat or be eaten")
    expect(page.locator(".repair .note")).to_have_text(
        "The heads that the words chose are no tree: some of them form a circle. "
        "Chu-Liu-Edmonds found the best tree and moved “Eat” (1) from “eaten” (4) to ROOT."
    )
    expect(page.locator("figure")).to_have_count(2)
    expect(page.locator(".arc.gone title")).to_have_text("60%: eaten → Eat, 60%")
    expect(page.locator(".arc.new title")).to_have_text("root: ROOT → Eat, 40%")
    expect(page.locator(".tree .arc.unsure")).to_have_count(1)
    greedy, repaired = (one.bounding_box() for one in page.locator("figure svg").all())
    assert greedy
    assert repaired
    assert greedy["x"] + greedy["width"] <= repaired["x"]
    word(page, 1).click()
    expect(page.locator(".distribution tbody tr").nth(0)).to_contain_text("chosen first")
    choose_view(page, "Matrix")
    expect(page.locator("td.replaced")).to_have_attribute(
        "title", "Eat ← eaten: 0.6000, chosen first, then repaired"
    )


def test_reason_for_a_repair(page: Page) -> None:
    for how, greedy, reason in (
        ("mst", [0, 4, 4, 0], "no single tree: 2 words chose ROOT"),
        ("eisner", [3, 4, 0, 3], "a tree whose arcs cross"),
    ):
        answer_with(page, REPAIRED | {"how": how, "greedy": greedy})
        parse(page, "Eat or be eaten")
        expect(page.locator(".repair .note")).to_contain_text(reason)


def test_long_sentences_have_no_matrix(page: Page) -> None:
    n_words = 61
    words = [
        {"id": n + 1, "form": "a", "head": n, "deprel": "dep", "probability": 0.9}
        for n in range(n_words)
    ]
    rows = [[1.0 if head == n else 0.0 for head in range(n_words + 1)] for n in range(n_words)]
    answer_with(page, {"text": "a", "words": words, "how": "greedy", "distribution": rows})
    parse(page, "a")
    choose_view(page, "Matrix")
    expect(page.locator(".body .note")).to_have_text(
        "This sentence has 61 words; the matrix is shown for up to 60."
    )


def test_long_texts_have_no_distributions(page: Page) -> None:
    answer_with(page, {key: value for key, value in REPAIRED.items() if key != "distribution"})
    with page.expect_request("**/parse") as request:
        parse(page, "a " * 10_001)
    assert "distribution" not in request.value.post_data_json
    word(page, 1).click()
    expect(page.locator(".distribution")).to_contain_text("left out for long texts")


def test_too_large_a_distribution_is_done_without(open_page: PageMaker) -> None:
    page = open_page(fails=1)
    refuse_once(page, "parse", 413, "a distribution of more than 1,000,000 probabilities")
    parse(page, "Kids love candy.")
    word(page, 1).click()
    expect(page.locator(".distribution")).to_contain_text("left out for long texts")
