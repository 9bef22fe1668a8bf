"""Sentences and steps that several tests of the workbench share."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from headwise import sentence_from_words

TEXTS = (
    "The old man saw the girl with the telescope .",
    "Kids love candy , and every word selects its head .",
    "She said that he had left early .",
    "Time flies like an arrow .",
    "I do not know who broke the window .",
    "They fed her cat food .",
    "Visiting relatives can be boring .",
    "The horse raced past the barn fell .",
    "We saw the duck of the neighbours .",
    "Nobody expected the train to be late .",
)
LONG = (
    "The old man who saw the girl with the telescope said that kids love candy , and that every "
    "word selects its head , because nobody had expected the train to be late when she left "
    "the house early ."
)
HEBREW = "הילדים אוהבים ממתקים וכל מילה ."
RARE = (
    "# newdoc id = a\r\n# sent_id=odd  \r\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|X=1\r\n"
    "1\tde\tde\tADP\t_\t_\t3\tcase\t3:case\t_\r\n2\tle\tle\tDET\t_\t_\t3\tdet\t3:det\tGloss=the\r\n"
    "2.1\tx\t_\t_\t_\t_\t_\t_\t0:root\t_\r\n3\tmur\tmur\tNOUN\t_\t_\t0\troot\t0:root\tA=b|C=d\r\n\r\n"
)
"""A sentence with everything that CoNLL-U allows and few files have."""
PHONE = {"width": 390, "height": 844}


def conllu_of(*texts: str) -> str:
    """Write sentences without any annotation."""
    made = (sentence_from_words([(form,) for form in text.split()], ["form"]) for text in texts)
    return "".join(
        f"# sent_id = made-{number}\n# text = {text}\n{sentence.conllu}"
        for number, (text, sentence) in enumerate(zip(texts, made, strict=True), 1)
    )


def word(page: Page, number: int) -> Locator:
    return page.locator(f'.wb-word[data-id="{number}"]')


def rows_of(conllu: str, number: int) -> list[list[str]]:
    """Get the words of a sentence of a file; `number` starts at 1."""
    block = conllu.split("\n\n")[number - 1]
    return [line.split("\t") for line in block.split("\n") if line[:1].isdigit()]


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def settled(page: Page, said: str) -> None:
    """Wait for the message that tells what an edit did."""
    expect(page.locator("#spoken")).to_contain_text(said)


def go_to(page: Page, number: int) -> None:
    """Open a sentence, from 1, and wait for what the parser thinks of it."""
    page.locator(f"#row-{number - 1}").click()
    expect(page.locator("#sentence-name")).to_have_text(f"Sentence {number}")
    expect(page.locator(".wb-readings button").first).to_be_visible()


def findings(page: Page, rules: list[str] | None = None) -> list[str]:
    """Let axe look at the page; without rules, by all of them."""
    found = Axe().run(page, options={"runOnly": rules} if rules else None).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]
