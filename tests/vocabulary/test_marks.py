from headwise import sentence_from_words
from headwise.vocabulary.marks import collect_marks, marks_of

COLUMNS = ["form", "upos", "xpos", "feats"]
ONE = sentence_from_words([("x", "NOUN", "NNG+JKS", "Case=Nom|Number=Sing")], COLUMNS)
TWO = sentence_from_words([("y", "VERB", "V", "_"), ("z", "NOUN", "N", "Case=Nom")], COLUMNS)


def test_each_tag_part_and_feature_is_a_mark() -> None:
    assert marks_of(ONE.words[0], ("upos", "xpos", "feats", "treebank")) == [
        "upos=NOUN", "xpos=NNG", "xpos=JKS", "feats=Case=Nom", "feats=Number=Sing",
    ]  # fmt: skip
    assert marks_of(TWO.words[0], ("feats",)) == []
    assert marks_of(ONE.words[0], ()) == []


def test_marks_are_collected_treebanks_first_then_by_frequency() -> None:
    treebanks = {"b": [ONE], "a": [TWO]}
    assert collect_marks(treebanks, ("upos", "feats", "treebank")) == [
        "treebank=b", "treebank=a",
        "feats=Case=Nom", "upos=NOUN", "feats=Number=Sing", "upos=VERB",
    ]  # fmt: skip
    assert collect_marks(treebanks, ("upos",)) == ["upos=NOUN", "upos=VERB"]
