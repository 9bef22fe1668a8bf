"""What a person does by keyboard, pointer and finger, and what the page makes of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from annotate.page.benches import TEXTS, conllu_of, go_to, press, settled, word
from annotate.page.conftest import Opener, Served

pytestmark = pytest.mark.slow


def test_every_key_of_a_word_does_its_work(shared: str, visit: Opener) -> None:
    page = visit(shared)
    go_to(page, 1)
    press(page, "n", "2")
    settled(page, "Head of")
    press(page, "Control+z")
    settled(page, "Undone")
    press(page, "Control+Shift+Z")
    settled(page, "Done again")
    press(page, "Home", "r")
    settled(page, "is ROOT")
    expect(page.locator(".wb-arc.fixed .lock")).to_have_count(2)
    press(page, "x")
    settled(page, "ROOT is not the head of The")
    expect(word(page, 1)).not_to_contain_text("root")
    for key, typed, said in (
        ("p", "INTJ", "UPOS of “The” is INTJ"),
        ("Shift+P", "UH", "XPOS of “The” is UH"),
        ("m", "thee", "Lemma of “The” is thee"),
        ("f", "Mood=Ind", "Features of “The” is Mood=Ind"),
        ("c", "50% sure", "Note written"),
    ):
        press(page, key)
        page.keyboard.type(typed)
        press(page, "ArrowUp", "Enter")
        if key == "f":
            press(page, "Escape")
        settled(page, said)
    expect(page.locator("#note")).to_have_text("50% sure")
    table = page.locator("#conllu tbody tr").first
    if not table.is_visible():
        press(page, "e")
    cells = table.locator("th, td").all_inner_texts()
    assert cells[:6] == ["1", "The", "thee", "INTJ", "UH", "Mood=Ind"]
    assert cells[9] == "NotHead=0|Fixed=Upos,Xpos,Feats,Lemma"
    press(page, "Enter")
    expect(page.locator("#sentence-name")).to_have_text("Sentence 2")
    go_to(page, 1)
    expect(page.locator("#done")).to_have_class("main is-done")
    press(page, "u")
    settled(page, "Sentence open again")
    expect(page.locator("#done")).to_have_class("main")
    press(page, "o", "ArrowRight")
    expect(page.locator(".wb-readings button").first).to_be_focused()


def test_a_contradiction_is_refused_with_a_button_that_resolves_it(
    shared: str, visit: Opener
) -> None:
    page = visit(shared, may_fail=True)
    go_to(page, 4)
    press(page, "Home", "h")
    page.keyboard.type("2")
    press(page, "Enter")
    settled(page, "Head of “Time” is “flies”")
    press(page, "ArrowRight", "h")
    page.keyboard.type("1")
    press(page, "Enter")
    refused = page.locator("#refused")
    expect(refused).to_contain_text("head")
    expect(page.locator(".wb-arc.fixed")).to_have_count(1)
    refused.get_by_role("button", name="Release Time").click()
    settled(page, "Head of “flies” is “Time”")
    expect(refused).to_be_empty()
    expect(page.locator(".wb-arc.fixed")).to_have_count(1)
    expect(page.locator(".wb-arc.changed")).not_to_have_count(0)


def test_words_are_dragged_to_their_heads(shared: str, visit: Opener) -> None:
    page = visit(shared)
    go_to(page, 5)
    word(page, 4).drag_to(word(page, 1))
    settled(page, "Head of “know” is “I”")
    page.set_viewport_size({"width": 390, "height": 844})
    start = word(page, 5).locator(".wb-grip")
    start.scroll_into_view_if_needed()
    boxes = [start.bounding_box(), word(page, 6).bounding_box()]
    points = [(box["x"] + 8, box["y"] + box["height"] / 2) for box in boxes if box]
    client = page.context.new_cdp_session(page)
    for kind, places in (("Start", points[:1]), ("Move", points[1:]), ("End", [])):
        touches = [{"x": x, "y": y} for x, y in places]
        client.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": touches})
    settled(page, "Head of “who” is “broke”")


def test_late_answers_never_overwrite_newer_ones(shared: str, visit: Opener) -> None:
    page = visit(shared)
    go_to(page, 6)
    held: list[Route] = []
    page.route("**/annotate/decode", lambda route: held.append(route))  # noqa: PLW0108 it sets attributes
    press(page, "Home", "r", "End", "Space")
    expect(page.locator(".wb-arc.fixed")).to_have_count(2)
    while len(held) < 2:
        page.wait_for_timeout(20)
    with page.expect_response("**/annotate/edit"):
        held[1].continue_()
        settled(page, ". accepted")
    with page.expect_response("**/annotate/decode"):
        held[0].continue_()
    page.unroute_all()
    expect(page.locator(".wb-arc.fixed")).to_have_count(2)
    press(page, "Control+z")
    settled(page, "Undone")
    expect(page.locator(".wb-arc.fixed")).to_have_count(1)


def test_cells_and_text_of_conllu_can_be_changed(shared: str, visit: Opener) -> None:
    page = visit(shared)
    go_to(page, 7)
    if page.locator("#pane").get_attribute("open") is None:
        press(page, "e")
    page.get_by_role("button", name="UPOS of relatives").click()
    page.keyboard.type("VERB")
    press(page, "Enter")
    settled(page, "UPOS of word 2 is VERB")
    page.get_by_role("button", name="HEAD of relatives").click()
    page.keyboard.type("99")
    press(page, "Enter")
    expect(page.locator("#refused")).to_contain_text("HEAD of word 2 cannot be 99.")
    page.get_by_role("button", name="Edit as text").click()
    text = page.get_by_label("CoNLL-U as text")
    block = text.input_value()
    text.fill(block.replace("1\tVisiting\t", "1\tVisiting"))
    expect(page.locator(".wb-checks")).to_contain_text("9 columns, not 10")
    expect(page.get_by_role("button", name="Apply")).to_be_disabled()
    text.fill(block.replace("1\tVisiting\t", "1\tVisited\t"))
    press(page, "Control+Enter")
    settled(page, "CoNLL-U changed")
    expect(page.locator(".wb-form").first).to_have_text("Visited")


def test_hebrew_runs_from_right_to_left(shared: str, visit: Opener) -> None:
    page = visit(shared)
    go_to(page, 12)
    left = "all => all.map(one => one.getBoundingClientRect().x)"
    places = page.locator(".wb-word").evaluate_all(left)
    assert places == sorted(places, reverse=True)
    press(page, "Home", "ArrowLeft")
    expect(word(page, 2)).to_be_focused()
    press(page, "v")
    grip = word(page, 1).locator(".wb-grip").bounding_box()
    form = word(page, 1).locator(".wb-form").bounding_box()
    assert grip
    assert form
    assert grip["x"] > form["x"]


def test_search_finds_words_and_opens_their_sentence(shared: str, visit: Opener) -> None:
    page = visit(shared)
    press(page, "/")
    page.keyboard.type("form:barn")
    expect(page.locator("#search [role=status]")).to_have_text("1 word in 1 sentence")
    press(page, "Enter")
    expect(page.locator(".wb-hits button")).to_be_focused()
    press(page, "Enter")
    expect(page.locator("#sentence-name")).to_have_text("Sentence 8")
    expect(word(page, 6)).to_be_focused()
    expect(page.locator(".wb-word.found .wb-form")).to_have_text(["barn"])
    press(page, "d")
    expect(page.locator("#compare")).to_contain_text("headwise annotate FILE --compare OTHER")
    press(page, "Escape")
    page.get_by_role("button", name="Teach").click()
    expect(page.locator("#teach")).to_contain_text("There are none yet")
    press(page, "Escape", "?")
    expect(page.get_by_role("heading", name="All keys")).to_be_visible()


def test_two_files_are_compared_and_one_is_taken(
    serve: Callable[..., Served], visit: Opener, tmp_path: Path
) -> None:
    mine = conllu_of(TEXTS[3]).replace("Time\t_\t_\t_\t_\t_\t_", "Time\t_\t_\t_\t_\t2\tnsubj")
    other = tmp_path / "other.conllu"
    other.write_text(mine.replace("2\tnsubj", "3\tobj"), encoding="utf-8")
    served = serve(mine, "--compare", str(other))
    page = visit(served.address)
    press(page, "d")
    expect(page.locator("#compare")).to_contain_text("Cohen's kappa")
    page.get_by_role("button", name="1 Time flies").click()
    expect(page.locator(".wb-arc.theirs .label")).to_have_text(["obj"])
    expect(page.locator(".wb-other")).to_contain_text("obj of like")
    press(page, "End", "n")
    expect(word(page, 1)).to_be_focused()
    press(page, "t")
    settled(page, "Took the other arc of Time")
    expect(page.locator(".wb-arc.theirs")).to_have_count(0)
    expect(word(page, 1)).to_have_attribute("aria-label", "1 Time, NOUN, obj of like, fixed")
