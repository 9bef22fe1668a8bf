"""Changes of CoNLL-U in the page: every other byte stays."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotate.page.benches import RARE, press, settled
from annotate.page.conftest import Opener

pytestmark = pytest.mark.slow
DONT = (
    "# sent_id = a\n# text = I don't know.\n1\tI\tI\tPRON\t_\t_\t4\tnsubj\t4:nsubj\t_\n"
    "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdo\tdo\tAUX\t_\t_\t4\taux\t4:aux\tFixed=Head\n"
    "3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t4:advmod\tNotHead=1,4\n"
    "4\tknow\tknow\tVERB\t_\t_\t0\troot\t0:root\tSpaceAfter=No|Foo=1\n"
    "5\t.\t.\tPUNCT\t_\t_\t4\tpunct\t4:punct\t_\n\n"
)


def call(page: Page, module: str, name: str, *arguments: object) -> Any:
    """Call a function of the page."""
    script = f"""async (given) => {{
      const {{ {name} }} = await import("/static/annotate/{module}.js");
      return {name}(...JSON.parse(given));
    }}"""
    return page.evaluate(script, json.dumps(arguments))


def changed_lines(before: str, after: str) -> list[str]:
    assert len(before.split("\n")) == len(after.split("\n"))
    pairs = zip(before.split("\n"), after.split("\n"), strict=True)
    return [new for old, new in pairs if old != new]


def test_an_edit_changes_one_line(shared: str, visit: Opener) -> None:
    page = visit(shared)
    for block in (DONT, RARE):
        head = call(page, "edits", "setHead", block, 1, 2)
        assert len(changed_lines(block, head)) == 1
        value = call(page, "edits", "setValue", block, 3, "upos", "X")
        [line] = changed_lines(block, value)
        assert line.split("\t")[3] == "X"
        done = call(page, "edits", "setDone", block, True)
        assert call(page, "edits", "setDone", done, False) == block
        assert call(page, "edits", "unfix", block, []) == block
    released = call(page, "edits", "unfix", DONT, [2, 3])
    assert changed_lines(DONT, released) == [
        "2\tdo\tdo\tAUX\t_\t_\t4\taux\t4:aux\t_",
        "3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t4:advmod\t_",
    ]


def test_words_are_renumbered(shared: str, visit: Opener) -> None:
    page = visit(shared)
    split = call(page, "tokens", "splitWord", DONT, 1, ["I", "I"], False).split("\n")
    assert split[2:8] == [
        "1\tI\t_\tPRON\t_\t_\t5\tnsubj\t5:nsubj\tSpaceAfter=No",
        "2\tI\t_\t_\t_\t_\t_\t_\t_\t_",
        "3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\t_",
        "3\tdo\tdo\tAUX\t_\t_\t5\taux\t5:aux\tFixed=Head",
        "4\tn't\tnot\tPART\t_\t_\t5\tadvmod\t5:advmod\tNotHead=1,5",
        "5\tknow\tknow\tVERB\t_\t_\t0\troot\t0:root\tSpaceAfter=No|Foo=1",
    ]
    together = call(page, "tokens", "splitWord", DONT, 4, ["kn", "ow"], True).split("\n")
    assert together[6] == "4-5\tknow\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No"
    inside = call(page, "tokens", "splitWord", DONT, 3, ["n'", "t"], True)
    assert "2-4\tdon't\t" in inside
    joined = call(page, "tokens", "joinWord", DONT, 2).split("\n")
    assert joined[3] == "2\tdon't\t_\tAUX\t_\t_\t3\taux\t3:aux\tFixed=Head"
    assert call(page, "tokens", "joinWord", DONT, 5) is None
    assert call(page, "tokens", "textOf", DONT) == "I don't know."


def test_sentences_are_cut_between_tokens(shared: str, visit: Opener) -> None:
    page = visit(shared)
    assert call(page, "tokens", "splitSentence", DONT, 3) is None
    first, second = call(page, "tokens", "splitSentence", DONT, 4)
    assert "# text = I don't\n" in first
    assert "\tFixed" not in first
    assert second.startswith("# sent_id = a-2\n# text = know.\n1\tknow\t")
    assert first.endswith("\n\n")
    assert second.endswith("\n\n")
    joined = call(page, "tokens", "joinSentences", first, second)
    rows = [line.split("\t") for line in joined.split("\n") if line[:1].isdigit()]
    assert [row[0] for row in rows] == ["1", "2-3", "2", "3", "4", "5"]
    assert rows[4][6] == "_"
    assert rows[5][6] == "4"


def test_faults_of_a_text_are_named(shared: str, visit: Opener) -> None:
    page = visit(shared)
    assert call(page, "conllu", "faultsOf", DONT) == []
    assert call(page, "conllu", "faultsOf", RARE) == []
    broken = (
        DONT.replace("4\tnsubj", "9\tnsubj").replace("5\t.", "7\t.").replace("aux\t4:aux", "aux")
    )
    found = call(page, "conllu", "faultsOf", broken)
    assert [(one["line"], one["column"]) for one in found] == [(2, "head"), (4, None), (7, "id")]
    assert call(page, "conllu", "faultsOf", "# x\n\n")[0]["message"] == "the sentence has no words"


def test_another_tab_shows_what_this_one_does(shared: str, visit: Opener) -> None:
    one, two = visit(shared), visit(shared)
    press(two, "End")
    press(one, "End", "c")
    one.keyboard.type("seen by both")
    press(one, "Enter")
    settled(one, "Note written")
    two.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(two.locator("#note")).to_have_text("seen by both")
    press(two, "c", "ArrowUp")
    two.keyboard.type("seen by all")
    press(two, "Enter")
    settled(two, "Note written")
    one.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(one.locator("#note")).to_have_text("seen by all")
