"""Which words are left out, rule by rule."""

import pytest
from made_trees import tree

from headwise.evaluate.punctuation import is_punctuation
from headwise.settings.choices import Punctuation

FORMS = ". « 。 -- a. `` '' $ -LRB- _ … Mr. ¿? +"
UPOS = "PUNCT PUNCT PUNCT PUNCT X PUNCT PUNCT SYM PUNCT X PUNCT PROPN PUNCT SYM"
XPOS = ". `` PU : LS `` '' $ -LRB- , NFP NNP . SYM"


def left_out(rule: Punctuation) -> list[str]:
    forms = FORMS.split()
    sentence = tree(*[(0, "root")] * len(forms), forms=FORMS, upos=UPOS, xpos=XPOS)
    flags = is_punctuation(sentence, rule)
    return [form for form, flag in zip(forms, flags, strict=True) if flag]


def test_none_leaves_nothing_out() -> None:
    assert left_out("none") == []


def test_ptb_goes_by_the_gold_xpos() -> None:
    assert left_out("ptb") == [".", "«", "。", "--", "``", "''", "_", "¿?"]


def test_conllx_goes_by_the_unicode_category_of_every_character() -> None:
    assert left_out("conllx") == [".", "«", "。", "--", "''", "_", "…", "¿?"]


def test_ud_goes_by_the_gold_upos() -> None:
    assert left_out("ud") == [".", "«", "。", "--", "``", "''", "-LRB-", "…", "¿?"]


@pytest.mark.parametrize("tag", ["``", "''", ".", ",", ":", "PU"])
def test_ptb_knows_each_tag_of_the_paper(tag: str) -> None:
    assert is_punctuation(tree((0, "root"), xpos=tag), "ptb") == (True,)


@pytest.mark.parametrize("tag", ["-LRB-", "-RRB-", "#", "$", "HYPH", "NN", "PUNCT", "_"])
def test_ptb_keeps_every_other_tag(tag: str) -> None:
    assert is_punctuation(tree((0, "root"), xpos=tag), "ptb") == (False,)


@pytest.mark.parametrize("form", ["`", "$", "=", "a.", ".a", "-1-", "№"])
def test_conllx_keeps_symbols_and_mixed_forms(form: str) -> None:
    assert is_punctuation(tree((0, "root"), forms=form), "conllx") == (False,)
