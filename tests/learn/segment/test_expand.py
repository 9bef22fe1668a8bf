"""Expansions are learned as seen, and carry over to similar tokens."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.learn.segment.data import GoldSentence, GoldToken
from headwise.learn.segment.expand import learn_expansions

FIXED = settings(max_examples=200, deadline=None, derandomize=True, database=None)
LETTERS = st.text(st.sampled_from("abcAB-"), min_size=1, max_size=5)
PAIRS = st.lists(st.tuples(LETTERS, st.tuples(LETTERS, LETTERS)), min_size=1, max_size=8)


Pair = tuple[str, tuple[str, ...]]


def sentence(*pairs: Pair) -> GoldSentence:
    return GoldSentence(tuple(GoldToken(form, words, True) for form, words in pairs), False)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        # The most frequent expansion wins, whatever its case.
        (
            [("no", ("em", "o")), ("No", ("Em", "o")), ("no", ("n", "ao"))],
            {"no": ("em", "o"), "NO": ("EM", "O")},
        ),
        # Case that no rule gives is kept.
        ([("d'Arc", ("de", "Arc"))], {"d'Arc": ("de", "Arc")}),
        # Capitals are measured against the words of the small form.
        ([("B", ("A", "a")), ("b", ("A", "A"))], {"B": ("A", "a"), "b": ("A", "A")}),
        # Rules carry over to unseen tokens.
        ([("fazê-lo", ("fazer", "lo")), ("dizê-lo", ("dizer", "lo"))], {"vê-lo": ("ver", "lo")}),
        ([("dell'arte", ("di", "l'arte"))], {"dell'amico": ("di", "l'amico")}),
    ],
)
def test_expansions_are_learned(seen: list[Pair], expected: dict[str, tuple[str, ...]]) -> None:
    rules = learn_expansions([sentence(*seen)])
    assert {form: rules.expand(form) for form in expected} == expected


def test_plain_tokens_and_split_ones_teach_nothing() -> None:
    rules = learn_expansions([sentence(("a", ("a",)), ("don't", ("do", "n't")))])
    assert (rules.whole, rules.endings, rules.beginnings) == ({}, {}, {})


@FIXED
@given(PAIRS)
def test_what_was_seen_once_comes_out_again(pairs: list[Pair]) -> None:
    first = {form: words for form, words in reversed(pairs) if "".join(words) != form}
    rules = learn_expansions([sentence(*first.items())])
    assert {form: rules.expand(form) for form in first} == first
    for words in (rules.expand(form + "x") for form in first):
        assert words is None or all(words)
