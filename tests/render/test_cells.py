"""Text on a terminal: what is shown, how wide it is, and that nothing else gets out."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwise.render.cells import clip, is_right_to_left, isolate, text_width, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("\x1b[31mred", "␛[31mred"),
        ("\x00\x07\x7f", "␀␇␡"),
        ("a\x9b31m", "a\ufffd31m"),
        ("\u202eabc\u2069", "\ufffdabc\ufffd"),
        ("a\u2028b\ud800\uffff", "a\ufffdb\ufffd\ufffd"),
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),
        ("\u0301x", "◌\u0301x"),
        ("\u06dd", "\u06dd"),
        ("co\u00adop", "co\ufffdop"),
        ("", ""),
    ],
)
def test_characters_that_act_are_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_nothing_visible_acts(text: str) -> None:
    shown = visible(text)
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cs", "Zl", "Zp"}
    assert not {unicodedata.bidirectional(c) for c in shown} & {
        "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI",
    }  # fmt: skip
    shown.encode()


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("abc", 3),
        ("今日", 4),
        ("\uff46", 2),
        ("e\u0301", 1),
        ("한국", 4),
        ("각", 2),
        ("مرحبا", 5),
        ("🙂", 2),
        ("👨\u200d👩\u200d👧\u200d👦", 2),
        ("👍🏽", 2),
        ("🇩🇪", 2),
        ("❤\ufe0f", 2),
        ("\u0647\u200d\u0645", 2),
    ],
)
def test_width_of_text(text: str, width: int) -> None:
    assert text_width(text) == width
    assert text_width(unicodedata.normalize("NFD", text)) == width
    assert text_width(isolate(text)) == width


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("今日は", 5, "今日…"),
        ("今日は", 4, "今…"),
        ("e\u0301" * 3, 2, "e\u0301…"),
        ("ab\u200dcd", 3, "ab…"),
        ("👨\u200d👩\u200d👧👍", 3, "👨\u200d👩\u200d👧…"),
        ("ab", 0, ""),
    ],
)
def test_clip(text: str, width: int, short: str) -> None:
    assert clip(text, width) == short


@given(st.text(), st.integers(1, 20))
def test_clip_text_fits_and_is_bounded(text: str, width: int) -> None:
    short = clip(visible(text), width)
    assert text_width(short) <= width
    assert len(short) <= 6 * width + 1


def test_right_to_left_text_is_isolated_and_other_text_is_not() -> None:
    assert isolate("abc é 今日") == "abc é 今日"
    assert isolate("a مرحبا") == "\u2068a مرحبا\u2069"


@pytest.mark.parametrize(
    ("text", "expected"), [("1. שלום a", True), ("a שלום", False), ("123 ...", False), ("", False)]
)
def test_direction_is_that_of_the_first_strong_character(text: str, expected: bool) -> None:
    assert is_right_to_left(text) is expected
