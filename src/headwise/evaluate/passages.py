"""Two files with the same characters, cut into passages where both end a sentence.

Output made from raw text may cut the text into other sentences and words than the gold file. What
both share is the text itself: the characters of all tokens without the white space. A passage is
the shortest run of sentences that covers the same characters in both files and ends with the same
token, so that nothing in it leads outside; no more than one is held at a time. A token is a word,
or a multi-word range (`3-4`) with the words it stands for. Which words belong together is left to
`align`.

Example: `to day . | Yes` and `today | . Yes`, with `|` between sentences, are one passage;
`today . | Yes` and `to day . | Yes` are two.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from headwise.errors import DataError
from headwise.evaluate.pairs import end_of
from headwise.treebank.sentence import Sentence, Word

ROOT = -1
"""The head of a word that hangs on ROOT, where the others have the index of a word."""

_SPACES = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
"""The Unicode category Zs, which the shared tasks leave out of the text."""
_RANGE = re.compile(r"([0-9]{1,9})-([0-9]{1,9})\t([^\t]+)\t")
_N_SHOWN = 20
_HINT = (
    "both files must have the same characters in the same order; "
    "only white space and the cuts into words and sentences may differ"
)


class Token(NamedTuple):
    """The characters `start` to `end` (not included) of a passage, and the words they stand for.

    `words` are indices into `Side.words`; `line` is where the token stands in its file.
    """

    start: int
    end: int
    words: range
    is_multi_word: bool
    line: int


@dataclass(frozen=True, slots=True)
class Side:
    """A passage as one file has it.

    `sentences` are (start, end) in characters; `heads` are indices into `words`, or `ROOT`.
    """

    source: str
    sentences: tuple[tuple[int, int], ...]
    tokens: tuple[Token, ...]
    words: tuple[Word, ...]
    heads: tuple[int, ...]


class _Surface(NamedTuple):
    """A sentence, its characters without white space, and its tokens counted from its own start."""

    sentence: Sentence
    text: str
    tokens: list[Token]

    @property
    def last_length(self) -> int:
        """The number of characters in the last token."""
        return self.tokens[-1].end - self.tokens[-1].start

    def line_at(self, offset: int) -> int:
        """Give the line of the token that holds the character at `offset`."""
        return next(token.line for token in self.tokens if offset < token.end)


def without_spaces(form: str) -> str:
    """Leave out the white space inside a form: `10 000` is the characters `10000`."""
    return _SPACES.sub("", form)


def pair_passages(
    gold: Iterable[Sentence], predicted: Iterable[Sentence]
) -> Iterator[tuple[Side, Side]]:
    """Pair the passages of two files, or say where their characters part.

    Blocks of lines without a word are passed over.
    """
    files = map(_read_surface, filter(len, gold)), map(_read_surface, filter(len, predicted))
    read: tuple[list[_Surface], list[_Surface]] = [], []
    last: list[Sentence | None] = [None, None]
    behind, n_matched = 0, 0  # which file to read from, and what of the other's last is matched
    while surface := next(files[behind], None):
        read[behind].append(surface)
        last[behind] = surface.sentence
        if not (other := read[1 - behind]):  # a passage starts: gold waits for predicted
            behind = 1
            continue
        _require_same_text(read, behind, n_matched)
        n_left = len(other[-1].text) - n_matched
        if len(surface.text) < n_left:
            n_matched += len(surface.text)
        elif len(surface.text) > n_left:
            behind, n_matched = 1 - behind, n_left
        elif surface.last_length == other[-1].last_length:
            yield _join(read[0]), _join(read[1])
            read, behind, n_matched = ([], []), 0, 0
        else:
            behind, n_matched = 0, len(read[1][-1].text)
    _require_end(files[1 - behind], read[1 - behind], n_matched, end_of(last[behind]))
    if read[0]:
        yield _join(read[0]), _join(read[1])


def _require_end(
    file: Iterator[_Surface], waiting: list[_Surface], n_matched: int, other_end: str
) -> None:
    """See that a file has nothing left when the other has ended."""
    rest = waiting[-1] if waiting and n_matched < len(waiting[-1].text) else next(file, None)
    if rest is None:
        return
    start = n_matched if waiting and rest is waiting[-1] else 0
    raise DataError(
        f"the text goes on with '{rest.text[start : start + _N_SHOWN]}' here, "
        f"and the other file ends at {other_end}",
        rest.sentence.source,
        rest.line_at(start),
        _HINT,
    )


def _read_surface(sentence: Sentence) -> _Surface:
    ranges = _ranges(sentence)
    tokens: list[Token] = []
    texts = []
    start, first = 0, 0
    while first < len(sentence):
        last, form, line = ranges.get(
            first, (first + 1, sentence.words[first].form, sentence.line_of(first + 1))
        )
        text = without_spaces(form)
        if not text:
            raise DataError(
                "FORM is nothing but white space", sentence.source, line, "a token has characters"
            )
        end = start + len(text)
        tokens.append(Token(start, end, range(first, last), first in ranges, line))
        texts.append(text)
        start, first = end, last
    return _Surface(sentence, "".join(texts), tokens)


def _ranges(sentence: Sentence) -> dict[int, tuple[int, str, int]]:
    """Find multi-word ranges: the index of the first word, to the end, the form and the line."""
    found: dict[int, tuple[int, str, int]] = {}
    n_covered = 0
    for line, content in enumerate(sentence.lines, sentence.first_line):
        if (match := _RANGE.match(content)) is None:
            continue
        first, last = int(match[1]) - 1, int(match[2])
        if first < n_covered or last > len(sentence):
            what = "overlaps the one before it" if first < n_covered else "has words missing"
            raise DataError(
                f"the range {match[1]}-{match[2]} {what}",
                sentence.source,
                line,
                f"the sentence has {len(sentence)} words, and each is in one range at most",
            )
        found[first] = last, match[3], line
        n_covered = last
    return found


def _join(surfaces: list[_Surface]) -> Side:
    """Put sentences one after the other, and count characters and words from the first one."""
    sentences, tokens, heads = [], [], []
    words: list[Word] = []
    start = 0
    for sentence, text, own_tokens in surfaces:
        n_before = len(words)
        for token in own_tokens:
            indices = range(token.words.start + n_before, token.words.stop + n_before)
            tokens.append(
                token._replace(start=token.start + start, end=token.end + start, words=indices)
            )
        heads += [head - 1 + n_before if head else ROOT for head in sentence.gold_heads()]
        words += sentence.words
        sentences.append((start, start + len(text)))
        start += len(text)
    source = surfaces[0].sentence.source
    return Side(source, tuple(sentences), tuple(tokens), tuple(words), tuple(heads))


def _require_same_text(
    read: tuple[list[_Surface], list[_Surface]], behind: int, n_matched: int
) -> None:
    """Compare the sentence read last with what the other file has left of its own."""
    newest, waiting = read[behind][-1], read[1 - behind][-1]
    n_compared = min(len(newest.text), len(waiting.text) - n_matched)
    if newest.text[:n_compared] == waiting.text[n_matched : n_matched + n_compared]:
        return
    pairs = zip(newest.text, waiting.text[n_matched:], strict=False)
    offset = next(i for i, (one, other) in enumerate(pairs) if one != other)
    places = [(newest, offset), (waiting, n_matched + offset)]
    raise _difference(*(places if behind == 0 else places[::-1]))


def _difference(gold: tuple[_Surface, int], predicted: tuple[_Surface, int]) -> DataError:
    before = max((surface.text[:at] for surface, at in (gold, predicted)), key=len)
    place = f"after '{before[-_N_SHOWN:]}'" if before else "at the start of a sentence"
    shown = [_excerpt(surface.text, at) for surface, at in (gold, predicted)]
    surface, at = predicted
    return DataError(
        f"the characters differ {place}: {shown[0]} here and {shown[1]} "
        f"in {surface.sentence.source}:{surface.line_at(at)}",
        gold[0].sentence.source,
        gold[0].line_at(gold[1]),
        _HINT,
    )


def _excerpt(text: str, offset: int) -> str:
    """Show what follows, and the number of the first character, since two may look the same."""
    return f"'{text[offset : offset + _N_SHOWN]}' (U+{ord(text[offset]):04X})"
