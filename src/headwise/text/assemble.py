"""From labelled characters to sentences in CoNLL-U.

A sentence gets `# newpar` where a paragraph begins with it, `# sent_id` counted from 1 and
`# text`; a token gets `SpaceAfter=No` where due and `TokenRange=START:END`, its offsets in the
whole input. In a token of several words the range line carries both; the words carry their own
`TokenRange` where they stand side by side in the token, and nothing where it expands.

Forms are in Unicode's normal form C, as the format wants it; offsets are those of the input.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from headwise.errors import DataError
from headwise.text.characters import Flags, to_text
from headwise.text.expand import Expansions
from headwise.text.scan import EXPANDS, SENTENCE_END, TOKEN_END, WORD_END, Labelled
from headwise.text.stream import LINE, PARAGRAPH, SPACE
from headwise.treebank.sentence import BLANK, Sentence, TokenRow, sentence_from_tokens

Positions = NDArray[np.int64]

MAX_TOKENS = 1_000
"""A sentence of running text ends after so many tokens, whatever it says."""
MAX_TOKEN_LENGTH = 1_000
"""A token of running text ends after so many characters."""
MAX_LINE_LENGTH = 2**20
"""A line that is a sentence by itself is never cut; one longer than this is refused."""


@dataclass(frozen=True, slots=True, eq=False)
class _Buffer:
    """Symbols that wait for the end of their sentence, and the tokens found among them.

    Of each token: its first and last position, whether it is several words, whether it ends a
    sentence, and whether white space follows.
    """

    symbols: Labelled
    text: str
    starts: Positions
    ends: Positions
    is_special: Flags
    ends_sentence: Flags
    has_space: Flags


def assemble(
    parts: Iterable[Labelled], expansions: Expansions, cut: bool = True, source: str = "<text>"
) -> Iterator[Sentence]:
    """Put sentences together; with `cut`, over-long tokens and sentences are ended by force."""
    held = Labelled(np.zeros(0, np.uint32), np.zeros(0, np.int64), np.zeros(0, np.uint8))
    n_sentences, starts_paragraph = 0, True
    for part in parts:
        held = _join(held, part)
        buffer = _find_tokens(held, cut)
        n_used = 0
        for first, last in _group(buffer.ends_sentence, cut):
            n_sentences += 1
            comments = [*["# newpar"] * starts_paragraph, f"# sent_id = {n_sentences}"]
            yield _sentence(buffer, slice(first, last + 1), comments, expansions)
            n_used = int(buffer.ends[last]) + 1
            starts_paragraph = bool(held.codes[n_used] == PARAGRAPH)
            n_used += bool(buffer.has_space[last])
        held = Labelled(held.codes[n_used:], held.offsets[n_used:], held.labels[n_used:])
        if not cut and len(held.codes) > MAX_LINE_LENGTH:
            raise DataError(
                f"a line of more than {MAX_LINE_LENGTH:,} characters, "
                f"from character {int(held.offsets[0]):,} on",
                source,
                hint="one sentence a line; in running text, let headwise find the sentences",
            )


def _join(held: Labelled, part: Labelled) -> Labelled:
    return Labelled(
        np.concatenate([held.codes, part.codes]),
        np.concatenate([held.offsets, part.offsets]),
        np.concatenate([held.labels, part.labels]),
    )


def _find_tokens(symbols: Labelled, cut: bool) -> _Buffer:
    """Find the tokens whose next symbol is there too: it says whether a space follows."""
    codes, labels = symbols.codes, symbols.labels
    is_gap = (codes == SPACE) | (codes == LINE) | (codes == PARAGRAPH)
    ends = np.flatnonzero(labels[:-1] & TOKEN_END)
    if cut:
        ends = _cut_long(ends, is_gap)
    starts = _starts(ends, is_gap)
    n_words = np.cumsum(labels & WORD_END)
    return _Buffer(
        symbols,
        to_text(np.where(is_gap, np.uint32(SPACE), codes)),
        starts,
        ends,
        (n_words[ends] > n_words[starts] - (labels[starts] & WORD_END))
        | ((labels[ends] & EXPANDS) > 0),
        (labels[ends] & SENTENCE_END) > 0,
        is_gap[ends + 1],
    )


def _starts(ends: Positions, is_gap: Flags) -> Positions:
    """Give the first position of each token: after the last one's end and one gap at most."""
    starts: Positions = np.concatenate([np.zeros(1, np.int64), ends + 1])[: len(ends)]
    starts += is_gap[starts]
    return starts


def _cut_long(ends: Positions, is_gap: Flags) -> Positions:
    """End tokens, and what is left over at the end of the buffer, after `MAX_TOKEN_LENGTH`."""
    n = len(is_gap)
    bounds = np.append(ends, n - 1)
    lengths = np.diff(bounds, prepend=-1)
    more: list[int] = []
    for i in np.flatnonzero(lengths > MAX_TOKEN_LENGTH).tolist():
        start = int(bounds[i - 1]) + 1 if i else 0
        start += int(is_gap[start])
        while int(bounds[i]) - start >= MAX_TOKEN_LENGTH:
            end = start + MAX_TOKEN_LENGTH - 1
            end -= int(is_gap[end])
            more.append(end)
            start = end + 1 + int(is_gap[end + 1])
    return np.sort(np.append(ends, np.array(more, np.int64)))


def _group(ends_sentence: Flags, cut: bool) -> Iterator[tuple[int, int]]:
    """Give the first and the last token of each sentence that is whole."""
    limit = MAX_TOKENS if cut else len(ends_sentence) + 1
    first = 0
    for last in np.flatnonzero(ends_sentence).tolist():
        while last - first >= limit:
            yield first, first + limit - 1
            first += limit
        yield first, last
        first = last + 1
    while len(ends_sentence) - first >= limit:
        yield first, first + limit - 1
        first += limit


def _sentence(
    buffer: _Buffer, which: slice, comments: list[str], expansions: Expansions
) -> Sentence:
    starts, ends = buffer.starts[which], buffer.ends[which] + 1
    text, offsets = buffer.text, buffer.symbols.offsets
    forms = [text[i:j] for i, j in zip(starts.tolist(), ends.tolist(), strict=True)]
    surface = text[starts[0] : ends[-1]]
    spaces: list[bool] = buffer.has_space[which].tolist()
    if not unicodedata.is_normalized("NFC", surface):
        forms, spaces = _normalised(forms, spaces)
        joined = (form + " " * space for form, space in zip(forms, spaces, strict=True))
        surface = "".join(joined).rstrip(" ")
    first, last = offsets[starts].tolist(), (offsets[ends - 1] + 1).tolist()
    tokens: list[TokenRow] = [
        (form, f"TokenRange={i}:{j}" if space else f"SpaceAfter=No|TokenRange={i}:{j}", ())
        for form, i, j, space in zip(forms, first, last, spaces, strict=True)
    ]
    for i in np.flatnonzero(buffer.is_special[which]).tolist():
        form, misc, _ = tokens[i]
        words = _words(buffer, slice(int(starts[i]), int(ends[i])), form, expansions)
        tokens[i] = (form, misc, words if len(words) > 1 else ())
    return sentence_from_tokens(tokens, [*comments, f"# text = {surface}"])


def _normalised(forms: list[str], spaces: list[bool]) -> tuple[list[str], list[bool]]:
    """Normalise each form; where two would merge if joined, say that there is a space."""
    forms = [unicodedata.normalize("NFC", form) for form in forms]
    nexts = [*forms[1:], ""]
    spaces = [
        space or not unicodedata.is_normalized("NFC", form + following)
        for form, following, space in zip(forms, nexts, spaces, strict=True)
    ]
    return forms, spaces


def _words(
    buffer: _Buffer, own: slice, form: str, expansions: Expansions
) -> tuple[tuple[str, str], ...]:
    """Give FORM and MISC of the words of a token: looked up if it expands, or cut out of it."""
    if " " in form:
        return ()  # the format has no range with a space in its form
    labels = buffer.symbols.labels[own]
    if labels[-1] & EXPANDS and (found := expansions.expand(form)):
        return tuple((unicodedata.normalize("NFC", word), BLANK) for word in found)
    cuts = [0, *(np.flatnonzero(labels[:-1] & WORD_END) + 1).tolist(), len(labels)]
    offsets = buffer.symbols.offsets[own].tolist()
    text = buffer.text[own]
    return tuple(
        (
            unicodedata.normalize("NFC", text[i:j]),
            f"TokenRange={offsets[i]}:{offsets[j - 1] + 1}",
        )
        for i, j in pairwise(cuts)
    )
