import pytest

from headwise.errors import ModelError
from headwise.text.choose import (
    choose_model,
    guess_language,
    installed_languages,
    other_language,
)

ENGLISH = "The children love the sweets that their grandmother makes, and they eat them every day."
GERMAN = "Die Kinder lieben die Süßigkeiten ihrer Großmutter, und sie essen sie jeden Tag gerne."
SHORT_GERMAN = "Süßigkeiten für die Kinder!"
SHORTEST_GERMAN = "Großmutter!"
NYNORSK = "Borna elskar godteri, og dei leikar ute i hagen kvar einaste dag saman med hunden sin."
MODELS = {"de": "de", "en": "en", "en-accurate": "en"}


def test_the_model_of_the_language_is_chosen() -> None:
    assert choose_model(GERMAN, MODELS) == "de"
    assert choose_model(ENGLISH, MODELS) == "en"
    assert choose_model(ENGLISH, {"de": "de", "en-small": "en", "en-accurate": "en"}) == "en-small"


def test_a_clear_language_without_a_model_is_an_error_that_helps() -> None:
    with pytest.raises(ModelError, match="looks German") as error:
        choose_model(GERMAN, {"en": "en"})
    assert error.value.hint == "pip install ./models/de in a clone of headwise"
    with pytest.raises(ModelError, match="looks Norwegian Nynorsk") as error:
        choose_model(NYNORSK, {"en": "en"})
    assert "none in this release" in str(error.value.hint)


@pytest.mark.parametrize("text", ["", "99%", "OK", "Maria"])
def test_text_that_says_little_gets_the_likeliest_model(text: str) -> None:
    assert choose_model(text, MODELS) in MODELS


def test_a_few_letters_get_the_built_in_model_unless_they_are_clear() -> None:
    models = {"en": "en", "pt": "pt"}
    assert choose_model("So do I.", models) == "en"
    assert choose_model("I do.", models) == "en"
    assert choose_model("Não sei.", models) == "pt"
    assert choose_model("So do I.", {"de": "de", "pt": "pt"}) in ("de", "pt")


def test_only_clear_text_is_called_foreign() -> None:
    assert other_language(GERMAN, "en") == "de"
    assert other_language(GERMAN, "de") is None
    assert other_language(SHORT_GERMAN, "en") == "de"
    assert other_language(SHORTEST_GERMAN, "en") is None
    assert other_language("Angela Merkel, Köln", "en") is None
    assert other_language("Berlin, München, Köln " * 2, "en") is None
    assert other_language(GERMAN, "eu") is None  # it cannot tell how Basque the text is
    assert other_language(GERMAN, "") is None
    assert not guess_language(SHORTEST_GERMAN).is_clear


def test_every_model_with_a_name_has_a_language() -> None:
    assert installed_languages()["en"] == "en"
