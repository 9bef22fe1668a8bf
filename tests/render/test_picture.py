"""Pictures that notebooks show by themselves."""

from pathlib import Path
from xml.etree import ElementTree

import headwise
from headwise import Parse, Sentence
from headwise.render import Picture, show, to_svg
from headwise.render.svg import stack_svgs

KIDS = headwise.sentence_from_words(
    [("Kids", "2", "nsubj"), ("love", "0", "root"), ("candy", "2", "obj")],
    ["form", "head", "deprel"],
)
SURE = Parse((2, 0, 2), ("nsubj", "root", "obj"), (-0.01, -0.02, -0.9), "greedy")


def test_a_notebook_asks_for_svg_and_gets_the_picture_of_to_svg() -> None:
    assert show(KIDS)._repr_svg_() == to_svg(KIDS)
    assert show(KIDS, SURE)._repr_svg_() == to_svg(KIDS, SURE)
    assert show(KIDS, SURE, max_width=50).svg == to_svg(KIDS, SURE, max_width=50)


def test_sentences_stand_below_each_other() -> None:
    one = to_svg(KIDS, SURE)
    assert show([(KIDS, SURE)]).svg == one
    assert show(iter([(KIDS, SURE), (KIDS, SURE)])).svg == stack_svgs([one, one])


def test_nothing_is_a_picture_too() -> None:
    pairs: list[tuple[Sentence, Parse]] = []
    root = ElementTree.fromstring(show(pairs).svg)
    assert float(root.attrib["width"]) > 0
    assert float(root.attrib["height"]) > 0


def test_what_a_terminal_shows_is_short() -> None:
    assert repr(Picture("<svg/>")) == "<Picture: 6 characters of SVG>"


def test_a_saved_picture_is_a_file_of_its_own(tmp_path: Path) -> None:
    picture = headwise.show(KIDS, SURE)
    picture.save(tmp_path / "kids.svg")
    assert (tmp_path / "kids.svg").read_text(encoding="utf-8") == picture.svg + "\n"
    assert ElementTree.parse(tmp_path / "kids.svg").getroot().tag.endswith("svg")


def test_raw_text_is_shown_in_one_line() -> None:
    picture = headwise.show(headwise.load().annotate_text("Kids love candy. So do I."))
    root = ElementTree.fromstring(picture.svg)
    titles = [title.text for title in root.findall("*/{http://www.w3.org/2000/svg}title")]
    assert titles == ["Kids love candy.", "So do I."]


def test_the_snippet_on_the_page_runs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "output.md").read_text(encoding="utf-8")
    (code,) = (part for part in page.split("```") if "headwise.show(parser" in part)
    *lines, last = code.removeprefix("python\n").strip().splitlines()
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    assert eval(last, names)._repr_svg_().startswith("<svg")
