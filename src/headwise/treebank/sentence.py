"""A sentence of a treebank, Sec. 3.1: its exact lines, and what they hold as values.

A `Sentence` keeps the lines it was read from, so that writing gives the same bytes. Words are read
at once. Comments, tokens, empty nodes, text and heads are computed from the lines on request, so no
other module has to parse lines. `Parse` is the output of a parser. Only words exist here; ROOT and
its slot 0 belong to arrays. `Sentence.with_parse` is one of the two places where the one
becomes the other (the other is `vocabulary.encode`).
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from headwise.errors import ConfigError, DataError
from headwise.settings.choices import Column, Decoder

BLANK = "_"
MAX_VALUE = 1_000
"""Characters in a label or a tag of a model or a request; those of treebanks have a tenth of it."""
VALUE_HINT = f"it must have 1 to {MAX_VALUE:,} characters, and no tab or line end"
TokenRow = tuple[str, str, tuple[tuple[str, str], ...]]
"""A token of text: FORM and MISC and, if it stands for several words, those of each word."""
Span = tuple[int, int]
"""Start and end (not included) in characters of the text that a sentence was read from."""

_MIDDLE = "\t_" * 7
"""The columns between FORM and MISC, blank."""
_TOKEN_RANGE = re.compile(r"TokenRange=([0-9]{1,12}):([0-9]{1,12})")
_MAX_DIGITS = 9


class Word(NamedTuple):
    """The ten columns of a word, as strings.

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

    @property
    def span(self) -> Span | None:
        """The characters of the text that the word was read from, if MISC has `TokenRange`."""
        return _span(self.misc)


def is_value(string: str) -> bool:
    """Return whether a string can be a label or a tag: it fits into a column and is not huge."""
    return 0 < len(string) <= MAX_VALUE and {"\t", "\n", "\r"}.isdisjoint(string)


class Token(NamedTuple):
    """A piece of the text: a word, or a multi-word token (`3-4`) that stands for several words.

    `first` and `last` are the positions of its words (1..N); `row` is its line in the sentence.
    """

    first: int
    last: int
    form: str
    misc: str
    row: int
    is_multi_word: bool

    @property
    def span(self) -> Span | None:
        """The characters of the text that the token was read from, if MISC has `TokenRange`."""
        return _span(self.misc)

    @property
    def has_space_after(self) -> bool:
        """Whether a space follows, that is, MISC has no `SpaceAfter=No`."""
        return "SpaceAfter=No" not in self.misc.split("|")


class EmptyNode(NamedTuple):
    """A node of the enhanced graph that is not a word; `3.1` is the first after word 3."""

    id: str
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    deps: str
    misc: str
    row: int


class RankedTree(NamedTuple):
    """One of the most probable trees of a sentence; `probability` is its share of all trees."""

    heads: tuple[int, ...]
    labels: tuple[str, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class Parse:
    """What a parser found for the words of one sentence, in order.

    `heads[i]` is the position (1..N) of the head of the i-th word, 0 for ROOT; `head_log_probs[i]`
    is the log-probability of that arc under Eq. 5; `how` is the decoder that made the tree. `upos`,
    `xpos`, `feats` and `lemmas` are empty unless the parser predicts them. `column_probs` has the
    probability of each value, by column (of heads: `probabilities`); NaN for a value that was kept
    from the input.

    If the parser was asked for them: `trees` are the most probable trees, best first;
    `marginals[i]` is the probability of the arc to the i-th word over all trees, and `entropy` says
    how uncertain the whole tree is, in nats.
    """

    heads: tuple[int, ...]
    labels: tuple[str, ...]
    head_log_probs: tuple[float, ...]
    how: Decoder
    upos: tuple[str, ...] = ()
    xpos: tuple[str, ...] = ()
    feats: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    column_probs: Mapping[Column, tuple[float, ...]] = field(default_factory=dict, hash=False)
    trees: tuple[RankedTree, ...] = ()
    marginals: tuple[float, ...] = ()
    entropy: float | None = None

    @property
    def probabilities(self) -> tuple[float, ...]:
        """The probability of each arc, Eq. 5."""
        return tuple(math.exp(min(log_prob, 0.0)) for log_prob in self.head_log_probs)


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of a sentence and the exact lines they came in.

    `lines` keep their line ends, so that joined they are the bytes of the file again; the blank
    lines at the end are one item. `rows[i]` is the line of the i-th word. `source` and `first_line`
    say where it was read.
    """

    words: tuple[Word, ...]
    lines: tuple[str, ...]
    rows: tuple[int, ...]
    source: str = "<memory>"
    first_line: int = 1

    def __len__(self) -> int:
        """Count the words; multi-word tokens and empty nodes do not count."""
        return len(self.words)

    @property
    def conllu(self) -> str:
        """The lines of the sentence as they stand in its file, the blank line included."""
        return "".join(self.lines)

    @property
    def data(self) -> bytes:
        """The bytes of the sentence in its file."""
        return "".join(self.lines).encode("utf-8")

    def size(self) -> tuple[int, int]:
        """Count the words and the characters of all lines."""
        return len(self.words), sum(map(len, self.lines))

    @property
    def comments(self) -> tuple[str, ...]:
        """The comments before the first word, without `#` and the space after it."""
        before = self.lines[: self.rows[0]] if self.rows else self.lines
        comments = (line[1:].rstrip("\r\n") for line in before if line.startswith("#"))
        return tuple(comment.removeprefix(" ") for comment in comments)

    @property
    def metadata(self) -> dict[str, str]:
        """The comments `key = value` as a dict; a comment without `=` has an empty value.

        Of several comments with the same key, the first with a value counts.
        """
        metadata: dict[str, str] = {}
        for key, value in map(split_comment, self.comments):
            metadata[key] = metadata.get(key) or value
        return metadata

    @property
    def text(self) -> str:
        """The text of the sentence: its `# text` comment, or else its tokens put together.

        Tokens are joined by a space unless MISC has `SpaceAfter=No`.
        """
        if text := self.metadata.get("text"):
            return text
        tokens = (token.form + " " * token.has_space_after for token in self.tokens)
        return "".join(tokens).rstrip(" ")

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of the text in order: multi-word tokens, and the words outside of them."""
        starting_at = {token.first: token for token in self.multi_word_tokens}
        tokens: list[Token] = []
        for position, (row, word) in enumerate(zip(self.rows, self.words, strict=True), 1):
            if not tokens or position > tokens[-1].last:
                alone = Token(position, position, word.form, word.misc, row, False)
                tokens.append(starting_at.get(position, alone))
        return tuple(tokens)

    @property
    def multi_word_tokens(self) -> tuple[Token, ...]:
        """The tokens of the text that stand for a range of words (`3-4`)."""
        ranges = ((row, columns, columns[0].partition("-")) for row, columns in self._other_rows())
        return tuple(
            Token(int(first), int(last), columns[1], columns[9], row, True)
            for row, columns, (first, dash, last) in ranges
            if dash
        )

    @property
    def empty_nodes(self) -> tuple[EmptyNode, ...]:
        """The empty nodes of the enhanced graph (`3.1`)."""
        return tuple(
            EmptyNode._make([*columns[:6], *columns[8:], row])
            for row, columns in self._other_rows()
            if "-" not in columns[0]
        )

    def _other_rows(self) -> Iterator[tuple[int, list[str]]]:
        """Find the lines with columns that are not words, each with its row."""
        word_rows = set(self.rows)
        for row, line in enumerate(self.lines):
            if row not in word_rows and not line.startswith("#") and line.strip():
                yield row, line.rstrip("\r\n").split("\t")

    @property
    def heads(self) -> tuple[int | None, ...]:
        """The position of each word's head, 0 for ROOT; None if HEAD is blank or no such word."""
        n_words = len(self.words)
        return tuple(_head(word.head, n_words) for word in self.words)

    def line_of(self, position: int) -> int:
        """Return the line number in the source of the word at `position` (1..N)."""
        return self.first_line + self.rows[position - 1]

    def gold_heads(self) -> tuple[int, ...]:
        """Read the HEAD column; a word without a head is an error."""
        for position, word in enumerate(self.words, 1):
            if word.head == BLANK:
                raise DataError(
                    f"word {position} ('{word.form[:40]}') has no HEAD",
                    self.source,
                    self.line_of(position),
                    "dev and evaluation need whole trees (training does not); to fill in heads: "
                    "headwise parse",
                )
        return tuple(int(word.head) for word in self.words)

    def with_parse(self, parse: Parse) -> "Sentence":
        """Copy the sentence with the columns of `parse` that are not empty; all else stays."""
        if len(parse.heads) != len(self.words):
            raise ValueError(f"{len(parse.heads)} heads for {len(self.words)} words")
        if not self.words:
            return self
        columns: list[Sequence[str]] = list(zip(*self.words, strict=True))
        columns[6:8] = [list(map(str, parse.heads)), parse.labels]
        for at, values in enumerate((parse.lemmas, parse.upos, parse.xpos, parse.feats), 2):
            columns[at] = values or columns[at]
        return self.with_words(list(map(Word._make, zip(*columns, strict=True))))

    def with_words(self, words: Sequence[Word]) -> "Sentence":
        """Copy the sentence with other columns for the same number of words; all else stays."""
        lines = list(self.lines)
        for row, word in zip(self.rows, words, strict=True):
            lines[row] = "\t".join(word) + line_end(lines[row])
        return Sentence(tuple(words), tuple(lines), self.rows, self.source, self.first_line)


def split_comment(comment: str) -> tuple[str, str]:
    """Split a comment `key = value`; without `=` the value is empty."""
    key, _, value = comment.partition("=")
    return key.strip(), value.strip()


def filled(value: str) -> str | None:
    """Return the value of a column, None if it is blank."""
    return None if value == BLANK else value


def filled_lemma(word: Word) -> str | None:
    """Return the lemma of a word, None if it is blank; that of an underscore is an underscore."""
    return word.lemma if word.form == word.lemma else filled(word.lemma)


def _span(misc: str) -> Span | None:
    for part in misc.split("|"):
        if match := _TOKEN_RANGE.fullmatch(part):
            return int(match[1]), int(match[2])
    return None


def _head(column: str, n_words: int) -> int | None:
    if not (column.isascii() and column.isdigit() and len(column) <= _MAX_DIGITS):
        return None
    return head if (head := int(column)) <= n_words else None


def line_end(line: str) -> str:
    r"""Return the line end of a line: `\n`, `\r\n`, or nothing at the end of a file."""
    if line[-1:] == "\n" and line[-2:-1] != "\r":
        return "\n"
    return line[len(line.rstrip("\r\n")) :]


def sentence_from_words(
    words: Sequence[Sequence[str]], columns: Sequence[str], comments: Sequence[str] = ()
) -> Sentence:
    """Make a sentence from plain values, one row for each word; columns not named are blank.

    An empty value, or one with a tab or a line end, is refused; heads are not checked. Comments are
    lines that start with `#`, without a line end.
    Example: `sentence_from_words([("Kids", "NNS"), ("love", "VBP")], ["form", "xpos"])`.
    """
    rows = []
    for column in columns:
        if column not in Word._fields[1:]:
            hint = f"one of {', '.join(Word._fields[1:])}; words are numbered automatically"
            raise ConfigError(f"no column {column!r}", hint)
    for position, values in enumerate(words, 1):
        given = dict(zip(columns, values, strict=True))
        for column, value in given.items():
            if not value or not {"\t", "\n", "\r"}.isdisjoint(value):
                raise DataError(
                    f"{column.upper()} of word {position} is {value[:40]!r}",
                    "<memory>",
                    hint="a value must not be empty or contain a tab or a line end",
                )
        rows.append(Word(**(dict.fromkeys(Word._fields, BLANK) | {"id": str(position)} | given)))
    lines = [*(f"{comment}\n" for comment in comments), *("\t".join(word) + "\n" for word in rows)]
    first = len(comments)
    return Sentence(tuple(rows), (*lines, "\n"), tuple(range(first, first + len(rows))))


def sentence_from_tokens(tokens: Iterable[TokenRow], comments: Sequence[str] = ()) -> Sentence:
    """Make a sentence from tokens; a token with several words becomes a range before them.

    Values must be free of tabs and line ends. Comments are lines that start with `#`, without a
    line end.
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
