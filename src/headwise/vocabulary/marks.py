"""Marks: further properties of a word, each a string with a vector of its own.

A tag is one mark, and so is each feature in FEATS, so that a combination of features that training
never saw is still a sum of known ones. The treebank that a sentence comes from is a mark of all its
words; by default that is the main treebank of the model.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from headwise.settings.choices import Mark
from headwise.treebank.sentence import BLANK, Sentence, Word

TREEBANK = "treebank="


def marks_of(word: Word, columns: Sequence[Mark]) -> list[str]:
    """List the marks of a word that its own columns give: `upos=NOUN`, `feats=Case=Nom`."""
    marks = []
    for column in columns:
        if column == "feats" and word.feats != BLANK:
            marks += [f"feats={feature}" for feature in word.feats.split("|")]
        elif column == "xpos":
            marks += [f"xpos={part}" for part in word.xpos.split("+")]
        elif column == "upos":
            marks.append(f"upos={word.upos}")
    return marks


def collect_marks(
    treebanks: Mapping[str, Sequence[Sentence]], columns: Sequence[Mark]
) -> list[str]:
    """List the marks of treebanks: their names, then the others by frequency."""
    names = [f"{TREEBANK}{name}" for name in treebanks] if "treebank" in columns else []
    counts = Counter(
        mark
        for sentences in treebanks.values()
        for sentence in sentences
        for word in sentence.words
        for mark in marks_of(word, columns)
    )
    return names + sorted(counts, key=lambda mark: (-counts[mark], mark))
