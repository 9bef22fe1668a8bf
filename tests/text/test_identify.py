"""The classifier of languages: bounded, and right about languages that are easily confused."""

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwise.model.languages import language_codes
from headwise.text.identify import (
    IDENTIFIER_FILE,
    LONGEST,
    MOST_LETTERS,
    letters_of,
    load_identifier,
    ngram_rows,
)

SENTENCES = {
    "af": "Die kinders hou van lekkergoed en hulle speel elke dag in die tuin.",
    "cs": "Děti milují sladkosti a každý den si hrají na zahradě.",
    "da": "Børnene elsker slik, og de leger hver dag ude i haven med deres hund.",
    "de": "Die Kinder lieben Süßigkeiten und spielen jeden Tag im Garten.",
    "el": "Τα παιδιά αγαπούν τα γλυκά και παίζουν κάθε μέρα στον κήπο.",  # noqa: RUF001
    "en": "The children love sweets and play in the garden every day.",
    "es": "A los niños les encantan los dulces y juegan todos los días en el jardín.",
    "fi": "Lapset rakastavat karkkia ja leikkivät joka päivä puutarhassa.",
    "fr": "Les enfants aiment les bonbons et jouent tous les jours dans le jardin.",
    "it": "I bambini amano i dolci e giocano ogni giorno in giardino.",
    "ja": "子供たちはお菓子が大好きで、毎日庭で遊んでいます。",
    "ko": "아이들은 사탕을 좋아하고 매일 정원에서 놀아요.",
    "nl": "De kinderen houden van snoep en spelen elke dag in de tuin.",
    "pl": "Dzieci kochają słodycze i codziennie bawią się w ogrodzie.",
    "pt": "As crianças adoram doces e brincam todos os dias no jardim.",
    "ru": "Дети любят сладости и каждый день играют в саду.",
    "sk": "Deti milujú sladkosti a každý deň sa hrajú v záhrade.",
    "sv": "Barnen älskar godis och leker varje dag i trädgården.",
    "th": "เด็กๆ ชอบขนมและเล่นในสวนทุกวัน",
    "tr": "Çocuklar şekeri sever ve her gün bahçede oynarlar.",
    "uk": "Діти люблять солодощі й щодня граються в саду.",
    "vi": "Trẻ em thích kẹo và chơi trong vườn mỗi ngày.",
    "zh": "孩子们喜欢糖果，每天都在花园里玩。",  # noqa: RUF001
}  # fmt: skip


def test_sentences_that_it_never_saw_are_told_apart() -> None:
    identifier = load_identifier()
    guesses = {
        code: identifier.languages[int(identifier.log_probs(text).argmax())]
        for code, text in SENTENCES.items()
    }
    assert guesses == {code: code for code in SENTENCES}


def test_serbian_is_known_in_both_scripts() -> None:
    identifier = load_identifier()
    text = "Деца воле слаткише и сваки дан се играју у башти."  # noqa: RUF001
    assert identifier.languages[int(identifier.log_probs(text).argmax())] == "sr"


def test_case_and_what_is_no_letter_do_not_matter() -> None:
    identifier = load_identifier()
    plain = identifier.log_probs("les enfants aiment les bonbons")
    noisy = identifier.log_probs("  LES   enfants -- 'aiment' (les) 99 bonbons!\n")
    np.testing.assert_array_equal(plain, noisy)
    composed, apart = (identifier.log_probs(text) for text in ("caf\u00e9", "cafe\u0301"))
    np.testing.assert_array_equal(composed, apart)


@pytest.mark.parametrize("text", ["", " \n", "12:30 (!) 99%", "\ud800"])
def test_without_letters_nothing_is_known(text: str) -> None:
    log_probs = load_identifier().log_probs(text)
    assert np.ptp(log_probs) == 0
    assert np.exp(log_probs).sum() == pytest.approx(1, abs=1e-3)


def test_the_worked_example_has_ten_rows() -> None:
    assert letters_of("Où?") == " où "
    assert len(ngram_rows(" où ", 1_000)) == 10
    assert len(ngram_rows(" oùù ", 1_000)) == 5 + 4 + 3 + 2 + 1  # and the word


@given(st.text(max_size=300), st.integers(1, 10_000))
def test_any_text_gives_rows_in_bounds(text: str, n_rows: int) -> None:
    rows = ngram_rows(letters_of(text), n_rows)
    assert rows.dtype == np.int32
    assert all((rows >= 0) & (rows < n_rows))
    probabilities = np.exp(load_identifier().log_probs(text))
    assert probabilities.sum() == pytest.approx(1, abs=1e-3)


def test_time_and_memory_do_not_grow_with_the_text() -> None:
    identifier = load_identifier()
    long = "les enfants aiment " * 1_000_000
    assert len(letters_of(long)) <= MOST_LETTERS + 2
    assert len(ngram_rows(letters_of(long), 1_000)) <= (LONGEST + 1) * (MOST_LETTERS + 2)
    start = time.perf_counter()
    for _ in range(10):
        identifier.log_probs(long)
    assert (time.perf_counter() - start) / 10 < 0.05


def test_it_is_small_and_knows_every_language_that_can_be_trained() -> None:
    assert Path(IDENTIFIER_FILE).stat().st_size < 1_500_000
    assert set(load_identifier().languages) <= set(language_codes())
    assert len(load_identifier().languages) >= 76
