"""What a reader does: parse, choose a word, switch views, save, follow a link, see an error."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, Route, expect
from serve.page.conftest import MAX_BYTES, PageMaker
from serve.page.visits import (
    ANALYSED,
    KIDS,
    LONG,
    REPAIRED,
    answer_with,
    choose_view,
    once,
    parse,
    refuse_once,
    saved,
    submit,
    word,
)

from headwise.cli.main import main

TWO_MODELS = {
    "models": {"en": ["parser"], "de": ["parser"]},
    "default_model": "en",
    "languages": {
        "en": {"code": "en", "name": "English"},
        "de": {"code": "de", "name": "German"},
    },
}
FIXTURE = Path(__file__).parents[2] / "fixtures" / "ewt-dev-100.conllu"


def test_text_becomes_trees(page: Page) -> None:
    sentences = parse(page, f"{KIDS} So do I.")
    expect(sentences).to_have_count(2)
    first = sentences.nth(0)
    expect(first.locator(".word")).to_have_text(
        ["Kids", "love", "candy", ",", "and", "every", "word", "selects", "its", "head", "."]
    )
    expect(first.locator(".tag").nth(1)).to_have_text("VERB")
    expect(first.locator(".tree .arc")).to_have_count(11)
    expect(first.locator(".tree .label", has_text="nsubj")).to_have_count(2)
    expect(page.get_by_role("status")).to_have_text("Parsed: 2 sentences, 15 words.")
    expect(word(page, 1)).to_have_attribute("aria-label", re.compile("^Kids, NOUN, nsubj of love,"))
    expect(first.locator("desc")).to_have_text(re.compile("^Kids: nsubj of love; love: root; "))


def test_chosen_word_shows_a_distribution_that_sums_to_one(page: Page) -> None:
    parse(page, "I saw the man with the telescope.")
    for number in (2, 7):
        word(page, number).click()
        rows = page.locator(".distribution tbody tr")
        shown = [float(row.get_attribute("data-probability") or 0) for row in rows.all()]
        assert sum(shown) == pytest.approx(1, abs=1e-4)
        expect(page.locator(".distribution .sum")).to_have_text("1.00")
        expect(word(page, number)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".weights .arc").first).to_be_visible()
    expect(page.locator(".distribution .chosen")).to_contain_text("in the tree")
    expect(page.locator("#spoken")).to_contain_text("Heads of telescope: ")
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".distribution")).to_have_count(0)
    expect(page.locator(".weights .arc")).to_have_count(0)
    page.locator(".tree .label", has_text="nsubj").click()
    expect(page.get_by_role("heading", name="Which head for “I”?")).to_be_visible()


def test_views_show_the_same_tree(page: Page) -> None:
    parse(page, "Kids love candy.")
    choose_view(page, "Matrix")
    cells = page.locator(".matrix tbody tr").nth(0).locator("td")
    expect(cells).to_have_count(5)
    expect(cells.nth(2)).to_have_class("in-tree deep")
    expect(cells.nth(2)).to_have_attribute("title", re.compile("Kids ← love: .*, in the tree"))
    choose_view(page, "Table")
    expect(page.locator("table.words tbody tr").nth(0)).to_contain_text("nsubj")
    choose_view(page, "Tree")
    expect(page.locator(".tree .arc")).to_have_count(4)


def test_lemmas_and_features_are_shown(page: Page) -> None:
    answer_with(page, ANALYSED)
    (first, _) = parse(page, "Kids sing").locator(".choice").all()
    expect(first.locator(".tag")).to_have_text(["NOUN", "kid"])
    expect(first).to_have_attribute("aria-label", re.compile("^Kids, NOUN, kid, nsubj of sing"))
    box, line = first.locator(".box").bounding_box(), first.locator(".tag").nth(1).bounding_box()
    assert box
    assert line
    assert box["y"] + box["height"] >= line["y"] + line["height"]
    word(page, 1).click()
    panel = page.locator(".distribution .facts")
    expect(panel).to_have_text(re.compile("^kid · NOUN · NNS · Case=Nom\\|.?Number=Plur$"))
    choose_view(page, "Table")
    names = ["Word", "Lemma", "UPOS", "XPOS", "Features", "Label", "Head", "Probability"]
    expect(page.locator("table.words th[scope=col]")).to_have_text(names)
    expect(page.locator("table.words tbody tr").nth(0)).to_contain_text("Number=Plur")


def test_saved_conllu_is_what_the_command_line_writes(page: Page, tmp_path: Path) -> None:
    conllu = "\n\n".join(FIXTURE.read_text(encoding="utf-8").split("\n\n")[:5]) + "\n\n"
    path = tmp_path / "input"
    for text in (f"{KIDS}\n\nDon't you? She cannot.", conllu):
        path.write_text(text, encoding="utf-8")
        done = CliRunner().invoke(main, ["parse", "--quiet", str(path)])
        assert done.exit_code == 0
        parse(page, text)
        assert saved(page, "Save CoNLL-U") == done.stdout_bytes
    expect(page.locator("#reads")).to_contain_text("CoNLL-U")


def test_examples_show_what_their_names_say(page: Page) -> None:
    for name, start, fact in (
        ("A repaired tree", "The horse", "repaired"),
        ("Uncertain arcs", "The rat", "uncertain arc"),
        ("Two readings", "I saw", ""),
    ):
        page.get_by_role("button", name=name).click()
        sentence = page.get_by_role("article").filter(has_text=start)
        expect(sentence.locator(".facts")).to_contain_text(fact)
    word(page, 7).click()
    expect(page.locator(".weights .arc")).to_have_count(2)


@pytest.mark.parametrize("text", [KIDS, LONG])
def test_link_reproduces_what_is_shown(text: str, open_page: PageMaker) -> None:
    page = open_page()
    parse(page, f"{text} So do I.")
    page.get_by_role("article").nth(1).get_by_role("option").nth(2).click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#status")).to_have_text("Link copied.")
    fragment = page.evaluate("navigator.clipboard.readText()").partition("#")[2]
    assert ("packed=" in fragment) == (text is LONG)
    other = open_page(f"#{fragment}")
    chosen = other.get_by_role("article").nth(1).get_by_role("option").nth(2)
    expect(chosen).to_have_attribute("aria-selected", "true")
    assert other.locator("#sentences").inner_html() == page.locator("#sentences").inner_html()


def test_link_keeps_the_view(open_page: PageMaker) -> None:
    page = open_page("#view=matrix&decoder=eisner&text=Kids+love+candy.")
    expect(page.locator(".matrix")).to_be_visible()
    expect(page.get_by_label("Trees")).to_have_value("eisner")


def test_damaged_link_is_reported(page: Page) -> None:
    for packed in ("%%%", "AAAA", "7cEBAQAAAICQ_q_uCAoAAAAAAAAAAAA"):
        page.evaluate("hash => { location.hash = hash }", f"packed={packed}")
        expect(page.get_by_role("alert")).to_contain_text("This link is damaged")
        page.get_by_role("button", name="Parse", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("There is no text yet.")
    expect(page.get_by_label("Text or CoNLL-U")).to_be_focused()


def test_text_that_is_too_long_for_a_link(page: Page) -> None:
    answer_with(page, REPAIRED)
    parse(page, " ".join(str(n * 7919 % 104_729) for n in range(9_000)))
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("alert")).to_contain_text("too long for a link")


def test_text_beyond_the_limit_is_refused(open_page: PageMaker) -> None:
    page = open_page(fails=1)
    submit(page, "words " * (MAX_BYTES // 6 + 1))
    expect(page.get_by_role("alert")).to_contain_text("50,000 bytes")
    expect(page.get_by_role("alert")).to_contain_text("several requests")


def test_busy_server_is_asked_again(open_page: PageMaker) -> None:
    page = open_page(fails=1)
    page.clock.install()
    refuse_once(page, "parse", 429, "the queue is full", {"Retry-After": "7"})
    submit(page, KIDS)
    expect(page.locator("#status")).to_have_text("The server is busy. Trying again in 7 s …")
    page.clock.run_for(7_000)
    expect(page.get_by_role("article")).to_have_count(1)


def test_lost_server_can_be_tried_again(open_page: PageMaker) -> None:
    page = open_page(fails=1)
    once(page, "parse", lambda route: route.abort("connectionrefused"))
    submit(page, KIDS)
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_role("alert")).to_be_empty()


def test_token_is_asked_for_and_sent(open_page: PageMaker) -> None:
    page = open_page(fails=1)
    refuse_once(page, "models", 401, "this server asks for a token")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("This server asks for a token.")
    page.get_by_label("Access token").fill("secret")
    with page.expect_request("**/models") as request:
        page.keyboard.press("Tab")
    assert request.value.headers["authorization"] == "Bearer secret"
    expect(page.get_by_role("alert")).to_be_empty()
    with page.expect_request("**/parse") as request:
        parse(page, KIDS)
    assert request.value.headers["authorization"] == "Bearer secret"


def test_menu_of_models_shows_when_there_are_several(open_page: PageMaker) -> None:
    page = open_page()
    expect(page.get_by_label("Language")).to_be_hidden()

    def answer(route: Route) -> None:
        route.fulfill(json=TWO_MODELS)

    page.route("**/models", answer)
    page.reload()
    expect(page.get_by_label("Language")).to_have_value("en")


def test_long_texts_come_in_parts(page: Page) -> None:
    answer_with(page, *[REPAIRED] * 45)
    sentences = parse(page, "a text")
    for shown in (20, 40, 45):
        expect(sentences).to_have_count(shown)
        if shown < 45:
            page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()


def test_words_never_become_markup(page: Page) -> None:
    attack = '<img/src=x/onerror=alert(1)> "><script>alert(2)</script> \u202eevil\u0007'
    rows = [[str(n), form, *"_" * 8] for n, form in enumerate(attack.split(), 1)]
    parse(page, "\n".join("\t".join(row) for row in rows) + "\n\n")
    for view in ("Tree", "Matrix", "Table", "CoNLL-U"):
        choose_view(page, view)
        assert page.locator("#results img, #results script").count() == 0
    choose_view(page, "Tree")
    expect(page.locator(".word").nth(0)).to_have_text("<img/src=x/onerror=alert(1)>")
    expect(page.locator(".word").nth(2)).to_have_text("\ufffdevil\u2407")


def test_text_in_another_language_gets_a_hint(page: Page) -> None:
    german = (
        "Die Kinder lieben die Süßigkeiten ihrer Großmutter, und sie essen sie jeden Tag gerne."
    )
    parse(page, german)
    hint = page.locator("#language")
    expect(hint).to_contain_text("This text looks German. This server has no model for it")
    parse(page, KIDS)
    expect(hint).to_be_empty()


def test_the_hint_offers_the_model_to_choose(page: Page) -> None:
    page.route("**/models", lambda route: route.fulfill(json=TWO_MODELS))
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.post_data_json["model"])
        language = {"code": "de", "name": "German", "model": "de"} if len(asked) == 1 else None
        body = {"model": asked[-1], "sentences": []} | ({"language": language} if language else {})
        route.fulfill(json=body)

    page.route("**/parse", answer)
    page.reload()
    expect(page.get_by_label("Language").locator("option")).to_have_text(
        ["English (en)", "German (de)", "that of the text"]
    )
    submit(page, "Die Kinder.")
    page.get_by_role("button", name="Parse with German (de)").click()
    expect(page.locator("#language")).to_be_empty()
    expect(page.get_by_label("Language")).to_have_value("de")
    assert asked == ["en", "de"]
