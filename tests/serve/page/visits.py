"""Steps that several tests of the page share."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from playwright.sync_api import Locator, Page, Route, expect

from headwise import Parse, sentence_from_words
from headwise.render.svg import DrawnTree
from headwise.serve.answers import draw_pictures

KIDS = "Kids love candy, and every word selects its head."
HEBREW = "הילדים אוהבים ממתקים, וכל מילה בוחרת את הראש שלה."
LONG = f"{' and'.join([' the very old man saw the girl with the telescope'] * 6).strip()}."
PHONE = {"width": 390, "height": 800}

REPAIRED: dict[str, Any] = {
    "text": "Eat or be eaten",
    "words": [
        {"id": 1, "form": "Eat", "upos": "VERB", "head": 0, "deprel": "root", "probability": 0.4},
        {"id": 2, "form": "or", "upos": "CCONJ", "head": 4, "deprel": "cc", "probability": 0.9},
        {"id": 3, "form": "be", "upos": "AUX", "head": 4, "deprel": "aux", "probability": 0.9},
        {"id": 4, "form": "eaten", "upos": "VERB", "head": 1, "deprel": "conj", "probability": 0.7},
    ],
    "how": "mst",
    "greedy": [4, 4, 4, 1],
    "distribution": [
        [0.4, 0.0, 0.0, 0.0, 0.6],
        [0.0, 0.1, 0.0, 0.0, 0.9],
        [0.0, 0.1, 0.0, 0.0, 0.9],
        [0.3, 0.7, 0.0, 0.0, 0.0],
    ],
}
"""The first word and the last select each other."""

ANALYSED: dict[str, Any] = {
    "text": "Kids sing",
    "words": [
        {"id": 1, "form": "Kids", "lemma": "kid", "upos": "NOUN", "xpos": "NNS", "head": 2,
         "feats": "Case=Nom|Number=Plur", "deprel": "nsubj", "probability": 0.9},
        {"id": 2, "form": "sing", "lemma": "sing", "upos": "VERB", "xpos": "VBP", "head": 0,
         "deprel": "root", "probability": 0.9},
    ],
    "how": "greedy",
    "distribution": [[0.1, 0.0, 0.9], [0.9, 0.1, 0.0]],
}  # fmt: skip
"""With all columns."""


def submit(page: Page, text: str) -> None:
    page.get_by_label("Text or CoNLL-U").fill(text)
    page.get_by_role("button", name="Parse", exact=True).click()


def parse(page: Page, text: str) -> Locator:
    """Parse a text and wait for the result; gives the sentences."""
    submit(page, text)
    expect(page.locator("#status")).to_contain_text("Parsed")
    return page.get_by_role("article")


def answer_with(page: Page, *sentences: dict[str, Any]) -> None:
    """Make the server answer with these sentences, with pictures where they bring none."""
    answers = [pictures_of(sentence) | sentence for sentence in sentences]
    body = msgspec.json.encode({"model": "en", "sentences": answers})

    def answer(route: Route) -> None:
        route.fulfill(status=200, content_type="application/json", body=body)

    page.route("**/parse", answer)


def pictures_of(sentence: dict[str, Any]) -> dict[str, DrawnTree]:
    columns = ("form", "lemma", "upos", "feats", "head", "deprel")
    words = sentence["words"]
    drawn = sentence_from_words([[str(w.get(c, "_")) for c in columns] for w in words], columns)
    parse = Parse(
        tuple(w["head"] for w in words),
        tuple(w["deprel"] for w in words),
        tuple(math.log(w["probability"]) for w in words),
        sentence["how"],
    )
    rows = np.array(sentence.get("distribution", np.zeros((len(words), len(words) + 1))))
    with np.errstate(divide="ignore"):
        head_log_probs = np.log(np.vstack([rows[:1], rows]))
    return draw_pictures(drawn, parse, head_log_probs)


def once(page: Page, path: str, handle: Callable[[Route], None]) -> None:
    """Handle the next request for a path; those after it reach the server.

    The handler stays: with `times=1`, a request that follows at once can be lost while playwright
    removes the handler.
    """
    is_first = True

    def either(route: Route) -> None:
        nonlocal is_first
        was_first, is_first = is_first, False
        if was_first:
            handle(route)
        else:
            route.continue_()

    page.route(f"**/{path}", either)


def refuse_once(
    page: Page, path: str, status: int, message: str, headers: dict[str, str] | None = None
) -> None:
    """Refuse the next request for a path."""
    body = json.dumps({"error": {"message": message, "hint": None}})
    once(page, path, lambda route: route.fulfill(status=status, body=body, headers=headers))


def choose_view(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name).check(force=True)


def word(page: Page, number: int) -> Locator:
    return page.locator("#sentences").get_by_role("option").nth(number - 1)


def saved(page: Page, button: str) -> bytes:
    """Press a button that saves a file; gives its bytes."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).click()
    return Path(waiting.value.path()).read_bytes()
