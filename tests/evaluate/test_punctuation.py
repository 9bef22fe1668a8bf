"""Which words are left out, rule by rule."""

import pytest
from made_trees import tree

from headwise.evaluate.punctuation import is_punctuation
from headwise.settings.choices import Punctuation

FORMS = ". « 。 -- a. `` '' $ -LRB- _ … Mr. ¿? +"
UPOS = "PUNCT PUNCT PUNCT PUNCT X PUNCT PUNCT SYM PUNCT X PUNCT PROPN PUNCT SYM"
XPOS = ". `` PU : LS `` '' $ -LRB- , NFP NNP . SYM"


@pytest.mark.parametrize(
    ("rule", "left_out"),
    [
        ("none", ""),
        ("ptb", ". « 。 -- `` '' _ ¿?"),
        ("conllx", ". « 。 -- '' _ … ¿?"),
        ("ud", ". « 。 -- `` '' -LRB- … ¿?"),
    ],
)
def test_each_rule_leaves_out_its_words(rule: Punctuation, left_out: str) -> None:
    forms = FORMS.split()
    sentence = tree(*[(0, "root")] * len(forms), forms=FORMS, upos=UPOS, xpos=XPOS)
    flags = is_punctuation(sentence, rule)
    assert [form for form, flag in zip(forms, flags, strict=True) if flag] == left_out.split()


@pytest.mark.parametrize(
    ("tags", "is_left_out"),
    [("`` '' . , : PU", True), ("-LRB- -RRB- # $ HYPH NN PUNCT _", False)],
)
def test_ptb_goes_by_the_tags_of_the_paper(tags: str, is_left_out: bool) -> None:
    n_tags = len(tags.split())
    sentence = tree(*[(0, "root")] * n_tags, xpos=tags)
    assert is_punctuation(sentence, "ptb") == (is_left_out,) * n_tags


def test_conllx_keeps_symbols_and_mixed_forms() -> None:
    sentence = tree(*[(0, "root")] * 7, forms="` $ = a. .a -1- №")
    assert not any(is_punctuation(sentence, "conllx"))
