"""Turn labelled symbols into sentences in CoNLL-U.

A sentence has `# newpar` if it starts a paragraph, `# sent_id` counted from 1, and `# text`. A
token has `TokenRange=START:END`, its offsets in the whole input, and `SpaceAfter=No` if no white
space follows. A multi-word token has both on its range line; its words have a `TokenRange` of their
own if they stand side by side in the token, and none if the token expands.

Forms are in Unicode normal form C, as CoNLL-U requires; offsets are those of the input.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from headwise.errors import DataError
from headwise.text.expand import Expansions
from headwise.text.scan import (
    EXPANDS,
    SENTENCE_END,
    TOKEN_END,
    WORD_END,
    Labelled,
    is_white_space,
    no_symbols,
)
from headwise.text.symbols import PARAGRAPH, SPACE, Flags, to_text
from headwise.treebank.sentence import BLANK, Sentence, TokenRow, sentence_from_tokens

_Positions = NDArray[np.int64]

MAX_TOKENS = 1_000
"""Running text: a sentence is cut after this many tokens."""
MAX_TOKEN_LENGTH = 1_000
"""Running text: a token is cut after this many characters."""
MAX_LINE_LENGTH = 2**20
"""One sentence per line: lines are never cut; a line of more characters is refused."""


@dataclass(frozen=True, slots=True, eq=False)
class _Tokens:
    """Symbols whose sentence has not ended yet, and the tokens [K] among them.

    For each token: the positions of its first and last symbol, whether it may be several words,
    whether it ends a sentence, and whether white space follows.
    """

    symbols: Labelled
    text: str
    starts: _Positions
    ends: _Positions
    is_multiword: Flags
    ends_sentence: Flags
    has_space: Flags


def assemble(
    stream: Iterable[Labelled],
    expansions: Expansions,
    by_line: bool = False,
    source: str = "<text>",
    max_tokens: int = MAX_TOKENS,
    max_token_length: int = MAX_TOKEN_LENGTH,
    max_line_length: int = MAX_LINE_LENGTH,
) -> Iterator[Sentence]:
    """Yield the sentences of labelled symbols.

    Sentences and tokens of running text are cut at `max_tokens` and `max_token_length`. With
    `by_line` nothing is cut, and a line longer than `max_line_length` is an error.
    """
    held = no_symbols()
    n_sentences, starts_paragraph = 0, True
    for part in stream:
        held = held.joined(part)
        tokens = _find_tokens(held, None if by_line else max_token_length)
        n_used = 0
        for first, end in _group(tokens.ends_sentence, None if by_line else max_tokens):
            n_sentences += 1
            comments = [*["# newpar"] * starts_paragraph, f"# sent_id = {n_sentences}"]
            yield _sentence(tokens, slice(first, end), comments, expansions)
            n_used = int(tokens.ends[end - 1]) + 1
            starts_paragraph = bool(held.codes[n_used] == PARAGRAPH)
            n_used += bool(tokens.has_space[end - 1])
        held = held.part(slice(n_used, None))
        if by_line and len(held.codes) > max_line_length:
            raise DataError(
                f"the line that starts at character {int(held.offsets[0]):,} has more than "
                f"{max_line_length:,} characters",
                source,
                hint="put one sentence on each line, or read it as running text (--input text)",
            )


def _find_tokens(symbols: Labelled, max_length: int | None) -> _Tokens:
    """Find the tokens whose next symbol is known, since it tells whether a space follows."""
    codes, labels = symbols.codes, symbols.labels
    is_space = is_white_space(codes)
    ends = np.flatnonzero(labels[:-1] & TOKEN_END)
    if max_length is not None:
        ends = _cut_long(ends, is_space, max_length)
    starts: _Positions = np.concatenate([np.zeros(1, np.int64), ends + 1])[: len(ends)]
    starts += is_space[starts]
    n_words = np.cumsum(labels & WORD_END)
    has_inner_word = n_words[ends] > n_words[starts] - (labels[starts] & WORD_END)
    return _Tokens(
        symbols=symbols,
        text=to_text(np.where(is_space, np.uint32(SPACE), codes)),
        starts=starts,
        ends=ends,
        is_multiword=has_inner_word | ((labels[ends] & EXPANDS) > 0),
        ends_sentence=(labels[ends] & SENTENCE_END) > 0,
        has_space=is_space[ends + 1],
    )


def _cut_long(ends: _Positions, is_space: Flags, max_length: int) -> _Positions:
    """End tokens after `max_length` symbols, also the one that has no end yet."""
    bounds = np.append(ends, len(is_space) - 1)
    lengths = np.diff(bounds, prepend=-1)
    cuts: list[int] = []
    for i in np.flatnonzero(lengths > max_length).tolist():
        start = int(bounds[i - 1]) + 1 if i else 0
        start += int(is_space[start])
        while int(bounds[i]) - start >= max_length:
            end = start + max_length - 1
            end -= int(is_space[end])
            cuts.append(end)
            start = end + 1 + int(is_space[end + 1])
    return np.sort(np.append(ends, np.array(cuts, np.int64)))


def _group(ends_sentence: Flags, max_tokens: int | None) -> Iterator[tuple[int, int]]:
    """Yield the first token of each complete sentence, and the one after its last."""
    n_tokens = len(ends_sentence)
    limit = max_tokens or n_tokens + 1
    first = 0
    for end in [*(np.flatnonzero(ends_sentence) + 1).tolist(), n_tokens + 1]:
        while end - first > limit:
            yield first, first + limit
            first += limit
        if end <= n_tokens:
            yield first, end
        first = end


def _sentence(
    tokens: _Tokens, which: slice, comments: list[str], expansions: Expansions
) -> Sentence:
    starts, ends = tokens.starts[which], tokens.ends[which] + 1
    text, offsets = tokens.text, tokens.symbols.offsets
    forms = [text[i:j] for i, j in zip(starts.tolist(), ends.tolist(), strict=True)]
    surface = text[starts[0] : ends[-1]]
    spaces: list[bool] = tokens.has_space[which].tolist()
    if not unicodedata.is_normalized("NFC", surface):
        forms = [unicodedata.normalize("NFC", form) for form in forms]
        # Two forms that would merge if joined are written apart.
        spaces = [
            space or not unicodedata.is_normalized("NFC", form + following)
            for form, following, space in zip(forms, [*forms[1:], ""], spaces, strict=True)
        ]
        joined = (form + " " * space for form, space in zip(forms, spaces, strict=True))
        surface = "".join(joined).rstrip(" ")
    first, last = offsets[starts].tolist(), (offsets[ends - 1] + 1).tolist()
    rows: list[TokenRow] = [
        (form, f"TokenRange={i}:{j}" if space else f"SpaceAfter=No|TokenRange={i}:{j}", ())
        for form, i, j, space in zip(forms, first, last, spaces, strict=True)
    ]
    for i in np.flatnonzero(tokens.is_multiword[which]).tolist():
        form, misc, _ = rows[i]
        words = _words(tokens, slice(int(starts[i]), int(ends[i])), form, expansions)
        rows[i] = (form, misc, words if len(words) > 1 else ())
    return sentence_from_tokens(rows, [*comments, f"# text = {surface}"])


def _words(
    tokens: _Tokens, span: slice, form: str, expansions: Expansions
) -> tuple[tuple[str, str], ...]:
    """Return FORM and MISC of the words of a token: looked up if it expands, else cut from it."""
    if " " in form:
        return ()  # CoNLL-U allows no range line with a space in its form
    labels = tokens.symbols.labels[span]
    if labels[-1] & EXPANDS and (words := expansions.expand(form)):
        return tuple((unicodedata.normalize("NFC", word), BLANK) for word in words)
    cuts = [0, *(np.flatnonzero(labels[:-1] & WORD_END) + 1).tolist(), len(labels)]
    offsets = tokens.symbols.offsets[span].tolist()
    text = tokens.text[span]
    return tuple(
        (
            unicodedata.normalize("NFC", text[i:j]),
            f"TokenRange={offsets[i]}:{offsets[j - 1] + 1}",
        )
        for i, j in pairwise(cuts)
    )
