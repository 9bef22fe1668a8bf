"""A rule turns its form into its lemma, whatever both are, and other forms like it."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwise.treebank.sentence import Word, sentence_from_words
from headwise.vocabulary.lemma_rules import apply_rule, is_rule, make_rule, rule_of

# Letters whose case is odd: some become two in the other case, some come back as another one.
ODD = (
    "aAbBz\u00df\u1e9e\u0130i\u0131I\u03a3\u03c3\u03c2\u017f"
    "Kk\u00c5\u00e5\u01c5\u01c6\u0149\ufb01\u00b5\u039c\u03bc'-|!+=_ \u0345"
)
STRINGS = st.text(st.one_of(st.sampled_from(ODD), st.characters(codec="utf-8")), min_size=1)


@settings(derandomize=True, database=None, max_examples=500)
@given(STRINGS, STRINGS)
@example("ΟΔΟΣ", "οδός")
@example("ΟΔΟΣ", "οδος")
@example("İstanbul", "istanbul")
@example("İSTANBUL", "İstanbul")
@example("STRASSE", "Straße")
@example("ß", "SS")
@example("ẞ", "ß")
@example("ǅ", "Ǆ")
@example("a|b", "a|c")
@example("!", "!")
@example("x" * 101, "x" * 101)
@example("x" * 101, "y" * 200)
def test_a_rule_turns_its_form_into_its_lemma(form: str, lemma: str) -> None:
    rule = make_rule(form, lemma)
    assert apply_rule(form, rule) == lemma
    assert is_rule(rule) == {"\t", "\n", "\r"}.isdisjoint(rule)


@settings(derandomize=True, database=None, max_examples=300)
@given(STRINGS, st.text("=-+ab|", max_size=6), st.sampled_from(["lower", "keep", "title", "upper"]))
def test_any_rule_that_is_one_applies_to_any_form(form: str, scripts: str, case: str) -> None:
    rule = f"{case}|{scripts}"
    if is_rule(rule):
        assert apply_rule(form, rule) != ""


@pytest.mark.parametrize(
    ("form", "lemma", "rule"),
    [
        ("Parties", "party", "lower||---+y"),
        ("parties", "party", "lower||---+y"),
        ("Paris", "Paris", "keep||"),
        ("paris", "Paris", "title||"),
        ("PARIS", "Paris", "title||"),
        ("nato", "NATO", "upper||"),
        ("is", "be", "!be"),
        ("gegangen", "gehen", "lower||----+h=="),
        ("ungefragt", "fragen", "lower|----|-+e+n"),
    ],
)
def test_rules_are_as_short_as_can_be(form: str, lemma: str, rule: str) -> None:
    assert make_rule(form, lemma) == rule


@pytest.mark.parametrize(
    ("form", "rule", "lemma"),
    [
        ("cities", "lower||---+y", "city"),
        ("Cities", "keep||---+y", "City"),
        ("is", "lower||---+y", None),  # too short
        ("ies", "lower||---", None),  # nothing is left
        ("ies", "lower||---+y", "y"),
        ("anything", "!be", "be"),
        ("ungesagt", "lower|--|-+e+n", "gesagen"),
        ("NATO", "title||", "Nato"),
    ],
)
def test_a_rule_applies_to_forms_that_are_long_enough(
    form: str, rule: str, lemma: str | None
) -> None:
    assert apply_rule(form, rule) == lemma


@pytest.mark.parametrize(
    "rule",
    ["", "!", "lower", "lower|", "lower|||", "Lower||", "other||", "lower||+", "lower|+|", "||",
     "!" + "x" * 1_000, "keep||" + "+a" * 500,
     "lower||x", "lower|=-+|", "lower||=\t", "!a\tb", "!a\n", "keep||+\r", "lower||+|"],
)  # fmt: skip
def test_what_cannot_be_applied_or_written_is_no_rule(rule: str) -> None:
    assert not is_rule(rule)


@pytest.mark.parametrize("rule", ["lower||", "keep|=|-", "title|+a|+b=", "upper|++|+-", "!x", "!!"])
def test_rules_are_told_from_other_strings(rule: str) -> None:
    assert is_rule(rule)


def word(form: str, lemma: str, feats: str = "_") -> Word:
    return sentence_from_words([(form, lemma, feats)], ["form", "lemma", "feats"]).words[0]


def test_words_teach_rules_unless_they_are_typos_or_have_no_lemma() -> None:
    assert rule_of(word("Cats", "cat")) == "lower||-"
    assert rule_of(word("Cats", "cat", "Number=Plur")) == "lower||-"
    assert rule_of(word("teh", "the", "Typo=Yes")) is None
    assert rule_of(word("teh", "the", "Definite=Def|Typo=Yes")) is None
    assert rule_of(word("teh", "the", "NotTypo=Yes")) is not None
    assert rule_of(word("Cats", "_")) is None
    assert rule_of(word("_", "_")) == "lower||"
    assert rule_of(word("Cats", "c" * 999)) == "!" + "c" * 999
    assert rule_of(word("Cats", "c" * 1_000)) is None
