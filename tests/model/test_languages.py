import re
from pathlib import Path

import pytest

from headwise.model.languages import (
    language_code,
    language_codes,
    language_name,
    model_name,
    similar_names,
)


@pytest.mark.parametrize("name", ["fr", "fra", "fre", "French", "FRENCH", "french"])
def test_a_language_has_codes_and_a_name(name: str) -> None:
    assert language_code(name) == "fr"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Norwegian Bokmål", "nb"),
        ("norwegian_bokmal", "nb"),
        ("Scottish-Gaelic", "gd"),
        ("se", "sme"),
        ("Klingon", None),
        ("", None),
        ("x" * 10_000, None),
    ],
)
def test_case_accents_and_hyphens_do_not_matter(name: str, code: str | None) -> None:
    assert language_code(name) == code


def test_no_alias_stands_for_two_languages() -> None:
    codes = language_codes()
    assert len(codes) == len(set(codes)) > 75
    assert [language_code(code) for code in codes] == codes
    assert [language_code(language_name(code)) for code in codes] == codes
    assert language_name("tlh") == "tlh"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("english-accurate", "en-accurate"),
        ("deu", "de"),
        ("de-DE", "de"),
        ("pt_BR", "pt"),
        ("en-gb", "en-gb"),
        ("Classical Chinese", "lzh"),
        ("norwegian-nynorsk-speech", "nn-speech"),
        ("runs/fr", None),
        ("./en", None),
    ],
)
def test_the_language_in_front_of_a_model_becomes_its_code(name: str, expected: str | None) -> None:
    assert model_name(name) == expected


def test_mistyped_names_get_suggestions() -> None:
    assert similar_names("frnech", []) == ["fr"]
    assert similar_names("en-acurate", ["en-accurate"]) == ["en-accurate"]
    assert similar_names("foo", ["de"]) == []


def test_every_trainable_language_of_the_index_is_known() -> None:
    index = Path(__file__).parents[2] / "src/headwise/models/index.json"
    for code in re.findall(r'"language": "([a-z]*)"', index.read_text()):
        assert code in language_codes()
