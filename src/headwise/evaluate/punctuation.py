"""Punctuation rules: which words the scores leave out, by the gold sentence alone (Sec. 4).

The paper follows its predecessors: for English and Chinese, words are left out by their gold tag
(`ptb`), for Czech and German by the characters of the form, as in the CoNLL-X shared task
(`conllx`). The shared tasks on Universal Dependencies score every word (`none`); `ud` leaves out
the tag PUNCT.
"""

import unicodedata

from headwise.settings.choices import Punctuation
from headwise.treebank.sentence import Sentence, Word

PTB_TAGS = frozenset(["``", "''", ".", ",", ":", "PU"])
"""Quotes, full stops, commas and colons of the Penn Treebank, and PU of the Chinese one."""


def is_punctuation(sentence: Sentence, rule: Punctuation) -> tuple[bool, ...]:
    """Tell for each word of a gold sentence whether `rule` leaves it out.

    Example: under `conllx` the form `--` is punctuation, and `a.`, which has a letter, is not.
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
