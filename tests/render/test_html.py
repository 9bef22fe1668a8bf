from html.parser import HTMLParser

from headwise import sentence_from_words
from headwise.render.html import html_page

ATTACK = "</title><script>alert(1)</script>"


class Elements(HTMLParser):
    """Collects the elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes.extend(attrs)


def test_a_page_has_a_figure_for_each_sentence_and_runs_nothing() -> None:
    words = [(ATTACK, "2", ATTACK), ("b", "0", "root")]
    sentence = sentence_from_words(words, ["form", "head", "deprel"])
    hebrew = sentence_from_words([("ילדים", "0", "root")], ["form", "head", "deprel"])
    pieces = list(html_page([(sentence, None), (hebrew, None)], title=ATTACK))
    assert len(pieces) == 4
    page = Elements()
    page.feed("".join(pieces))
    assert "script" not in page.names
    assert page.names.count("figure") == page.names.count("svg") == 2
    assert ("dir", "rtl") in page.attributes
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes
    links = [value for name, value in page.attributes if name == "href"]
    assert links == ["#s1", "#s2"]


def test_a_page_is_written_piece_by_piece() -> None:
    def endless() -> object:
        while True:
            yield sentence_from_words([("a",)], ["form"]), None

    pages = html_page(endless())  # type: ignore[arg-type]
    assert next(pages).startswith("<!doctype html>")
    assert "<figure" in next(pages)
