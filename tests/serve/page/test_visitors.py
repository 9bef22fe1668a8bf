"""What helps a visitor: labels explained, examples in the model's language, files, CoNLL-U."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from serve.page.conftest import PageMaker
from serve.page.visits import KIDS, PHONE, answer_with, choose_view, parse, saved, word

from headwise.model.languages import language_name
from headwise.render.arcs import percent
from headwise.treebank.relations import relations

ODD = {
    "text": "Kids sing",
    "words": [
        {"id": 1, "form": "Kids", "head": 2, "deprel": "nsubj:odd", "probability": 0.9},
        {"id": 2, "form": "sing", "head": 0, "deprel": "ODD", "probability": 0.9},
    ],
    "how": "greedy",
}


def test_pointing_at_a_label_explains_it(page: Page) -> None:
    parse(page, "Kids love candy.")
    tip = page.get_by_role("tooltip")
    page.locator(".tree .label", has_text="nsubj").hover()
    expect(tip).to_contain_text("nsubj: love → Kids, 99%")
    expect(tip).to_contain_text("nsubj: nominal subject. The noun or pronoun that does something")
    expect(tip.locator(".example b")).to_have_text("Kids")
    expect(tip.locator(".example u")).to_have_text("love")
    tip.hover()
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.locator(".tree .label", has_text="obj").hover()
    expect(tip).to_contain_text("obj: object.")
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    assert page.locator(".arc title").count() == 0


def test_the_label_of_a_chosen_word_is_explained(page: Page) -> None:
    parse(page, "Kids love candy.")
    word(page, 3).focus()
    expect(page.locator(".explained")).to_contain_text("obj: object. The noun or pronoun")


def test_labels_in_the_table_are_explained_on_focus(page: Page) -> None:
    answer_with(page, ODD)
    parse(page, "Kids sing")
    choose_view(page, "Table")
    page.get_by_role("button", name="nsubj:odd").focus()
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("nsubj:odd: nominal subject.")
    page.keyboard.press("Tab")
    expect(tip).to_be_hidden()
    expect(page.locator("table.words tbody tr").nth(1)).to_contain_text("ODD")
    assert page.get_by_role("button", name="ODD", exact=True).count() == 0


def test_a_tip_stays_inside_a_small_window(page: Page) -> None:
    page.set_viewport_size(PHONE)
    parse(page, KIDS)
    for label in page.locator(".tree .label").all()[:6]:
        label.scroll_into_view_if_needed()
        label.hover()
        box = page.get_by_role("tooltip").bounding_box()
        assert box
        assert 0 <= box["x"] <= PHONE["width"] - box["width"]
        page.mouse.move(0, 0)
        expect(page.get_by_role("tooltip")).to_be_hidden()


def test_the_glossary_of_the_page_is_that_of_the_package(page: Page, server: str) -> None:
    answer = page.request.get(f"{server}static/relations.json")
    assert [entry["label"] for entry in answer.json()] == list(relations())


def test_without_the_glossary_the_page_works(open_page: PageMaker) -> None:
    page = open_page(fails=1)
    page.route("**/relations.json", lambda route: route.fulfill(status=404))
    page.reload()
    parse(page, "Kids love candy.")
    word(page, 1).click()
    expect(page.locator(".distribution")).to_be_visible()
    expect(page.locator(".explained")).to_have_count(0)


def test_examples_are_in_the_language_of_the_model(page: Page) -> None:
    codes = {"en": "en", "de": "de", "gd": "gd", "he-big": "he"}
    languages = {name: {"code": code, "name": language_name(code)} for name, code in codes.items()}
    answer = {"models": {name: [] for name in codes}, "default_model": "de", "languages": languages}

    def models(route: Route) -> None:
        route.fulfill(json=answer)

    page.route("**/models", models)
    page.reload()
    examples = page.locator("#examples button")
    expect(examples).to_have_text(["German"])
    assert page.locator("#examples button").get_attribute("title") == (
        "Die Kinder lesen im Garten ein Buch."
    )
    text = page.get_by_label("Text or CoNLL-U")
    expect(text).to_have_attribute("placeholder", "Type or paste a text in German.")
    menu = page.get_by_label("Language")
    menu.select_option("English (en)")
    expect(examples).to_have_text(
        ["Kids love candy", "Two readings", "Uncertain arcs", "A repaired tree", "CoNLL-U"]
    )
    menu.select_option("he-big")
    expect(examples).to_have_text(["Hebrew"])
    menu.select_option("Scottish Gaelic (gd)")
    expect(page.locator("#examples")).to_be_hidden()
    menu.select_option("that of the text")
    expect(examples).to_have_count(7)
    expect(text).to_have_attribute("placeholder", "Type or paste a text.")


def test_a_file_is_opened_and_parsed(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "kids.txt"
    path.write_text("\ufeffKids love candy. Größe!", encoding="utf-8")
    page.locator("#file").set_input_files(path)
    expect(page.get_by_role("article")).to_have_count(2)
    expect(page.locator("#reads")).to_have_text("kids.txt")
    expect(page.get_by_label("Text or CoNLL-U")).to_have_value("Kids love candy. Größe!")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save CoNLL-U").click()
    assert waiting.value.suggested_filename == "kids.parsed.conllu"
    page.get_by_label("Text or CoNLL-U").fill("So do I.")
    expect(page.locator("#reads")).to_be_empty()
    with page.expect_file_chooser():
        page.get_by_role("button", name="Open a file").click()


def test_a_file_may_be_dropped_on_the_text(page: Page) -> None:
    page.evaluate(
        """() => {
            const data = new DataTransfer();
            const line = ["1", "Kids", ..."________"].join("\\t");
            data.items.add(new File([line, "\\n\\n"], "a.conllu"));
            const text = document.getElementById("text");
            text.dispatchEvent(new DragEvent("dragover", { dataTransfer: data }));
            text.dispatchEvent(new DragEvent("drop", { dataTransfer: data }));
        }"""
    )
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.locator("#reads")).to_have_text(re.compile("^a.conllu · CoNLL-U: its words"))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"a\x00b"])
def test_a_file_that_is_not_text_is_refused(page: Page, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(content)
    page.locator("#file").set_input_files(path)
    expect(page.get_by_role("alert")).to_contain_text("picture.png is not a text in UTF-8.")


def test_a_file_that_is_too_large_is_refused(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_bytes(b"a" * 4_000_001)
    page.locator("#file").set_input_files(path)
    expect(page.get_by_role("alert")).to_contain_text("book.txt is larger than 4 MB.")


def test_the_pane_shows_the_conllu_that_is_saved(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.post_data or ""))
    parse(page, "Kids love candy. So do I.")
    choose_view(page, "CoNLL-U")
    panes = page.locator("pre.conllu")
    expect(panes.nth(0)).to_contain_text("# text = Kids love candy.")
    expect(panes.nth(1)).to_contain_text("# text = So do I.")
    written = saved(page, "Save CoNLL-U").decode()
    assert "".join(f"{pane.text_content()}\n" for pane in panes.all()) == written
    assert len([body for body in asked if '"conllu"' in body]) == 1
    parse(page, "Me too.")
    expect(page.locator("pre.conllu")).to_contain_text("# text = Me too.")


def test_a_failed_pane_can_be_tried_again(open_page: PageMaker) -> None:
    page = open_page(fails=1)
    parse(page, "Kids love candy.")
    page.route("**/parse", lambda route: route.fulfill(status=500))
    choose_view(page, "CoNLL-U")
    expect(page.get_by_role("alert")).to_contain_text("status 500")
    page.unroute("**/parse")
    choose_view(page, "Tree")
    choose_view(page, "CoNLL-U")
    expect(page.locator("pre.conllu")).to_contain_text("candy")


def test_counts_are_said_once(page: Page) -> None:
    parse(page, "Kids love candy.")
    assert page.locator("main").inner_text().count("4 words") == 1
    parse(page, "Kids love candy. So do I too.")
    assert page.locator("main").inner_text().count("2 sentences") == 1


def test_the_page_rounds_percentages_like_the_command_line(page: Page) -> None:
    values = [0.0, 0.004, 0.01, 0.285, 0.29, 0.4999999, 0.5, 0.57, 0.58, 0.985, 0.995, 0.99999, 1.0]
    values += [k / 1000 for k in range(1001)]
    code = "async values => values.map((await import('/static/tree.js')).percent)"
    assert page.evaluate(code, values) == [percent(value) for value in values]
