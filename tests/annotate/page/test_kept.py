"""What is kept: in the file, over a reload, and if the server is killed."""

import signal
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from annotate.page.benches import RARE, TEXTS, conllu_of, press, rows_of, settled, word
from annotate.page.conftest import Opener, Served

pytestmark = pytest.mark.slow
Serve = Callable[..., Served]


def test_keyboard_alone_annotates_ten_sentences(serve: Serve, visit: Opener) -> None:
    served = serve(conllu_of(*TEXTS) + RARE, "--keep")
    page = visit(served.address)
    for number, text in enumerate(TEXTS, 1):
        expect(page.locator("#sentence-name")).to_have_text(f"Sentence {number}")
        expect(page.locator(".wb-choices button").first).to_be_visible()
        press(page, "End")
        expect(word(page, len(text.split()))).to_be_focused()
        press(page, "Space")
        settled(page, ". accepted")
        press(page, "Home", "h")
        page.keyboard.type("2")
        press(page, "Enter")
        settled(page, "Head of")
        press(page, "l")
        page.keyboard.type("orphan")
        press(page, "Enter")
        settled(page, "is orphan")
        press(page, "Enter")
    expect(page.locator("#progress-text")).to_contain_text("10 of 11 done")
    press(page, "End", "Space")
    settled(page, "mur accepted")
    served.end()
    conllu = served.path.read_bytes().decode()
    for number, text in enumerate(TEXTS, 1):
        rows = rows_of(conllu, number)
        assert [row[1] for row in rows] == text.split()
        assert rows[0][6:8] == ["2", "orphan"]
        assert rows[0][9] == rows[-1][9] == "Fixed=Head,Deprel"
        assert sum(row[6] == "0" for row in rows) == 1
        assert f"# sent_id = made-{number}\n" in conllu
    assert conllu.count("# status = done\n") == 10
    assert conllu.endswith(RARE.replace("A=b|C=d", "A=b|C=d|Fixed=Head,Deprel"))


def test_sentences_are_split_and_joined_and_undone_after_a_reload(
    serve: Serve, visit: Opener
) -> None:
    served = serve(conllu_of("I cannot swim .", TEXTS[3]))
    page = visit(served.address)
    press(page, "ArrowRight", "s", "Home", *["ArrowRight"] * 3)
    page.keyboard.type(" ")
    press(page, "Enter")
    settled(page, "Split cannot")
    expect(page.locator(".wb-form")).to_have_text(["I", "can", "not", "swim", "."])
    press(page, "j")
    settled(page, "Joined can")
    expect(page.locator(".wb-form")).to_have_text(["I", "cannot", "swim", "."])
    press(page, "Shift+J")
    settled(page, "Joined with the next sentence")
    expect(page.locator(".wb-word")).to_have_count(10)
    expect(page.locator("#progress-text")).to_have_text("0 of 1 done")
    press(page, "Home", *["ArrowRight"] * 4, "Shift+S")
    settled(page, "Split the sentence")
    expect(page.locator(".wb-word")).to_have_count(4)
    page.reload()
    page.wait_for_selector("body[data-ready]")
    expect(page.locator("#progress-text")).to_have_text("0 of 2 done")
    press(page, "Control+z")
    expect(page.locator(".wb-word")).to_have_count(10)
    press(page, "Control+Shift+Z")
    expect(page.locator(".wb-word")).to_have_count(4)
    served.end()
    conllu = served.path.read_text(encoding="utf-8")
    assert "# sent_id = made-1-2\n# text = Time flies like an arrow .\n" in conllu
    assert [row[1] for row in rows_of(conllu, 2)] == TEXTS[3].split()


def test_a_killed_server_loses_nothing(serve: Serve, visit: Opener) -> None:
    served = serve(conllu_of(*TEXTS[:2]))
    page = visit(served.address, may_fail=True)
    press(page, "r")
    settled(page, "Head of “The” is ROOT")
    served.end(signal.SIGKILL)
    press(page, "ArrowRight", "h")
    page.keyboard.type("1")
    press(page, "Enter")
    gone = page.locator("#gone")
    expect(gone).to_contain_text("The server does not answer.")
    expect(gone).to_contain_text("1 edit is kept in this browser")
    expect(page.locator(".wb-arc.fixed")).to_have_count(2)
    # The link of the new server, opened in another tab, lets this one in, too.
    second = visit(served.start(), may_fail=True)
    expect(gone).to_be_empty(timeout=10_000)
    second.close()
    served.end(signal.SIGKILL)
    press(page, "ArrowRight", "Space")
    expect(gone).to_contain_text("1 edit is kept in this browser")
    page.close()
    page = visit(served.start(), may_fail=True)
    expect(page.locator(".wb-arc.fixed")).to_have_count(3)
    served.end()
    rows = rows_of(served.path.read_text(encoding="utf-8"), 1)
    assert rows[0][6:10] == ["0", "root", "_", "Fixed=Head"]
    assert rows[1][6] == "1"
    assert rows[2][9] == "Fixed=Head,Deprel"
