"""A sentence as its file has it, Sec. 3.1: nothing is lost between reading and writing.

`Word` is one line of ten columns, `Sentence` the words among the comments, multi-word ranges and
empty nodes around them, `Parse` what a parser says of it. Only words exist here; ROOT and its
slot 0 belong to arrays. `Sentence.with_parse` is one of the two places where the one becomes the
other (the other is `vocabulary.encode`).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from headwise.errors import ConfigError, DataError
from headwise.settings.choices import How

BLANK = "_"
TokenRow = tuple[str, str, tuple[tuple[str, str], ...]]
"""A token of text: its FORM and MISC and, where it is several words, theirs."""
_MIDDLE = "\t_" * 7
"""The columns between FORM and MISC, blank."""


class Word(NamedTuple):
    """The ten columns of a word, as they stand in the file.

    In CoNLL-X the columns 4, 5, 9 and 10 are called CPOSTAG, POSTAG, PHEAD and PDEPREL.
    """

    id: str
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: str
    deprel: str
    deps: str
    misc: str


@dataclass(frozen=True, slots=True)
class Parse:
    """Heads and labels for the words of one sentence, in order.

    `heads[i]` is the position (1..N) of the head of the i-th word, 0 for ROOT; `head_log_probs[i]`
    is the log-probability of that arc under Eq. 5; `how` says which decoder made the tree. `upos`
    and `xpos` are there where the parser predicts them.
    """

    heads: tuple[int, ...]
    labels: tuple[str, ...]
    head_log_probs: tuple[float, ...]
    how: How
    upos: tuple[str, ...] = ()
    xpos: tuple[str, ...] = ()

    @property
    def probabilities(self) -> tuple[float, ...]:
        """Give the probability of each arc, Eq. 5."""
        return tuple(math.exp(min(log_prob, 0.0)) for log_prob in self.head_log_probs)


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of a sentence and the exact lines they came in.

    `lines` keep their own line ends, so that joined they are the bytes of the file again;
    `rows[i]` is the line of the i-th word. `source` and `first_line` say where it was read.
    """

    words: tuple[Word, ...]
    lines: tuple[str, ...]
    rows: tuple[int, ...]
    source: str = "<memory>"
    first_line: int = 1

    def __len__(self) -> int:
        """Count the words, ranges and empty nodes left out."""
        return len(self.words)

    @property
    def text(self) -> str:
        """The sentence as it stands in its file, the blank line after it included."""
        return "".join(self.lines)

    def line_of(self, position: int) -> int:
        """Give the line number in the source of the word at `position` (1..N)."""
        return self.first_line + self.rows[position - 1]

    def gold_heads(self) -> tuple[int, ...]:
        """Read the HEAD column; a word without a head is an error, since gold was asked for."""
        for position, word in enumerate(self.words, 1):
            if word.head == BLANK:
                raise DataError(
                    f"word {position} ('{word.form[:40]}') has no HEAD",
                    self.source,
                    self.line_of(position),
                    "training and evaluation need annotated trees; to annotate: headwise parse",
                )
        return tuple(int(word.head) for word in self.words)

    def with_parse(self, parse: Parse) -> "Sentence":
        """Copy the sentence with HEAD and DEPREL, and tags, from `parse`; all else stays."""
        if len(parse.heads) != len(self.words):
            raise ValueError(f"{len(parse.heads)} heads for {len(self.words)} words")
        lines = list(self.lines)
        words = []
        upos = parse.upos or [word.upos for word in self.words]
        xpos = parse.xpos or [word.xpos for word in self.words]
        for row, word, tag, fine_tag, head, label in zip(
            self.rows, self.words, upos, xpos, parse.heads, parse.labels, strict=True
        ):
            number, form, lemma, _, _, feats, _, _, deps, misc = word
            columns = (number, form, lemma, tag, fine_tag, feats, str(head), label, deps, misc)
            words.append(Word._make(columns))
            lines[row] = "\t".join(columns) + line_end(lines[row])
        return Sentence(tuple(words), tuple(lines), self.rows, self.source, self.first_line)


def line_end(line: str) -> str:
    r"""Give the line end of a line: `\n`, `\r\n` or nothing at the end of a file."""
    if line[-1:] == "\n" and line[-2:-1] != "\r":
        return "\n"
    return line[len(line.rstrip("\r\n")) :]


def sentence_from_words(words: Sequence[Sequence[str]], columns: Sequence[str]) -> Sentence:
    """Make a sentence out of plain values, one row a word; columns not named are blank.

    An empty value, or one with a tab or a line end, is refused; heads are not checked.
    Example: `sentence_from_words([("Kids", "NNS"), ("love", "VBP")], ["form", "xpos"])`.
    """
    rows = []
    for column in columns:
        if column not in Word._fields[1:]:
            hint = f"one of {', '.join(Word._fields[1:])}; words are numbered by themselves"
            raise ConfigError(f"no column {column!r}", hint)
    for position, values in enumerate(words, 1):
        given = dict(zip(columns, values, strict=True))
        _check_values(given, position)
        blank = dict.fromkeys(Word._fields, BLANK) | {"id": str(position)}
        rows.append(Word(**(blank | given)))
    lines = ["\t".join(word) + "\n" for word in rows]
    return Sentence(tuple(rows), (*lines, "\n"), tuple(range(len(rows))))


def sentence_from_tokens(tokens: Iterable[TokenRow], comments: Sequence[str] = ()) -> Sentence:
    """Make a sentence out of tokens; one with words of its own becomes a range before them.

    Values are trusted to be free of tabs and line ends; comments are whole lines without their end.
    """
    lines = [f"{comment}\n" for comment in comments]
    words: list[Word] = []
    rows: list[int] = []
    for form, misc, parts in tokens:
        n = len(words)
        if parts:
            lines.append(f"{n + 1}-{n + len(parts)}\t{form}{_MIDDLE}\t{misc}\n")
        for part, part_misc in parts or ((form, misc),):
            n += 1
            rows.append(len(lines))
            lines.append(f"{n}\t{part}{_MIDDLE}\t{part_misc}\n")
            words.append(Word(str(n), part, "_", "_", "_", "_", "_", "_", "_", part_misc))
    return Sentence(tuple(words), (*lines, "\n"), tuple(rows))


def _check_values(given: Mapping[str, str], position: int) -> None:
    for column, value in given.items():
        if not value or not {"\t", "\n", "\r"}.isdisjoint(value):
            raise DataError(
                f"{column.upper()} of word {position} is {value[:40]!r}",
                "<memory>",
                hint="a value is not empty and has no tab or line end",
            )
