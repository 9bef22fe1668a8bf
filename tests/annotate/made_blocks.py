"""Sentences of a file, as a page would change them."""

from headwise.treebank.sentence import BLANK, Sentence, sentence_from_words


def make_block(*forms: str, comments: tuple[str, ...] = ()) -> str:
    return sentence_from_words([(form,) for form in forms], ["form"], comments).conllu


def fix(sentence: Sentence, heads: dict[int, int], mark: str = "Fixed=Head") -> Sentence:
    """Set heads of words and mark them as fixed."""
    words = list(sentence.words)
    for position, head in heads.items():
        word = words[position - 1]
        misc = mark if word.misc == BLANK else f"{word.misc}|{mark}"
        words[position - 1] = word._replace(head=str(head), misc=misc)
    return sentence.with_words(words)


def blank(sentence: Sentence, *columns: str) -> Sentence:
    """Empty columns of all words."""
    empty = dict.fromkeys(columns, BLANK)
    return sentence.with_words([word._replace(**empty) for word in sentence.words])
