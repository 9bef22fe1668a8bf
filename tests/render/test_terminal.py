"""Trees as text: pictures to look at, then what holds for all of them."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from render.made_sentences import (
    HEARING,
    KIDS,
    LABELS,
    SHORT_VALUES,
    WILD_VALUES,
    head_lists,
    parse_of,
    parsed_sentences,
    sentence,
)

from headwise import Parse, Sentence, sentence_from_words
from headwise.render.cells import text_width, visible
from headwise.render.terminal import build_forest, draw, place_bars
from headwise.trees.tree import is_projective

SALAM = "\u0633\u0644\u0627\u0645"
ENCODINGS = ["ascii", "utf-8", "latin-1", "cp1256", "shift_jis", "cp437"]
STYLE = re.compile(r"\x1b\[(2|33|0)m")


def test_three_words_of_a_repaired_tree() -> None:
    made = sentence(KIDS)
    picture = draw(made, parse_of(made, [0.98, 1.0, 0.42], "eisner"), width=80, colour=False)
    assert picture.split("\n") == [
        " ╭──► Kids   NOUN  nsubj  ← love   98%",
        "─┼──► love   VERB  root            99%",
        " ╰──► candy  NOUN  obj    ← love   42% ?",
        "repaired by eisner",
    ]


def test_gold_trees_have_no_probabilities_and_crossed_bars_are_drawn_through() -> None:
    boxes = [
        "   ╭────► A          DET   det         ← hearing",
        " ╭─┼────► hearing    NOUN  nsubj:pass  ← scheduled",
        " ├─│────► is         AUX   aux:pass    ← scheduled",
        "─┼─│────► scheduled  VERB  root",
        " │ │ ╭──► on         ADP   case        ← issue",
        " │ │ ├──► the        DET   det         ← issue",
        " │ ╰─┴──► issue      NOUN  nmod        ← hearing",
        " ╰──────► today      NOUN  obl         ← scheduled",
    ]
    assert draw(sentence(HEARING), width=80, colour=False).split("\n") == boxes
    ascii_only = [line.translate(str.maketrans("─│╭╰├┼┴►←", "-|,`+++><")) for line in boxes]
    picture = draw(sentence(HEARING), width=80, colour=False, encoding="latin-1")
    assert picture.split("\n") == ascii_only


def full_sentence() -> Sentence:
    rows = [
        ("Kids", "kid", "NOUN", "Number=Plur", "2", "nsubj"),
        (
            "love",
            "love",
            "VERB",
            "Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin",
            "0",
            "root",
        ),
        ("candy", "_", "NOUN", "_", "2", "obj"),
    ]
    return sentence_from_words(rows, ["form", "lemma", "upos", "feats", "head", "deprel"])


def test_the_columns_that_are_asked_for() -> None:
    made = full_sentence()
    assert draw(made, width=200, colour=False, columns=("lemma", "feats")).split("\n") == [
        " ╭──► Kids   kid   Number=Plur" + " " * 44 + "nsubj  ← love",
        "─┼──► love   love  Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin  root",
        " ╰──► candy  _     _" + " " * 54 + "obj    ← love",
    ]
    assert draw(made, width=200, colour=False, columns=()).split("\n")[1] == "─┼──► love   root"
    narrow = draw(made, width=60, colour=False, columns=("feats", "lemma")).split("\n")
    assert narrow[1] == "─┼──► love   Mood=Ind|Number=Plur|Person=3…  love  root"
    narrow = draw(made, width=40, colour=False, columns=("feats", "lemma")).split("\n")
    assert narrow[1] == "─┼──► love   Mood=Ind|Nu…  love  root"
    coloured = draw(made, width=200, colour=True, columns=("lemma", "feats"))
    assert "\x1b[2mkid\x1b[0m" in coloured
    assert "\x1b[2mNumber=Plur\x1b[0m" in coloured


def test_long_values_are_whole_where_there_is_room() -> None:
    feats = "|".join(f"Feature{letter}=Value" for letter in "ABCDEFG")
    made = sentence_from_words([("Kids", feats, "0", "root")], ["form", "feats", "head", "deprel"])
    assert draw(made, width=200, colour=False, columns=("feats",)) == f"──► Kids  {feats}  root"
    assert "…  root" in draw(made, width=100, colour=False, columns=("feats",))


def test_a_narrow_terminal_gets_less_beside_the_tree() -> None:
    assert draw(sentence(HEARING), width=30, colour=False).split("\n") == [
        "  ╭──► A          det",
        " ╭┼──► hearing    nsubj:pass",
        " ├│──► is         aux:pass",
        "─┼│──► scheduled  root",
        " ││╭─► on         case",
        " ││├─► the        det",
        " │╰┴─► issue      nmod",
        " ╰───► today      obl",
    ]


def test_a_tree_too_deep_becomes_a_table() -> None:
    chain = " ".join(f"w{i}/X/{i - 1}/dep" for i in range(1, 61))
    picture = draw(sentence(chain), width=40, colour=False).split("\n")
    assert picture[0] == " 1 w1   X  dep  ← 0"
    assert picture[59] == "60 w60  X  dep  ← 59 w59"


def test_one_word_and_none() -> None:
    assert draw(sentence("Go/VERB/0/root"), width=80, colour=False) == "──► Go  VERB  root"
    assert draw(sentence_from_words([], []), width=80, colour=False) == ""


def test_several_roots_a_circle_and_a_missing_head() -> None:
    made = sentence("a/X/2/x b/X/3/x c/X/1/x d/X/1/x e/X/0/root f/X/_/_ g/X/0/root")
    assert draw(made, width=80, colour=False).split("\n") == [
        "?┬────► a  X  x     ← b",
        " │ ╭──► b  X  x     ← c",
        " ├─┴──► c  X  x     ← a",
        " ╰────► d  X  x     ← a",
        "──────► e  X  root",
        "?─────► f  X  _",
        "──────► g  X  root",
    ]


def test_wide_right_to_left_and_long_words_keep_the_columns() -> None:
    words = ["今日", "e\u0301", SALAM, "\x1b[31m", "x" * 500]
    made = sentence_from_words(
        [(w, "X", "1", "dep") for w in words], ("form", "upos", "head", "deprel")
    )
    picture = draw(made, width=100, colour=False)
    assert {text_width(line[: line.rindex("X  dep")]) for line in picture.split("\n")} == {38}
    assert "␛[31m" in picture
    assert f"\u2068{SALAM}\u2069" in picture
    assert "x" * 29 + "…" in picture


def test_colours_dim_what_is_sure_and_raise_what_is_not() -> None:
    made = sentence("a/X/2/dep b/Y/0/root")
    picture = draw(made, parse_of(made, [0.42, 0.9]), width=80, colour=True)
    assert picture == (
        " ╭\x1b[33m──► \x1b[0ma  \x1b[2mX\x1b[0m  \x1b[33mdep\x1b[0m   \x1b[2m← b\x1b[0m  "
        "\x1b[33m 42% ?\x1b[0m\n"
        "─┴──► b  \x1b[2mY\x1b[0m  root       \x1b[2m 90%\x1b[0m"
    )


@given(parsed_sentences(WILD_VALUES), st.integers(0, 200), st.sampled_from(ENCODINGS))
def test_any_tree_fits_its_width_and_only_our_own_controls_get_out(
    drawn: tuple[Sentence, Parse], width: int, encoding: str
) -> None:
    draw(*drawn, width=width, colour=True, encoding=encoding).encode(encoding)
    plain = draw(*drawn, width=width, colour=False)
    assert STYLE.sub("", draw(*drawn, width=width, colour=True)) == plain
    text = re.sub("[\n\u2068\u2069]", "", plain)
    assert visible(text) == text
    if width >= 50:
        assert max(map(text_width, plain.split("\n"))) <= width


@given(head_lists(), st.data())
def test_the_tree_can_be_read_back_from_the_drawing(heads: list[int], data: st.DataObject) -> None:
    rows = [(data.draw(SHORT_VALUES), "X", str(h), data.draw(LABELS)) for h in heads]
    made = sentence_from_words(rows, ("form", "upos", "head", "deprel"))
    lines = draw(made, width=500, colour=False).split("\n") if heads else []
    for position, (line, head, row) in enumerate(zip(lines, heads, rows, strict=True), 1):
        assert visible(row[0]) in line
        assert f"X  {row[3]}" in line
        own = head_in_drawing(lines, position)
        assert own == head or (line.startswith("?") and own is None), (position, head)


def head_in_drawing(lines: list[str], position: int) -> int | None:
    """Follow the line of a word to the left, then its bar up and down to the word it stands on."""
    line = lines[position - 1]
    margin = line[: line.index("►")]
    starts = [cell for cell in range(1, len(margin), 2) if margin[cell] in "╭╰├"]
    if not starts:
        return None if margin.startswith("?") else 0
    cell = starts[-1]
    for step, ends in ((-1, "╭"), (1, "╰")):
        row = position - 1
        while lines[row][cell] not in ends:
            row += step
            if not 0 <= row < len(lines) or lines[row][cell] not in "│├╭╰┼┴┬":
                break
            if lines[row][cell] in "┼┴┬":
                return row + 1
    pytest.fail(f"no head for word {position}")


def test_forest_keeps_trees_and_cuts_each_cycle_once() -> None:
    trees = build_forest([2, 3, 1, 3, 0, None, 7])
    assert trees.roots == (1, 5, 6, 7)
    assert trees.children[1:] == ((3,), (), (2, 4), (), (), (), ())
    assert build_forest([2, 3, 2]).roots == (2,)


@given(head_lists())
def test_forest_reaches_every_word_once(heads: list[int]) -> None:
    trees = build_forest(heads)
    reached = [*trees.roots, *(child for below in trees.children for child in below)]
    assert sorted(reached) == list(range(1, len(heads) + 1))


def test_bars_of_a_small_tree() -> None:
    bars = place_bars(build_forest([2, 0, 4, 2]), limit=10)
    assert bars is not None
    assert {p: (b.column, b.top, b.bottom) for p, b in bars.items()} == {2: (0, 1, 4), 4: (1, 3, 4)}


def test_too_many_columns_are_refused() -> None:
    chain = build_forest([0, 1, 2, 3, 4])
    assert place_bars(chain, limit=3) is None
    assert place_bars(chain, limit=4) is not None


@given(head_lists())
def test_bars_do_not_overlap_and_stand_right_of_their_head(heads: list[int]) -> None:
    trees = build_forest(heads)
    bars = place_bars(trees, limit=100)
    assert bars is not None
    assert set(bars) == {p for p, below in enumerate(trees.children) if below}
    cells = [(bar.column, row) for bar in bars.values() for row in range(bar.top, bar.bottom + 1)]
    assert len(cells) == len(set(cells))
    for head, bar in bars.items():
        for child in trees.children[head]:
            assert child not in bars or bars[child].column > bar.column


@given(head_lists())
def test_projective_trees_need_no_more_columns_than_they_are_deep(heads: list[int]) -> None:
    trees = build_forest(heads)
    if heads.count(0) != 1 or trees.roots != (heads.index(0) + 1,):
        return
    if not is_projective(np.array([0, *heads], dtype=np.int32)):
        return
    bars = place_bars(trees, limit=100)
    assert bars is not None
    for head, bar in bars.items():
        depth, above = 0, heads[head - 1]
        while above:
            depth, above = depth + 1, heads[above - 1]
        assert bar.column == depth
