"""Which words are left out of the scores, decided on the gold sentence alone (Sec. 4).

The paper follows its predecessors: English and Chinese leave out words by their gold tag (`ptb`),
Czech and German by the characters of the form, the rule of the CoNLL-X shared task (`conllx`). The
shared tasks on Universal Dependencies score every word (`none`); `ud` leaves out the tag PUNCT.
"""

import unicodedata

from headwise.settings.choices import Punctuation
from headwise.treebank.sentence import Sentence, Word

PTB_TAGS = frozenset(["``", "''", ".", ",", ":", "PU"])
"""Quotes, full stops, commas and colons of the Penn Treebank, and PU of the Chinese one."""


def is_punctuation(sentence: Sentence, rule: Punctuation) -> tuple[bool, ...]:
    """Tell for each word of a gold sentence whether `rule` leaves it out.

    Example: the form `--` is punctuation under `conllx`, and `a.` is not, for it has a letter.
    """
    return tuple(_is_left_out(word, rule) for word in sentence.words)


def _is_left_out(word: Word, rule: Punctuation) -> bool:
    match rule:
        case "none":
            return False
        case "ptb":
            return word.xpos in PTB_TAGS
        case "conllx":
            return all(unicodedata.category(character)[0] == "P" for character in word.form)
        case "ud":
            return word.upos == "PUNCT"
