"""CoNLL-X to CoNLL-U and back: what has a place in the other format goes there.

Columns 1 to 8 are the same and stay as they are: CPOSTAG is column UPOS, POSTAG is XPOS, and FEATS
is text. The last two differ. PHEAD and PDEPREL become `PHead=3|PDeprel=SB` in MISC, and come back
from there, so that CoNLL-X to CoNLL-U and back is the same again. CoNLL-X has no place for
comments, DEPS and other MISC; these are left out and counted. Multi-word ranges and empty nodes are
refused unless they are to be dropped.
"""

from collections import Counter
from typing import NamedTuple

from headwise.errors import DataError
from headwise.treebank.sentence import BLANK, Sentence, Word

_PHEAD, _PDEPREL = "PHead=", "PDeprel="


class Converted(NamedTuple):
    """A sentence in the other format, and how many of what were left out on the way."""

    sentence: Sentence
    lost: Counter[str]


def to_conllu(sentence: Sentence) -> Sentence:
    """Convert a sentence of CoNLL-X; nothing is lost."""
    return _rebuilt(sentence, [_word_to_conllu(word) for word in sentence.words])


def to_conllx(sentence: Sentence, drop: bool = False) -> Converted:
    """Convert a sentence of CoNLL-U; `drop` leaves out multi-word ranges and empty nodes, too."""
    lost = _special_lines(sentence, drop)
    words = [_word_to_conllx(word) for word in sentence.words]
    for word in sentence.words:
        lost["DEPS"] += word.deps != BLANK
        lost["MISC"] += bool(_other_misc(word.misc))
    return Converted(_rebuilt(sentence, words), +lost)


def _rebuilt(sentence: Sentence, words: list[Word]) -> Sentence:
    lines = ["\t".join(word) + "\n" for word in words]
    end = ("\n",) if words else ()
    rows = tuple(range(len(words)))
    return Sentence(tuple(words), (*lines, *end), rows, sentence.source, sentence.first_line)


def _word_to_conllu(word: Word) -> Word:
    parts = []
    if word.deps != BLANK:
        parts.append(_PHEAD + _escaped(word.deps))
    if word.misc != BLANK:
        parts.append(_PDEPREL + _escaped(word.misc))
    return word._replace(deps=BLANK, misc="|".join(parts) or BLANK)


def _word_to_conllx(word: Word) -> Word:
    phead = pdeprel = BLANK
    for part in word.misc.split("|"):
        if part.startswith(_PHEAD):
            phead = _unescaped(part.removeprefix(_PHEAD))
        elif part.startswith(_PDEPREL):
            pdeprel = _unescaped(part.removeprefix(_PDEPREL))
    return word._replace(deps=phead or BLANK, misc=pdeprel or BLANK)


def _other_misc(misc: str) -> list[str]:
    """List what is in MISC besides what came from CoNLL-X."""
    return [p for p in misc.split("|") if p != BLANK and not p.startswith((_PHEAD, _PDEPREL))]


def _special_lines(sentence: Sentence, drop: bool) -> Counter[str]:
    """Count the lines that are no words; a range or an empty node is an error without `drop`."""
    lost: Counter[str] = Counter()
    words = set(sentence.rows)
    for row, line in enumerate(sentence.lines):
        if row in words or not line.strip(" \t\r\n"):
            continue
        if line.startswith("#"):
            lost["comment"] += 1
            continue
        number = line.split("\t", 1)[0]
        kind = "multi-word range" if "-" in number else "empty node"
        if not drop:
            raise DataError(
                f"line {number[:40]} is of a kind that CoNLL-X cannot hold: {kind}",
                sentence.source,
                sentence.first_line + row,
                "leave such lines out with --drop",
            )
        lost[kind] += 1
    return lost


def _escaped(value: str) -> str:
    """Write a value so that MISC can hold it: `|` separates there, and a line may end in MISC."""
    return value.replace("%", "%25").replace("|", "%7C").replace("\r", "%0D")


def _unescaped(value: str) -> str:
    return value.replace("%0D", "\r").replace("%7C", "|").replace("%25", "%")
