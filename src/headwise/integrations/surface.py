"""Segmented text as a row of tokens that, with their spaces, are the text again.

Pipelines such as spaCy's keep every character of a text in exactly one token or in the one space
after it; treebanks have words. Words that stand side by side become tokens as they are, white space
other than a single space becomes a token of its own, and a token that expands (`do` = `de` `o`) is
shared out among its words, each of which remembers what it stands for.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwise.treebank.sentence import Sentence
from headwise.treebank.sentence import Token as TreebankToken

Segment = Callable[[Iterable[str]], Iterable[Sentence]]
"""What finds sentences in text: `Segmenter.segment`."""
Offsets = NDArray[np.int64]

PARAGRAPH_BREAK = "\n\n"


class Token(NamedTuple):
    """The characters `start` to `end` of a text.

    `form` is the word that they stand for where it is spelt otherwise; `has_space` says that the
    space after them belongs to the token.
    """

    start: int
    end: int
    form: str | None = None
    starts_sentence: bool = False
    has_space: bool = False


def cover(text: str, sentences: Iterable[Sentence]) -> Iterator[Token]:
    """Cut `text` where its sentences say, and let no character of it fall through.

    White space before the first sentence belongs to it.
    """
    done = 0
    for token in chain.from_iterable(map(tokens_of, sentences)):
        if done < token.start:
            yield Token(done, token.start, starts_sentence=done == 0)
        has_space = text.startswith(" ", token.end)  # no token starts with a space
        is_start = token.starts_sentence and (done > 0 or token.start == 0)
        yield token._replace(starts_sentence=is_start, has_space=has_space)
        done = token.end + has_space
    if done < len(text):
        yield Token(done, len(text), starts_sentence=done == 0)


def tokens_of(sentence: Sentence) -> list[Token]:
    """Give the words of a sentence of `Segmenter.segment`, each with its place in the text."""
    tokens: list[Token] = []
    for token in sentence.tokens:
        words = sentence.words[token.first - 1 : token.last]
        spans = [word.span for word in words]
        if None in spans:  # the words of a token that expands have no place of their own
            tokens += _share(token, [word.form for word in words])
        else:
            tokens += [Token(*span) for span in spans if span]
    return [tokens[0]._replace(starts_sentence=True), *tokens[1:]]


def sentence_starts(texts: Sequence[str], segment: Segment) -> list[Offsets]:
    """Give for each text the places where its sentences start.

    All go through the network together, as paragraphs: those come out the same among others, and
    sooner.
    """
    starts = np.array([_start(s) for s in segment(_paragraphs(texts))], np.int64)
    bounds = np.cumsum([0, *(len(text) + len(PARAGRAPH_BREAK) for text in texts)])
    cuts = np.searchsorted(starts, bounds)
    return [
        starts[i:j] - base for (i, j), base in zip(pairwise(cuts), bounds.tolist(), strict=False)
    ]


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield text
        yield PARAGRAPH_BREAK


def _start(sentence: Sentence) -> int:
    """Read the place of the first token, be it a range of words."""
    span = sentence.tokens[0].span
    assert span is not None
    return span[0]


def _share(whole: TreebankToken, forms: Sequence[str]) -> list[Token]:
    """Share the characters of a token out among its words, from the last word to the first.

    A word takes the characters that it ends in, one at the least: `zum` (zu dem) is `zu` and `m`,
    `vê-lo` (ver lo) is `vê-` and `lo`. Fewer characters than words stay one token.
    """
    assert whole.span is not None
    start, end = whole.span
    if end - start < len(forms):
        return [Token(start, end)]
    rest = whole.form
    shared: list[Token] = []
    for n_before in range(len(forms) - 1, 0, -1):
        room = end - start - n_before
        n_own = max(1, min(room, _n_alike(rest, forms[n_before])))
        shared.append(Token(end - n_own, end, forms[n_before]))
        rest, end = rest[:-n_own], end - n_own
    return [Token(start, end, forms[0]), *reversed(shared)]


def _n_alike(left: str, right: str) -> int:
    """Count the letters at the ends of two strings that are the same but for their case."""
    pairs = zip(reversed(left), reversed(right), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].lower() == pair[1].lower(), pairs))
