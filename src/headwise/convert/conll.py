"""CoNLL-X to CoNLL-U and back.

Columns 1 to 8 are the same in both: CPOSTAG is column UPOS, POSTAG is XPOS, and FEATS is text. The
last two differ. PHEAD and PDEPREL become `PHead=3|PDeprel=SB` in MISC and are restored from there,
so a round trip from CoNLL-X loses nothing. CoNLL-X cannot hold comments, DEPS and other MISC; these
are left out and counted. Multi-word tokens and empty nodes are an error unless they may be dropped.
"""

from collections import Counter

from headwise.errors import DataError
from headwise.treebank.sentence import BLANK, Sentence, Word

_PHEAD, _PDEPREL = "PHead=", "PDeprel="


def to_conllu(sentence: Sentence) -> Sentence:
    """Convert a sentence from CoNLL-X; nothing is lost."""
    return _rebuild(sentence, [_word_to_conllu(word) for word in sentence.words])


def to_conllx(sentence: Sentence, drop: bool = False) -> tuple[Sentence, Counter[str]]:
    """Convert a sentence from CoNLL-U, and count what is lost, by kind.

    Multi-word tokens and empty nodes are an error unless `drop` leaves them out.
    """
    lost = _count_other_lines(sentence, drop)
    words = [_word_to_conllx(word) for word in sentence.words]
    for word in sentence.words:
        lost["DEPS"] += word.deps != BLANK
        lost["MISC"] += bool(_other_misc(word.misc))
    return _rebuild(sentence, words), +lost


def _rebuild(sentence: Sentence, words: list[Word]) -> Sentence:
    lines = ["\t".join(word) + "\n" for word in words]
    end = ("\n",) if words else ()
    rows = tuple(range(len(words)))
    return Sentence(tuple(words), (*lines, *end), rows, sentence.source, sentence.first_line)


def _word_to_conllu(word: Word) -> Word:
    parts = []
    if word.deps != BLANK:
        parts.append(_PHEAD + _escape(word.deps))
    if word.misc != BLANK:
        parts.append(_PDEPREL + _escape(word.misc))
    return word._replace(deps=BLANK, misc="|".join(parts) or BLANK)


def _word_to_conllx(word: Word) -> Word:
    phead = pdeprel = BLANK
    for part in word.misc.split("|"):
        if part.startswith(_PHEAD):
            phead = _unescape(part.removeprefix(_PHEAD))
        elif part.startswith(_PDEPREL):
            pdeprel = _unescape(part.removeprefix(_PDEPREL))
    return word._replace(deps=phead or BLANK, misc=pdeprel or BLANK)


def _other_misc(misc: str) -> list[str]:
    """List the parts of MISC that did not come from CoNLL-X."""
    return [p for p in misc.split("|") if p != BLANK and not p.startswith((_PHEAD, _PDEPREL))]


def _count_other_lines(sentence: Sentence, drop: bool) -> Counter[str]:
    """Count the lines that are not words; without `drop`, only comments are allowed."""
    lost = Counter({"comment": len(sentence.comments)})
    others = [(node.row, node.id, "empty node") for node in sentence.empty_nodes]
    for token in sentence.multi_word_tokens:
        others.append((token.row, f"{token.first}-{token.last}", "multi-word range"))
    for row, number, kind in sorted(others):
        if not drop:
            raise DataError(
                f"line {number} is of a kind that CoNLL-X cannot hold: {kind}",
                sentence.source,
                sentence.first_line + row,
                "leave such lines out with --drop",
            )
        lost[kind] += 1
    return lost


def _escape(value: str) -> str:
    """Escape what MISC cannot hold: `|` separates its parts, and it may be the end of a line."""
    return value.replace("%", "%25").replace("|", "%7C").replace("\r", "%0D")


def _unescape(value: str) -> str:
    return value.replace("%0D", "\r").replace("%7C", "|").replace("%25", "%")
