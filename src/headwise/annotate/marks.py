"""What a person decided, in the sentence itself: which values are fixed, which heads are refused.

    MISC of a word    Fixed=Head,Deprel|NotHead=3,5
    comments          # status = done
                      # note = free text, line ends as %0A

Everything that is not fixed is the parser's guess. So a file says by itself what a person decided,
it stays valid CoNLL-U, and `clean_block` removes the marks again.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from headwise.errors import DataError, plural
from headwise.treebank.conllu import read_block
from headwise.treebank.sentence import BLANK, Sentence, Word, line_end
from headwise.trees.constraints import Constraints

FIXABLE = ("Head", "Deprel", "Upos", "Xpos", "Feats", "Lemma")
"""Columns that can be fixed, in the order in which they are written."""
_FIXED, _NOT_HEAD = "Fixed=", "NotHead="
_STATUS, _DONE, _NOTE = "status", "done", "note"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_MARK_COMMENT = re.compile(r"#\s*(?:status\s*=\s*done\s*$|note\s*=)")
_MISC_MARK = re.compile(r"[\t|](?:Fixed|NotHead)=[^\t\n]*$", re.MULTILINE)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_DONE_LINE = re.compile(r"^#\s*status\s*=\s*done[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Marks:
    """What is fixed and refused for each word, and the comments on the whole sentence."""

    fixed: tuple[frozenset[str], ...]
    """For each word the columns whose values are fixed, named as in `FIXABLE`."""
    not_heads: tuple[tuple[int, ...], ...]
    """For each word the heads that it must not have."""
    is_done: bool = False
    note: str = ""


def read_marks(sentence: Sentence) -> Marks:
    """Read the marks of a sentence; a refused head that it does not have is an error."""
    metadata = sentence.metadata
    return Marks(
        tuple(_fixed(word) for word in sentence.words),
        tuple(_not_heads(sentence, at) for at in range(1, len(sentence) + 1)),
        metadata.get(_STATUS) == _DONE,
        unquote(metadata.get(_NOTE, "")),
    )


def with_marks(sentence: Sentence, marks: Marks) -> Sentence:
    """Copy a sentence with other marks; all else stays."""
    columns = zip(sentence.words, marks.fixed, marks.not_heads, strict=True)
    words = [_marked(*of_word) for of_word in columns]
    lines = list(sentence.with_words(words).lines)
    first = sentence.rows[0] if sentence.rows else len(lines) - 1
    while first and not lines[first - 1].startswith("#"):
        first -= 1  # a multi-word token or an empty node comes before the first word
    comments = [line for line in lines[:first] if not _MARK_COMMENT.match(line.rstrip("\r\n"))]
    end = line_end(lines[first]) or "\n"
    if marks.is_done:
        comments.append(f"# {_STATUS} = {_DONE}{end}")
    if marks.note:
        comments.append(f"# {_NOTE} = {_escape(marks.note)}{end}")
    return read_block("".join([*comments, *lines[first:]]), sentence.source)


def clean_block(block: str) -> str:
    """Remove the marks from the lines of a sentence; every other byte stays."""
    lines = []
    for line in _LINE.findall(block):
        if line.startswith("#"):
            if not _MARK_COMMENT.match(line.rstrip("\r\n")):
                lines.append(line)
        elif _MISC_MARK.search(line):
            rest, _, misc = line.rstrip("\r\n").rpartition("\t")
            lines.append(f"{rest}\t{_join(_others(misc))}{line_end(line)}")
        else:
            lines.append(line)
    return "".join(lines)


def status_of(block: str) -> str:
    """Return whether a sentence is `done`, `edited` (something in it is marked) or `new`."""
    if _DONE_LINE.search(block):
        return _DONE
    return "edited" if _MISC_MARK.search(block) else "new"


def constraints_of(sentence: Sentence, marks: Marks, without: Iterable[int] = ()) -> Constraints:
    """Make constraints of what is fixed and refused, except for the heads of the words `without`.

    Raises:
        ConfigError: if they contradict each other.
    """
    left_out = set(without)
    heads, labels, forbidden = {}, {}, []
    for position, (head, word) in enumerate(zip(sentence.heads, sentence.words, strict=True), 1):
        fixed = marks.fixed[position - 1]
        if position not in left_out:
            if "Head" in fixed and head is not None:
                heads[position] = head
            forbidden += [(position, other) for other in marks.not_heads[position - 1]]
        if "Deprel" in fixed and word.deprel != BLANK:
            labels[position] = word.deprel
    return Constraints(heads=heads, forbidden=forbidden, labels=labels)


def _fixed(word: Word) -> frozenset[str]:
    names = (part.removeprefix(_FIXED) for part in word.misc.split("|") if part.startswith(_FIXED))
    return frozenset(name for part in names for name in part.split(",") if name in FIXABLE)


def _not_heads(sentence: Sentence, position: int) -> tuple[int, ...]:
    heads: list[int] = []
    for part in sentence.words[position - 1].misc.split("|"):
        if not part.startswith(_NOT_HEAD):
            continue
        for number in part.removeprefix(_NOT_HEAD).split(","):
            if not _NUMBER.fullmatch(number) or int(number) > len(sentence):
                what = f"NotHead of word {position} has {number[:40]!r}"
                hint = f"the sentence has {plural(len(sentence), 'word')}; 0 is the root"
                raise DataError(what, sentence.source, sentence.line_of(position), hint)
            heads.append(int(number))
    return tuple(dict.fromkeys(heads))


def _marked(word: Word, fixed: frozenset[str], not_heads: Sequence[int]) -> Word:
    parts = _others(word.misc)
    if fixed:
        parts.append(_FIXED + ",".join(name for name in FIXABLE if name in fixed))
    if not_heads:
        parts.append(_NOT_HEAD + ",".join(map(str, not_heads)))
    return word._replace(misc=_join(parts))


def _others(misc: str) -> list[str]:
    """Split MISC into what is not a mark."""
    parts = [] if misc == BLANK else misc.split("|")
    return [part for part in parts if not part.startswith((_FIXED, _NOT_HEAD))]


def _join(parts: Sequence[str]) -> str:
    return "|".join(parts) or BLANK


def _escape(note: str) -> str:
    """Escape what would end a comment, and percent signs."""
    return re.sub(r"[%\x00-\x1f\x7f\u0085\u2028\u2029]|^\s|\s$", lambda m: quote(m[0]), note)
