"""Pictures that notebooks display."""

from pathlib import Path
from xml.etree import ElementTree

from render.made_sentences import KIDS, parse_of, sentence

import headwise
from headwise.render import Picture, to_picture, to_svg
from headwise.render.svg import stack_svgs

SENTENCE = sentence(KIDS)
PARSE = parse_of(SENTENCE, [0.99, 0.98, 0.41])


def test_notebooks_get_the_picture_of_to_svg() -> None:
    assert to_picture(SENTENCE)._repr_svg_() == to_svg(SENTENCE)
    assert to_picture(SENTENCE, PARSE).svg == to_svg(SENTENCE, PARSE)
    assert to_picture(SENTENCE, max_width=50).svg == to_svg(SENTENCE, max_width=50)
    assert repr(Picture("<svg/>")) == "<Picture: 6 characters of SVG>"


def test_several_sentences_are_stacked_and_none_is_a_picture_too() -> None:
    one = to_svg(SENTENCE, PARSE)
    assert to_picture([(SENTENCE, PARSE)]).svg == one
    assert to_picture(iter([(SENTENCE, PARSE)] * 2)).svg == stack_svgs([one, one])
    assert float(ElementTree.fromstring(to_picture(iter(())).svg).attrib["width"]) > 0


def test_a_saved_picture_is_a_file_of_its_own(tmp_path: Path) -> None:
    picture = headwise.show(SENTENCE, PARSE)
    picture.save(tmp_path / "kids.svg")
    assert (tmp_path / "kids.svg").read_text(encoding="utf-8") == picture.svg + "\n"


def test_the_snippet_in_the_docs_draws_a_text() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "output.md").read_text(encoding="utf-8")
    (code,) = (part for part in docs.split("```") if "headwise.show(parser" in part)
    *lines, last = code.removeprefix("python\n").strip().splitlines()
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    root = ElementTree.fromstring(eval(last, names).svg)
    titles = [title.text for title in root.findall("*/{http://www.w3.org/2000/svg}title")]
    assert titles == ["Kids love candy.", "So do I."]
