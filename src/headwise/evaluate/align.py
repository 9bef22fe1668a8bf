"""Which word of one file is which word of the other, told by the characters of the text.

These are the rules of the CoNLL shared tasks of 2017 and 2018 (Zeman et al.). Words that are tokens
of their own belong together when they cover the same characters. The words of a multi-word token
have no characters of their own, so all words inside a multi-word span, the smallest stretch of text
that no multi-word token of either file sticks out of, are aligned by the longest common subsequence
of their forms, upper and lower case being the same.

Example: the text is `al mar`, with `al` a multi-word token (`a`, `el`) in the gold file only. `mar`
and `mar` cover the same characters and are aligned; in the span of `al` the gold words `a el` and
the predicted word `al` have no form in common.

Where two subsequences are equally long, the earlier predicted word is aligned, as in the scorer of
the shared tasks.
"""

from collections.abc import Iterator, Sequence

from headwise.errors import DataError
from headwise.evaluate.passages import Side, Token, without_spaces

MAX_CELLS = 2**22
"""Of the table for one multi-word span: about 2,000 words on each side."""


def align_words(gold: Side, predicted: Side) -> dict[int, int]:
    """Give the gold word for each predicted word that has one, both as indices into the passage."""
    ours, theirs = gold.tokens, predicted.tokens
    aligned: dict[int, int] = {}
    i = j = 0
    while i < len(ours) and j < len(theirs):
        one, other = ours[i], theirs[j]
        if one.is_multi_word or other.is_multi_word:
            i, j = _start_of_span(ours, theirs, i, j)
            end = one.end if one.is_multi_word else other.end
            i_end, j_end = _end_of_span(ours, theirs, i, j, end)
            aligned.update(_align_forms(gold, predicted, ours[i:i_end], theirs[j:j_end]))
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
    ours: Sequence[Token], theirs: Sequence[Token], i: int, j: int
) -> tuple[int, int]:
    """Pass over a token that starts before the multi-word token which comes next on the other side.

    It is one token and not more, as in the scorer of the shared tasks: should further ones lie
    before the span, their words are compared too, and may be aligned if a form is the same.
    """
    one, other = ours[i], theirs[j]
    if not other.is_multi_word and other.start < one.start:
        return i, j + 1
    if not one.is_multi_word and one.start < other.start:
        return i + 1, j
    return i, j


def _end_of_span(
    ours: Sequence[Token], theirs: Sequence[Token], i: int, j: int, end: int
) -> tuple[int, int]:
    """Take tokens in the order of the text, gold ones first, until no next one lies inside.

    The span starts with a multi-word token that goes to `end`; others may take it further.
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


def _is_inside(tokens: Sequence[Token], index: int, end: int) -> bool:
    """Tell whether a token lies in a span up to `end`; of a multi-word token a part is enough."""
    if index == len(tokens):
        return False
    token = tokens[index]
    return token.start < end if token.is_multi_word else token.end <= end


def _align_forms(
    gold: Side, predicted: Side, ours: Sequence[Token], theirs: Sequence[Token]
) -> Iterator[tuple[int, int]]:
    """Align the words of a span, and give (predicted, gold) indices."""
    gold_words, words = ([i for token in side for i in token.words] for side in (ours, theirs))
    forms = _forms(gold, gold_words), _forms(predicted, words)
    n_same = _n_same_at_start(*forms)
    if (len(gold_words) - n_same) * (len(words) - n_same) > MAX_CELLS:
        raise DataError(
            f"multi-word tokens overlap over {len(gold_words)} words here and {len(words)} "
            f"in {predicted.source}:{theirs[0].line}, too many to align",
            gold.source,
            ours[0].line,
            "are the ranges right? a multi-word token has a few words",
        )
    yield from zip(words[:n_same], gold_words[:n_same], strict=True)
    for i, j in longest_common_subsequence(forms[0][n_same:], forms[1][n_same:]):
        yield words[n_same + j], gold_words[n_same + i]


def _forms(side: Side, indices: Sequence[int]) -> list[str]:
    return [without_spaces(side.words[index].form).lower() for index in indices]


def _n_same_at_start(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the forms before the first that differs: a perfect file never needs a table."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def longest_common_subsequence(
    one: Sequence[str], other: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Give the pairs of indices of a longest common subsequence, in order.

    Example: `a b c` and `b x c` give (1, 0) and (2, 2).
    """
    lengths = [
        [0] * (len(other) + 1) for _ in range(len(one) + 1)
    ]  # of what is left from (i, j) on
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
