from pathlib import Path

import pytest
from msgspec.structs import replace

from headwise.errors import ConfigError, ModelError
from headwise.model.find import MODELS_FOLDER
from headwise.runtime.parser import Parser
from headwise.serve.models import LanguageHint, ModelLanguage, Models, load_models, with_settings
from headwise.serve.requests import Refusal


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (None, "en"),
        ("", "en"),
        ("en", "en"),
        ("english", "en"),
        ("eng", "en"),
        ("English-EWT-ud-2.15-241121", "en"),
        ("words-only", "words-only"),
        ("words", "words-only"),
    ],
)
def test_a_model_is_found_as_udpipe_finds_it(models: Models, asked: str, found: str) -> None:
    assert models.choose(asked) == found


@pytest.mark.parametrize("asked", ["german", "word", "e", "../en", "-", "x" * 10_000])
def test_an_unknown_model_is_refused(models: Models, asked: str) -> None:
    with pytest.raises(Refusal, match="no model") as refusal:
        models.choose(asked)
    assert refusal.value.status == 404
    assert refusal.value.hint == "one of en, words-only"
    assert len(refusal.value.what) < 100


def test_settings_change_the_trees_and_share_the_network(parser: Parser) -> None:
    small = parser.with_settings(replace(parser.settings, memory_budget=2**26, look_ahead=1))
    changed = with_settings(small, "eisner", ("upos",))
    assert changed.scorer is parser.scorer
    decode = replace(parser.settings.decode, decoder="eisner")
    assert changed.settings == replace(small.settings, decode=decode, keep=("upos",))
    assert with_settings(parser, None, ()).settings == parser.settings


def test_names_of_models(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model").symlink_to(MODELS_FOLDER / "en")
    loaded = load_models(["en", f"mine={MODELS_FOLDER / 'en'}"])
    assert list(loaded.parsers) == ["en", "mine"]
    assert loaded.named_languages() == dict.fromkeys(["en", "mine"], ModelLanguage("en", "English"))
    with pytest.raises(ConfigError, match="already"):
        load_models(["en", "en"])
    with pytest.raises(ConfigError, match="cannot be the name"):
        load_models([f"a b={MODELS_FOLDER / 'en'}"])
    with pytest.raises(ModelError):
        load_models(["nowhere"])


GERMAN = "Die Kinder lieben die Süßigkeiten ihrer Großmutter, und sie essen sie jeden Tag gerne."
ENGLISH = "The children love the sweets that their grandmother makes, and they eat them every day."


def test_auto_is_the_model_of_the_language_of_the_text(parser: Parser) -> None:
    both = Models({"en": parser, "deutsch": parser}, {"en": "en", "deutsch": "de"})
    assert both.choose("auto", GERMAN) == "deutsch"
    assert both.choose("auto", ENGLISH) == "en"
    assert both.choose("auto", "") == "en"
    assert both.hint_at_language("en", GERMAN) == LanguageHint("de", "German", "deutsch")
    assert both.hint_at_language("deutsch", GERMAN) is None
    one = Models({"mine": parser}, {"mine": "en"})
    assert one.choose("auto", "99%") == "mine"
    assert one.hint_at_language("mine", GERMAN) == LanguageHint("de", "German", None)
    with pytest.raises(Refusal, match="looks German") as refusal:
        one.choose("auto", GERMAN)
    assert (refusal.value.status, refusal.value.hint) == (404, "one of mine")
    assert Models({"mine": parser}).hint_at_language("mine", GERMAN) is None


def test_loaded_models_have_their_languages() -> None:
    assert load_models([f"mine={MODELS_FOLDER / 'en'}"]).languages == {"mine": "en"}
