"""Match the words of two files by the characters of the text.

These are the rules of the CoNLL shared tasks of 2017 and 2018 (Zeman et al.). Words that are single
tokens are aligned if they cover the same characters. The words of a multi-word token have no
characters of their own. So all words inside a multi-word span, the smallest stretch of text that
no multi-word token of either file crosses, are aligned by the longest common subsequence of their
forms, ignoring case.

Example: the text is `al mar`, with `al` a multi-word token (`a`, `el`) in the gold file only. `mar`
and `mar` cover the same characters and are aligned; in the span of `al` the gold words `a el` and
the predicted word `al` have no form in common.

Where two subsequences are equally long, the earlier predicted word is aligned, as in the scorer of
the shared tasks.
"""

from collections.abc import Iterator, Sequence

from headwise.errors import DataError
from headwise.evaluate.passages import PassageToken, Side, without_spaces

MAX_CELLS = 2**22
"""The largest table for one multi-word span: about 2,000 words on each side."""


def align_words(gold: Side, predicted: Side, max_cells: int = MAX_CELLS) -> dict[int, int]:
    """Map each predicted word to its gold word, if it has one; both are indices into the passage.

    A span that would need a table of more than `max_cells` is refused.
    """
    ours, theirs = gold.tokens, predicted.tokens
    aligned: dict[int, int] = {}
    i = j = 0
    while i < len(ours) and j < len(theirs):
        one, other = ours[i], theirs[j]
        if one.is_multi_word or other.is_multi_word:
            i, j = _start_of_span(ours, theirs, i, j)
            end = one.end if one.is_multi_word else other.end
            i_end, j_end = _end_of_span(ours, theirs, i, j, end)
            aligned.update(_align_forms(gold, predicted, ours[i:i_end], theirs[j:j_end], max_cells))
            i, j = i_end, j_end
        elif (one.start, one.end) == (other.start, other.end):
            aligned[other.words.start] = one.words.start
            i, j = i + 1, j + 1
        elif one.start <= other.start:
            i += 1
        else:
            j += 1
    return aligned


def _start_of_span(
    ours: Sequence[PassageToken], theirs: Sequence[PassageToken], i: int, j: int
) -> tuple[int, int]:
    """Skip a token that starts before the next multi-word token of the other side.

    Only one token is skipped, as in the scorer of the shared tasks. If more of them lie before the
    span, their words are compared too, and may be aligned if a form is the same.
    """
    one, other = ours[i], theirs[j]
    if not other.is_multi_word and other.start < one.start:
        return i, j + 1
    if not one.is_multi_word and one.start < other.start:
        return i + 1, j
    return i, j


def _end_of_span(
    ours: Sequence[PassageToken], theirs: Sequence[PassageToken], i: int, j: int, end: int
) -> tuple[int, int]:
    """Take tokens in the order of the text, gold first, as long as the next lies in the span.

    The span starts with a multi-word token that goes to `end`; other such tokens may extend it.
    """
    while _is_inside(ours, i, end) or _is_inside(theirs, j, end):
        if j == len(theirs) or (i < len(ours) and ours[i].start <= theirs[j].start):
            token = ours[i]
            i += 1
        else:
            token = theirs[j]
            j += 1
        if token.is_multi_word:
            end = max(end, token.end)
    return i, j


def _is_inside(tokens: Sequence[PassageToken], index: int, end: int) -> bool:
    """Return whether a token lies in a span up to `end`; a multi-word token may do so partly."""
    if index == len(tokens):
        return False
    token = tokens[index]
    return token.start < end if token.is_multi_word else token.end <= end


def _align_forms(
    gold: Side,
    predicted: Side,
    ours: Sequence[PassageToken],
    theirs: Sequence[PassageToken],
    max_cells: int,
) -> Iterator[tuple[int, int]]:
    """Align the words of a span by their forms, as (predicted, gold) indices."""
    gold_words, words = ([i for token in side for i in token.words] for side in (ours, theirs))
    gold_forms, forms = _forms(gold, gold_words), _forms(predicted, words)
    # A table is needed from the first difference on, so a perfect file needs none.
    pairs = enumerate(zip(gold_forms, forms, strict=False))
    n_same = next((i for i, (a, b) in pairs if a != b), min(len(gold_forms), len(forms)))
    if (len(gold_words) - n_same) * (len(words) - n_same) > max_cells:
        raise DataError(
            f"multi-word tokens overlap over {len(gold_words)} words here and {len(words)} "
            f"in {predicted.source}:{theirs[0].line}, too many to align",
            gold.source,
            ours[0].line,
            "are the ranges right? a multi-word token stands for a few words",
        )
    yield from zip(words[:n_same], gold_words[:n_same], strict=True)
    for i, j in longest_common_subsequence(gold_forms[n_same:], forms[n_same:]):
        yield words[n_same + j], gold_words[n_same + i]


def _forms(side: Side, indices: Sequence[int]) -> list[str]:
    return [without_spaces(side.words[index].form).lower() for index in indices]


def longest_common_subsequence(
    one: Sequence[str], other: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Find the pairs of indices of a longest common subsequence, in order.

    Example: `a b c` and `b x c` give (1, 0) and (2, 2).
    """
    # lengths[i][j] is the length for one[i:] and other[j:].
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in reversed(range(len(one))):
        for j in reversed(range(len(other))):
            if one[i] == other[j]:
                lengths[i][j] = lengths[i + 1][j + 1] + 1
            else:
                lengths[i][j] = max(lengths[i + 1][j], lengths[i][j + 1])
    i = j = 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] == lengths[i][j]:
            i += 1
        else:
            j += 1
