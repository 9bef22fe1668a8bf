"""CoNLL-X to CoNLL-U and back.

Columns 1 to 8 are the same in both: CPOSTAG is column UPOS, POSTAG is XPOS, and FEATS is text. The
last two differ. PHEAD and PDEPREL become `PHead=3|PDeprel=SB` in MISC and are restored from there,
so a round trip from CoNLL-X loses nothing. CoNLL-X cannot hold comments, DEPS and other MISC; these
are left out and counted. Multi-word tokens and empty nodes are an error unless they may be dropped.
"""

from collections import Counter

from headwise.errors import DataError
from headwise.treebank.sentence import BLANK, Sentence, Word

_NAMES = _PHEAD, _PDEPREL = ("PHead=", "PDeprel=")


def to_conllu(sentence: Sentence) -> Sentence:
    """Convert a sentence from CoNLL-X; nothing is lost."""
    return _rebuild(sentence, [_word_to_conllu(word) for word in sentence.words])


def to_conllx(sentence: Sentence, drop: bool = False) -> tuple[Sentence, Counter[str]]:
    """Convert a sentence from CoNLL-U, and count what is lost, by kind.

    Multi-word tokens and empty nodes are an error unless `drop` leaves them out.
    """
    lost = _count_other_lines(sentence, drop)
    for word in sentence.words:
        lost["DEPS"] += word.deps != BLANK
        parts = word.misc.split("|")
        lost["MISC"] += any(part != BLANK and not part.startswith(_NAMES) for part in parts)
    return _rebuild(sentence, [_word_to_conllx(word) for word in sentence.words]), +lost


def _rebuild(sentence: Sentence, words: list[Word]) -> Sentence:
    lines = ["\t".join(word) + "\n" for word in words]
    end = ("\n",) if words else ()
    rows = tuple(range(len(words)))
    return Sentence(tuple(words), (*lines, *end), rows, sentence.source, sentence.first_line)


def _word_to_conllu(word: Word) -> Word:
    values = {_PHEAD: word.deps, _PDEPREL: word.misc}
    parts = [name + _escape(value) for name, value in values.items() if value != BLANK]
    return word._replace(deps=BLANK, misc="|".join(parts) or BLANK)


def _word_to_conllx(word: Word) -> Word:
    values = dict.fromkeys(_NAMES, BLANK)
    for part in word.misc.split("|"):
        for name in _NAMES:
            if part.startswith(name):
                values[name] = _unescape(part.removeprefix(name)) or BLANK
    return word._replace(deps=values[_PHEAD], misc=values[_PDEPREL])


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
