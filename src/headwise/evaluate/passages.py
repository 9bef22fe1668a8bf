"""Passages: two files with the same characters, cut where both end a sentence.

Output made from raw text may have other sentences and words than the gold file. Both share the text
itself: the characters of all tokens without white space. A passage is the shortest run of sentences
that covers the same characters in both files and ends with the same token, so that no arc leads out
of it. Only one passage is in memory at a time. `align` then matches the words of a passage.

Example: `to day . | Yes` and `today | . Yes`, with `|` between sentences, are one passage;
`today . | Yes` and `to day . | Yes` are two.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from headwise.errors import DataError
from headwise.evaluate.metrics import ROOT_INDEX
from headwise.evaluate.pairs import end_of
from headwise.treebank.sentence import Sentence, Word

_SPACES = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
"""The Unicode category Zs, which the shared tasks leave out of the text."""
_N_SHOWN = 20
_HINT = (
    "both files must have the same characters in the same order; "
    "only white space and the borders of words and sentences may differ"
)


class PassageToken(NamedTuple):
    """The characters `start` to `end` (not included) of a passage, and the words they stand for.

    `words` are indices into `Side.words`; `line` is the line of the token in its file.
    """

    start: int
    end: int
    words: range
    is_multi_word: bool
    line: int


@dataclass(frozen=True, slots=True)
class Side:
    """A passage in one of the two files.

    `sentences` are (start, end) in characters; `heads` are indices into `words`, or `ROOT_INDEX`.
    """

    source: str
    sentences: tuple[tuple[int, int], ...]
    tokens: tuple[PassageToken, ...]
    words: tuple[Word, ...]
    heads: tuple[int, ...]


class _Surface(NamedTuple):
    """A sentence, its characters without white space, and its tokens, counted from its start."""

    sentence: Sentence
    text: str
    tokens: list[PassageToken]

    @property
    def last_length(self) -> int:
        """The number of characters in the last token."""
        return self.tokens[-1].end - self.tokens[-1].start

    def line_at(self, offset: int) -> int:
        """Give the line of the token that holds the character at `offset`."""
        return next(token.line for token in self.tokens if offset < token.end)


def without_spaces(form: str) -> str:
    """Remove the white space inside a form: `10 000` becomes `10000`."""
    return _SPACES.sub("", form)


def pair_passages(
    gold: Iterable[Sentence], predicted: Iterable[Sentence]
) -> Iterator[tuple[Side, Side]]:
    """Pair the passages of two files; where their characters differ, raise a `DataError`.

    Blocks of lines without a word are skipped.
    """
    files = map(_read_surface, filter(len, gold)), map(_read_surface, filter(len, predicted))
    read: tuple[list[_Surface], list[_Surface]] = [], []
    last: list[Sentence | None] = [None, None]
    # The file to read from next, and how much of the other's last sentence is matched already.
    behind, n_matched = 0, 0
    while surface := next(files[behind], None):
        read[behind].append(surface)
        last[behind] = surface.sentence
        if not (other := read[1 - behind]):  # a passage starts with gold; now read predicted
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
    # One file has ended, and the other must have ended too.
    ahead = read[1 - behind]
    rest, start = (ahead[-1], n_matched) if ahead else (None, 0)
    if rest is None or n_matched == len(rest.text):
        rest, start = next(files[1 - behind], None), 0
    if rest is not None:
        raise DataError(
            f"the text continues with '{rest.text[start : start + _N_SHOWN]}' here, "
            f"and the other file ends at {end_of(last[behind])}",
            rest.sentence.source,
            rest.line_at(start),
            _HINT,
        )
    if read[0]:
        yield _join(read[0]), _join(read[1])


def _read_surface(sentence: Sentence) -> _Surface:
    tokens: list[PassageToken] = []
    texts = []
    start = 0
    for token in sentence.tokens:
        line = sentence.first_line + token.row
        text = without_spaces(token.form)
        if not text:
            what = "FORM is nothing but white space"
            raise DataError(what, sentence.source, line, "a token needs visible characters")
        end = start + len(text)
        words = range(token.first - 1, token.last)
        tokens.append(PassageToken(start, end, words, token.is_multi_word, line))
        texts.append(text)
        start = end
    return _Surface(sentence, "".join(texts), tokens)


def _join(surfaces: list[_Surface]) -> Side:
    """Join sentences, and count characters and words from the start of the first."""
    sentences, tokens, heads = [], [], []
    words: list[Word] = []
    start = 0
    for sentence, text, sentence_tokens in surfaces:
        n_before = len(words)
        for token in sentence_tokens:
            indices = range(token.words.start + n_before, token.words.stop + n_before)
            tokens.append(
                token._replace(start=token.start + start, end=token.end + start, words=indices)
            )
        heads += [head - 1 + n_before if head else ROOT_INDEX for head in sentence.gold_heads()]
        words += sentence.words
        sentences.append((start, start + len(text)))
        start += len(text)
    source = surfaces[0].sentence.source
    return Side(source, tuple(sentences), tuple(tokens), tuple(words), tuple(heads))


def _require_same_text(
    read: tuple[list[_Surface], list[_Surface]], behind: int, n_matched: int
) -> None:
    """Compare the sentence read last with the unmatched rest of the other file."""
    gold, predicted = read[0][-1], read[1][-1]
    i, j = (0, n_matched) if behind == 0 else (n_matched, 0)
    ours, theirs = gold.text[i:], predicted.text[j:]
    if ours.startswith(theirs) or theirs.startswith(ours):
        return
    n_same = next(k for k, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
    i, j = i + n_same, j + n_same
    before = max(gold.text[:i], predicted.text[:j], key=len)
    where = f"after '{before[-_N_SHOWN:]}'" if before else "at the start of a sentence"
    raise DataError(
        f"the characters differ {where}: {_excerpt(gold.text, i)} here and "
        f"{_excerpt(predicted.text, j)} in {predicted.sentence.source}:{predicted.line_at(j)}",
        gold.sentence.source,
        gold.line_at(i),
        _HINT,
    )


def _excerpt(text: str, offset: int) -> str:
    """Show the characters that follow, and the first as U+XXXX, since two may look the same."""
    return f"'{text[offset : offset + _N_SHOWN]}' (U+{ord(text[offset]):04X})"
