"""Segmented text as tokens that, joined with their spaces, give the text again.

Pipelines such as spaCy's keep every character of a text in exactly one token or in the single space
after it; treebanks have words. Words that stand side by side become tokens as they are. White space
other than a single space becomes a token of its own. The characters of a token that expands (`do` =
`de` `o`) are divided among its words, and each part keeps the form of its word.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise, takewhile
from typing import NamedTuple

import numpy as np

from headwise.text.symbols import BYTE_ORDER_MARK, Offsets
from headwise.treebank.sentence import Sentence, Token

Segment = Callable[[Iterable[str]], Iterable[Sentence]]
"""A function that finds sentences in text, such as `Segmenter.segment`."""

_PARAGRAPH_BREAK = "\n\n"


class SurfaceToken(NamedTuple):
    """The characters `start` to `end` of a text.

    `form` is the word that they stand for, if it is spelt differently; `has_space` means that a
    space follows and belongs to the token.
    """

    start: int
    end: int
    form: str | None = None
    starts_sentence: bool = False
    has_space: bool = False


def cover_text(text: str, sentences: Iterable[Sentence]) -> Iterator[SurfaceToken]:
    """Cut `text` into the tokens of its sentences without losing a character.

    White space before the first sentence belongs to it.
    """
    done = 0
    for token in chain.from_iterable(map(surface_tokens, sentences)):
        if done < token.start:
            yield SurfaceToken(done, token.start, starts_sentence=done == 0)
        has_space = text.startswith(" ", token.end)  # no token starts with a space
        is_start = token.starts_sentence and (done > 0 or token.start == 0)
        yield token._replace(starts_sentence=is_start, has_space=has_space)
        done = token.end + has_space
    if done < len(text):
        yield SurfaceToken(done, len(text), starts_sentence=done == 0)


def surface_tokens(sentence: Sentence) -> list[SurfaceToken]:
    """Return the words of a sentence from `Segmenter.segment`, with their positions in the text."""
    tokens: list[SurfaceToken] = []
    for token in sentence.tokens:
        words = sentence.words[token.first - 1 : token.last]
        spans = [word.span for word in words]
        if None in spans:  # the words of a token that expands have no positions
            tokens += _divide(token, [word.form for word in words])
        else:
            tokens += [SurfaceToken(*span) for span in spans if span]
    return [tokens[0]._replace(starts_sentence=True), *tokens[1:]]


def sentence_starts(texts: Sequence[str], segment: Segment) -> list[Offsets]:
    """Return the offsets at which the sentences of each text start.

    All texts go through the network together, as paragraphs, which is faster and gives the same.
    """
    starts = np.array([_start(s) for s in segment(_as_paragraphs(texts))], np.int64)
    bounds = np.cumsum([0, *(len(text) + len(_PARAGRAPH_BREAK) for text in texts)])
    cuts = np.searchsorted(starts, bounds)
    return [
        starts[i:j] - base for (i, j), base in zip(pairwise(cuts), bounds.tolist(), strict=False)
    ]


def _as_paragraphs(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield " " + text[1:] if text.startswith(BYTE_ORDER_MARK) else text
        yield _PARAGRAPH_BREAK


def _start(sentence: Sentence) -> int:
    span = sentence.tokens[0].span
    assert span is not None
    return span[0]


def _divide(token: Token, forms: Sequence[str]) -> list[SurfaceToken]:
    """Divide the characters of a token among its words, from the last word to the first.

    A word takes the characters that it ends in, and at least one: `zum` (zu dem) is `zu` and `m`,
    `vê-lo` (ver lo) is `vê-` and `lo`. A token with fewer characters than words is not divided.
    """
    assert token.span is not None
    start, end = token.span
    if end - start < len(forms):
        return [SurfaceToken(start, end)]
    rest = token.form
    parts: list[SurfaceToken] = []
    for n_before in range(len(forms) - 1, 0, -1):
        room = end - start - n_before
        n_taken = max(1, min(room, _n_common_ending(rest, forms[n_before])))
        parts.append(SurfaceToken(end - n_taken, end, forms[n_before]))
        rest, end = rest[:-n_taken], end - n_taken
    return [SurfaceToken(start, end, forms[0]), *reversed(parts)]


def _n_common_ending(left: str, right: str) -> int:
    """Count the letters at the end that two strings have in common, ignoring case."""
    pairs = zip(reversed(left), reversed(right), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].lower() == pair[1].lower(), pairs))
