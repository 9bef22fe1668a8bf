"""Which words belong together, in cases made by hand; `test_referees` has the rest."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_texts import paired_texts, read, spell

from headwise.errors import DataError
from headwise.evaluate.align import MAX_CELLS, align_words, longest_common_subsequence
from headwise.evaluate.passages import pair_passages


def aligned(gold: str, predicted: str, max_cells: int = MAX_CELLS) -> list[tuple[str, str]]:
    """Give the forms of aligned words, gold first, in the order of the gold words."""
    found = []
    for one, other in pair_passages(spell("gold", gold), spell("out", predicted)):
        pairs = align_words(one, other, max_cells).items()
        found += [(one.words[i].form, other.words[j].form) for j, i in sorted(pairs)]
    return found


def same(forms: str) -> list[tuple[str, str]]:
    return [(form, form) for form in forms.split()]


@pytest.mark.parametrize(
    ("gold", "predicted", "forms"),
    [
        ("a b c", "a b c", "a b c"),
        ("a b c d", "a bc d", "a d"),  # merged
        ("a bc d", "a b c d", "a d"),  # split
        ("ab cd e", "a bc d e", "e"),  # crossing
        ("ab c", "a bc", ""),
        ("a b | c d", "a | b c d", "a b c d"),  # other sentences
        ("a b | c d", "a bc d", "a d"),
        # The words of multi-word tokens are aligned by form.
        ("al=a+el mar", "al=a+el mar", "a el mar"),
        ("al=a+el mar", "al mar", "mar"),
        ("al=a+el mar", "a l mar", "a mar"),
        ("don't=do+n't go", "do n't go", "do n't go"),
        ("don't=do+n't go", "don 't go", "go"),
        ("don't=do+n't go", "don't=do+not go", "do go"),
        ("ab=a+b c", "a bc=b+c", "a b c"),  # the tokens overlap: one span
        ("ab=x+y cd=z+w", "ab=z+w cd=x+y", ""),  # they only touch: two spans
        ("ab=x cd=y+z", "ab=x cd=y+z", "x y z"),  # a range of one word
        ("a bc=b+c", "abc", ""),
    ],
)
def test_words_with_the_same_characters_are_aligned(gold: str, predicted: str, forms: str) -> None:
    assert aligned(gold, predicted) == aligned(predicted, gold) == same(forms)


def test_case_and_white_space_do_not_matter_inside_a_span() -> None:
    assert aligned("x a bc=a+c d", "xa b c d") == same("c d")  # xa sticks out of the span
    assert aligned("DON'T=DO+n't", "DON'T=do+N'T") == [("DO", "do"), ("n't", "N'T")]
    gold = read("gold", "1-1\t10 k\t_\t_\t_\t_\t_\t_\t_\t_\n1\t10 k\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    ((one, other),) = pair_passages(gold, spell("out", "10k"))
    assert align_words(one, other) == {0: 0}


@pytest.mark.parametrize(
    ("one", "other", "pairs"),
    [
        ("abc", "bxc", [(1, 0), (2, 2)]),
        ("ab", "ba", [(1, 0)]),  # the earlier word of the second
        ("aba", "a", [(0, 0)]),
    ],
)
def test_subsequences_by_hand(one: str, other: str, pairs: list[tuple[int, int]]) -> None:
    assert list(longest_common_subsequence(one, other)) == pairs


@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_no_common_subsequence_is_longer(one: str, other: str) -> None:
    pairs = list(longest_common_subsequence(one, other))
    assert all(one[i] == other[j] for i, j in pairs)
    assert pairs == sorted(pairs)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    assert len(pairs) == longest_by_trying(one, other)


def longest_by_trying(one: str, other: str) -> int:
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + longest_by_trying(one[1:], other[1:])
    return max(longest_by_trying(one[1:], other), longest_by_trying(one, other[1:]))


@settings(max_examples=200)
@given(paired_texts())
def test_an_alignment_is_one_to_one_and_in_order(texts: tuple[str, str]) -> None:
    for one, other in pair_passages(read("gold", texts[0]), read("out", texts[1])):
        pairs = sorted(align_words(one, other).items())
        gold_words = [gold for _, gold in pairs]
        assert gold_words == sorted(set(gold_words))


def test_spans_of_too_many_words_are_refused() -> None:
    assert aligned("abc=a+b+c", "abc=a+b+c", 5) == same("a b c")  # needs no table
    assert aligned("abc=a+b+c", "abc=a+x+y", 5) == same("a")
    with pytest.raises(DataError) as caught:
        aligned("d abc=a+b+c", "d abc=x+y+c", 5)
    expected = "gold:2: multi-word tokens overlap over 3 words here and 3 in out:2, too many"
    assert caught.value.what.startswith(expected)
