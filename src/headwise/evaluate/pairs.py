"""Pairs of gold and predicted sentences, in order; they must have the same words.

Trees can be compared word by word only if both files have the same tokens, so the first difference
ends the evaluation with a message that names both files. Files with different words are compared by
`passages`, `align` and `raw`.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from headwise.errors import DataError
from headwise.treebank.sentence import Sentence

_HINT = (
    "both files must have the same sentences and words; "
    "headwise evaluate --align, without --diff, scores output from raw text"
)


def pair_sentences(
    gold: Iterable[Sentence], predicted: Iterable[Sentence]
) -> Iterator[tuple[Sentence, Sentence]]:
    """Pair the sentences that have words; where the files differ, raise a `DataError`."""
    last: Sequence[Sentence | None] = (None, None)
    for number, pair in enumerate(zip_longest(filter(len, gold), filter(len, predicted)), 1):
        one, other = pair
        if one is None or other is None:
            what = f"sentence {number} has no counterpart: the other file ends at "
            what += end_of(last[0] if one is None else last[1])
            sentence = one or other
            raise DataError(what, sentence.source, sentence.first_line, _HINT)
        _require_same_words(one, other)
        last = pair
        yield one, other


def end_of(last: Sentence | None) -> str:
    """Name the end of a file, `file:line`, by the last sentence that was read from it."""
    if last is None:
        return "its start"
    return f"{last.source}:{last.first_line + last.conllu[:-1].count(chr(10))}"


def _require_same_words(gold: Sentence, predicted: Sentence) -> None:
    if len(gold) != len(predicted):
        where = f"{predicted.source}:{predicted.first_line}"
        what = f"the sentence has {len(gold)} words here and {len(predicted)} in {where}"
        raise DataError(what, gold.source, gold.first_line, _HINT)
    for position, (one, other) in enumerate(zip(gold.words, predicted.words, strict=True), 1):
        if one.form != other.form:
            where = f"{predicted.source}:{predicted.line_of(position)}"
            forms = f"'{one.form[:40]}' here and '{other.form[:40]}' in {where}"
            line = gold.line_of(position)
            raise DataError(f"word {position} is {forms}", gold.source, line, _HINT)
