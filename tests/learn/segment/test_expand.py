"""Expansions are learned as seen, and carry over to similar tokens."""

from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.learn.segment.data import GoldSentence, GoldToken
from headwise.learn.segment.expand import learn_expansions

FIXED = settings(max_examples=200, deadline=None, derandomize=True, database=None)
LETTERS = st.text(st.sampled_from("abcAB-"), min_size=1, max_size=5)
PAIRS = st.lists(st.tuples(LETTERS, st.tuples(LETTERS, LETTERS)), min_size=1, max_size=8)


def sentence(*pairs: tuple[str, tuple[str, ...]]) -> GoldSentence:
    return GoldSentence(tuple(GoldToken(form, words, True) for form, words in pairs), False)


def test_most_frequent_expansion_wins_whatever_its_case() -> None:
    rules = learn_expansions(
        [sentence(("no", ("em", "o")), ("No", ("Em", "o")), ("no", ("n", "ao")))]
    )
    assert rules.expand("no") == ("em", "o")
    assert rules.expand("NO") == ("EM", "O")


def test_case_that_no_rule_gives_is_kept() -> None:
    rules = learn_expansions([sentence(("d'Arc", ("de", "Arc")))])
    assert rules.expand("d'Arc") == ("de", "Arc")


def test_capitals_are_measured_against_the_words_of_the_small_form() -> None:
    rules = learn_expansions([sentence(("B", ("A", "a")), ("b", ("A", "A")))])
    assert rules.expand("B") == ("A", "a")
    assert rules.expand("b") == ("A", "A")


def test_rules_carry_over_to_unseen_tokens() -> None:
    rules = learn_expansions([sentence(("fazê-lo", ("fazer", "lo")), ("dizê-lo", ("dizer", "lo")))])
    assert rules.expand("vê-lo") == ("ver", "lo")
    italian = learn_expansions([sentence(("dell'arte", ("di", "l'arte")))])
    assert italian.expand("dell'amico") == ("di", "l'amico")


def test_plain_tokens_and_split_ones_teach_nothing() -> None:
    rules = learn_expansions([sentence(("a", ("a",)), ("don't", ("do", "n't")))])
    assert (rules.whole, rules.endings, rules.beginnings) == ({}, {}, {})


@FIXED
@given(PAIRS)
def test_what_was_seen_once_comes_out_again(pairs: list[tuple[str, tuple[str, ...]]]) -> None:
    first = {form: words for form, words in reversed(pairs) if "".join(words) != form}
    rules = learn_expansions([sentence(*first.items())])
    assert {form: rules.expand(form) for form in first} == first
    for words in (rules.expand(form + "x") for form in first):
        assert words is None or all(words)
