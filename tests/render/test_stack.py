from xml.etree import ElementTree

from headwise import sentence_from_words
from headwise.render import to_svg
from headwise.render.stack import GAP, stack

ONE = to_svg(sentence_from_words([("Kids", "0", "root")], ["form", "head", "deprel"]))
TWO = to_svg(
    sentence_from_words([("love", "0", "root"), ("candy", "1", "obj")], ["form", "head", "deprel"])
)


def test_a_single_picture_stays_as_it_is() -> None:
    assert stack([ONE]) == ONE


def test_pictures_stand_below_each_other_and_do_not_overlap() -> None:
    outer = ElementTree.fromstring(stack([ONE, TWO, ONE]))
    ground, *pictures = outer
    heights = [float(picture.attrib["height"]) for picture in pictures]
    tops = [float(picture.attrib["y"]) for picture in pictures]
    assert tops == [0, heights[0] + GAP, heights[0] + heights[1] + 2 * GAP]
    assert float(outer.attrib["height"]) == sum(heights) + 2 * GAP
    assert float(outer.attrib["width"]) == max(float(p.attrib["width"]) for p in pictures)
    assert ground.attrib["class"] == "ground"


def test_a_word_that_looks_like_a_size_moves_nothing() -> None:
    odd = to_svg(
        sentence_from_words([('width="9" height="9"', "0", "root")], ["form", "head", "deprel"])
    )
    outer = ElementTree.fromstring(stack([odd, ONE]))
    assert float(outer[2].attrib["y"]) == float(outer[1].attrib["height"]) + GAP
