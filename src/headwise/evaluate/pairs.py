"""Pairs of gold and predicted sentences, in order; they must have the same words.

Trees can be compared word by word only if both files have the same tokens, so the first difference
ends the evaluation with a message that names both files. Files with different words are compared by
`passages`, `align` and `raw`.
"""

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from headwise.errors import DataError
from headwise.treebank.sentence import Sentence

_HINT = (
    "the gold and the predicted file must have the same text in the same tokenisation; "
    "for output from raw text: headwise evaluate --align"
)


def pair_sentences(
    gold: Iterable[Sentence], predicted: Iterable[Sentence]
) -> Iterator[tuple[Sentence, Sentence]]:
    """Pair the sentences that have words; where the files differ, raise a `DataError`."""
    last_gold = last_predicted = None
    pairs = zip_longest(filter(len, gold), filter(len, predicted))
    for number, (one, other) in enumerate(pairs, 1):
        if one is None:
            raise _no_partner(other, number, last_gold)
        if other is None:
            raise _no_partner(one, number, last_predicted)
        _require_same_words(one, other)
        last_gold, last_predicted = one, other
        yield one, other


def end_of(last: Sentence | None) -> str:
    """Name the end of a file, `file:line`, by the last sentence that was read from it."""
    if last is None:
        return "its start"
    return f"{last.source}:{last.first_line + last.conllu[:-1].count(chr(10))}"


def _no_partner(sentence: Sentence, number: int, last: Sentence | None) -> DataError:
    return DataError(
        f"sentence {number} has no partner: the other file ends at {end_of(last)}",
        sentence.source,
        sentence.first_line,
        _HINT,
    )


def _require_same_words(gold: Sentence, predicted: Sentence) -> None:
    if len(gold) != len(predicted):
        raise DataError(
            f"the sentence has {len(gold)} words here and {len(predicted)} "
            f"in {predicted.source}:{predicted.first_line}",
            gold.source,
            gold.first_line,
            _HINT,
        )
    for position, (one, other) in enumerate(zip(gold.words, predicted.words, strict=True), 1):
        if one.form != other.form:
            raise DataError(
                f"word {position} is '{one.form[:40]}' here and '{other.form[:40]}' "
                f"in {predicted.source}:{predicted.line_of(position)}",
                gold.source,
                gold.line_of(position),
                _HINT,
            )
