"""The SVG picture: well-formed with any text, safe, and accessible."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from render.made_sentences import KIDS, WILD_VALUES, parse_of, parsed_sentences, sentence

import headwise
from headwise import Parse, Sentence, sentence_from_words
from headwise.render.cells import clip, visible
from headwise.render.layout import LINE_HEIGHT, LONGEST_LABEL, LONGEST_WORD, lay_out
from headwise.render.svg import STACK_GAP, Picture, draw_tree, stack_svgs, to_picture, to_svg

SVG = "{http://www.w3.org/2000/svg}"


def read(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(picture)


def elements(picture: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [found for found in picture.iter(f"{SVG}text") if found.get("class") == kind]


def texts(picture: ElementTree.Element, kind: str) -> list[str]:
    return [found.text or "" for found in elements(picture, kind)]


def test_a_small_picture_word_for_word() -> None:
    made = sentence("Go/VERB/0/root")
    picture = re.sub("<style>.*</style>", "", to_svg(made, parse_of(made, [0.91])))
    assert picture == (
        '<svg xmlns="http://www.w3.org/2000/svg" class="headwise" role="img" '
        'viewBox="0 0 66 84" width="66" height="84">'
        "<title>Go</title><desc>Go: root</desc>"
        '<rect class="ground" width="100%" height="100%"/>'
        '<g class="arc"><title>root: ROOT → Go, 91%</title>'
        '<path class="line" d="M33.0,18.0V31.0"/>'
        '<path class="head" d="M33.0,36.0l-4,-7h8z"/>'
        '<text class="label" x="33.0" y="12.5">root</text></g>'
        '<text class="word" x="33.0" y="56.0">Go</text>'
        '<text class="tag" x="33.0" y="74.0">VERB</text></svg>'
    )


def test_the_tree_is_told_in_words_and_unsure_arcs_are_marked() -> None:
    made = sentence(KIDS)
    picture = read(to_svg(made, parse_of(made, [0.98, 1.0, 0.42])))
    assert picture[1].text == "Kids: nsubj of love; love: root; candy: obj of love"
    found = {g.findtext(f"{SVG}title"): g.get("class") for g in picture.iter(f"{SVG}g")}
    assert found == {
        "root: ROOT → love, 99%": "arc",
        "nsubj: love → Kids, 98%": "arc",
        "obj: love → candy, 42%": "arc unsure",
    }


def test_parts_of_a_drawn_tree_are_in_the_order_of_its_elements() -> None:
    made = sentence(KIDS)
    drawn = draw_tree(made, parse_of(made, [0.98, 1.0, 0.42]))
    assert [(arc.dependent, arc.percent) for arc in drawn.arcs] == [
        (2, "99%"),
        (1, "98%"),
        (3, "42%"),
    ]
    words = elements(read(drawn.svg), "word")
    assert [str(word.x) for word in drawn.words] == [word.get("x") for word in words]
    assert {float(word.get("y", "nan")) for word in words} == {drawn.floor + 20}


def test_columns_are_lines_below_the_words() -> None:
    rows = [("Kids", "kid", "NOUN", "Case=Nom|Number=Plur"), ("love", "love", "_", "_")]
    made = sentence_from_words(rows, ["form", "lemma", "upos", "feats"])
    picture = read(to_svg(made, columns=("upos", "feats", "xpos", "lemma")))
    floor = float(elements(picture, "word")[0].get("y", "nan")) - 20
    lines = [(line.text, float(line.get("y", "nan")) - floor) for line in elements(picture, "tag")]
    assert lines == [
        ("NOUN", 38),
        ("Case=Nom", 38 + LINE_HEIGHT),
        ("Number=Plur", 38 + 2 * LINE_HEIGHT),
        ("kid", 38 + 3 * LINE_HEIGHT),  # XPOS is blank, so it takes no line
        ("love", 38 + 3 * LINE_HEIGHT),
    ]
    plain = read(to_svg(made))
    height = float(picture.get("height", "nan")) - float(plain.get("height", "nan"))
    assert height == 3 * LINE_HEIGHT
    assert read(to_svg(made, columns=())).get("height") == plain.get("height")
    assert draw_tree(made, parse_of_blank(made), ("upos", "lemma")).words[0].width >= 20


def parse_of_blank(made: Sentence) -> Parse:
    return Parse((0,) * len(made), ("root",) * len(made), (0.0,) * len(made), "greedy")


def test_right_to_left_sentences_go_from_right_to_left() -> None:
    words = [("\u0643\u062a\u0628", "0"), ("HTML", "1"), (".", "1")]
    drawn = elements(read(to_svg(sentence_from_words(words, ["form", "head"]))), "word")
    centres = [float(word.get("x", "nan")) for word in drawn]
    assert centres == sorted(centres, reverse=True)
    assert [word.get("direction") for word in drawn] == ["rtl", None, None]


def test_a_wide_picture_shrinks_and_a_small_one_does_not_grow() -> None:
    natural = read(to_svg(sentence(KIDS)))
    small = read(to_svg(sentence(KIDS), max_width=100))
    assert small.get("width") == "100"
    assert small.get("viewBox") == natural.get("viewBox")
    assert float(small.get("height", "nan")) < float(natural.get("height", "nan"))
    assert to_svg(sentence(KIDS), max_width=10_000) == to_svg(sentence(KIDS))


def test_text_cannot_become_markup_and_pictures_are_self_contained() -> None:
    evil = '<script>alert("1")</script>&\x1b'
    made = sentence_from_words([(evil, evil, "0", evil)], ["form", "upos", "head", "deprel"])
    raw = to_svg(made)
    assert "prefers-color-scheme:dark" in raw
    assert not re.search(r'href|url\(|@import|@font-face| id="|<script', raw)
    assert texts(read(raw), "word") == [visible(evil)]


@pytest.mark.parametrize("line", ["a/X/_/_", "a/_/1/dep", "a/X/2/x b/X/1/x"])
def test_heads_that_form_no_tree_are_drawn_too(line: str) -> None:
    picture = read(to_svg(sentence(line)))
    assert len(texts(picture, "word")) == line.count(" ") + 1
    assert len(texts(picture, "tag")) == line.count("/X/")


@given(parsed_sentences(WILD_VALUES))
def test_any_text_gives_xml_with_every_word_and_label(drawn: tuple[Sentence, Parse]) -> None:
    made, parse = drawn
    picture = read(to_svg(made, parse))
    forms = [clip(visible(word.form), LONGEST_WORD) for word in made.words]
    assert texts(picture, "word") == forms
    drawable = [
        clip(visible(word.deprel), LONGEST_LABEL)
        for position, word in enumerate(made.words, 1)
        if int(word.head) != position
    ]
    assert sorted(texts(picture, "label")) == sorted(drawable)
    tops = [arc.top for arc in lay_out(made, parse).arcs]
    assert tops == sorted(tops)  # labels cover the lines of higher arcs


ONE = to_svg(sentence("Kids/NOUN/0/root"))
TWO = to_svg(sentence("love/VERB/0/root candy/NOUN/1/obj"))


def test_stacked_pictures_do_not_overlap() -> None:
    outer = read(stack_svgs([ONE, TWO, ONE]))
    ground, *pictures = outer
    heights = [float(picture.attrib["height"]) for picture in pictures]
    tops = [float(picture.attrib["y"]) for picture in pictures]
    assert tops == [0, heights[0] + STACK_GAP, heights[0] + heights[1] + 2 * STACK_GAP]
    assert float(outer.attrib["height"]) == sum(heights) + 2 * STACK_GAP
    assert float(outer.attrib["width"]) == max(float(p.attrib["width"]) for p in pictures)
    assert ground.attrib["class"] == "ground"


def test_a_word_that_looks_like_a_size_moves_nothing() -> None:
    odd = to_svg(sentence_from_words([('width="9" height="9"', "0")], ["form", "head"]))
    outer = read(stack_svgs([odd, ONE]))
    assert float(outer[2].attrib["y"]) == float(outer[1].attrib["height"]) + STACK_GAP


SENTENCE = sentence(KIDS)
PARSE = parse_of(SENTENCE, [0.99, 0.98, 0.41])


def test_notebooks_get_the_picture_of_to_svg(tmp_path: Path) -> None:
    assert to_picture(SENTENCE)._repr_svg_() == to_svg(SENTENCE)
    picture = headwise.show(SENTENCE, PARSE)
    assert picture.svg == to_svg(SENTENCE, PARSE)
    picture.save(tmp_path / "kids.svg")
    assert (tmp_path / "kids.svg").read_text(encoding="utf-8") == picture.svg + "\n"
    assert to_picture(SENTENCE, max_width=50).svg == to_svg(SENTENCE, max_width=50)
    assert repr(Picture("<svg/>")) == "<Picture: 6 characters of SVG>"


def test_several_sentences_are_stacked_and_none_is_a_picture_too() -> None:
    one = to_svg(SENTENCE, PARSE)
    assert to_picture([(SENTENCE, PARSE)]).svg == one
    assert to_picture(iter([(SENTENCE, PARSE)] * 2)).svg == stack_svgs([one, one])
    assert float(read(to_picture(iter(())).svg).attrib["width"]) > 0


def test_the_snippet_in_the_docs_draws_a_text() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "output.md").read_text(encoding="utf-8")
    (code,) = (part for part in docs.split("```") if "headwise.show(parser" in part)
    *lines, last = code.removeprefix("python\n").strip().splitlines()
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    root = read(eval(last, names).svg)
    titles = [title.text for title in root.findall(f"*/{SVG}title")]
    assert titles == ["Kids love candy.", "So do I."]
