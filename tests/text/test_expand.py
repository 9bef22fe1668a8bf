"""Expansions: tokens seen in training, rules for others, and the case of both."""

import pytest

from headwise.text.expand import Expansions, match_case

RULES = Expansions(
    {"do": ("de", "o"), "O'Neill": ("O", "Neill")},
    {"ê-lo": ("er", "lo"), "-lo": ("", "lo"), "lo": ("", "lo")},
    {"nel": ("in", "l"), "ne": ("in", "")},
)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("do", "de o"),
        ("Do", "De o"),
        ("DO", "DE O"),
        ("O'Neill", "O Neill"),
        ("fazê-lo", "fazer lo"),
        ("Fazê-lo", "Fazer lo"),
        ("FAZÊ-LO", "FAZER LO"),
        ("vi-lo", "vi lo"),
        ("nella", "in lla"),
        ("Nella", "In lla"),
    ],
)
def test_expand(form: str, words: str) -> None:
    assert RULES.expand(form) == tuple(words.split())


@pytest.mark.parametrize("form", ["lo", "casa", "x", "İ-lo"])
def test_a_token_without_a_rule_does_not_expand(form: str) -> None:
    assert RULES.expand(form) is None


def test_a_single_capital_is_a_first_letter() -> None:
    assert match_case("À", ("a", "a")) == ("A", "a")
    assert match_case("à", ("a", "a")) == ("a", "a")
