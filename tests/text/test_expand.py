"""Expansions: tokens that were seen, rules for others, and the case of both."""

import pytest

from headwise.text.expand import Expansions, in_case_of

RULES = Expansions(
    {"do": ("de", "o"), "O'Neill": ("O", "Neill")},
    {"ê-lo": ("er", "lo"), "-lo": ("", "lo"), "lo": ("", "lo")},
    {"nel": ("in", "l"), "ne": ("in", "")},
)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("do", ("de", "o")),
        ("Do", ("De", "o")),
        ("DO", ("DE", "O")),
        ("O'Neill", ("O", "Neill")),
        ("fazê-lo", ("fazer", "lo")),
        ("Fazê-lo", ("Fazer", "lo")),
        ("FAZÊ-LO", ("FAZER", "LO")),
        ("vi-lo", ("vi", "lo")),
        ("nella", ("in", "lla")),
        ("Nella", ("In", "lla")),
        ("lo", None),
        ("casa", None),
        ("x", None),
        ("İ-lo", None),
    ],
)
def test_expand(form: str, words: tuple[str, ...] | None) -> None:
    assert RULES.expand(form) == words


def test_capital_of_one_letter_is_a_first_letter() -> None:
    assert in_case_of("À", ("a", "a")) == ("A", "a")
    assert in_case_of("à", ("a", "a")) == ("a", "a")
