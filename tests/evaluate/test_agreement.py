"""Agreement of two annotations: kappa by hand, symmetry, and what is not compared."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwise.errors import DataError
from headwise.evaluate.agreement import (
    Agreement,
    Confusion,
    cohens_kappa,
    find_differences,
    measure_agreement,
)
from headwise.evaluate.scores import score
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import Sentence, sentence_from_words

EWT = Path(__file__).parents[1] / "fixtures" / "ewt-dev-100.conllu"


def made(*words: str) -> Sentence:
    """Make a sentence of words `tag/head/label`, called a, b, c and so on."""
    rows = [(chr(97 + i), *word.split("/")) for i, word in enumerate(words)]
    return sentence_from_words(rows, ["form", "upos", "head", "deprel"])


FIRST = made("NOUN/2/nsubj", "VERB/0/root", "NOUN/2/obj", "ADP/5/case", "NOUN/2/obl")
SECOND = made("NOUN/2/nsubj", "VERB/0/root", "NOUN/2/obl", "PART/5/case", "NOUN/3/nmod:of")


def test_shares_and_kappas_by_hand() -> None:
    found = measure_agreement([FIRST], [SECOND])
    assert (found.uas, found.las, found.label_accuracy, found.upos) == (80.0, 60.0, 60.0, 80.0)
    # Heads, seen from their words: +1 root -1 +1 -3, and +1 root -1 +1 -2. Chance agrees on
    # (2 * 2 + 1 * 1 + 1 * 1) / 25 = 0.24 of the words.
    assert found.head_kappa == pytest.approx((0.8 - 0.24) / (1 - 0.24))
    # Labels in common: nsubj, root, case once in both files; obl once in both, on other words.
    assert found.label_kappa == pytest.approx((0.6 - 4 / 25) / (1 - 4 / 25))
    # Tags: NOUN 3 and 3, VERB 1 and 1.
    assert found.upos_kappa == pytest.approx((0.8 - 10 / 25) / (1 - 10 / 25))
    assert found.label_confusions == (Confusion("obj", "obl", 1), Confusion("obl", "nmod:of", 1))
    assert found.upos_confusions == (Confusion("ADP", "PART", 1),)
    assert (found.n_words, found.n_different_words, found.n_different_sentences) == (5, 3, 1)


def test_kappa_of_a_table_from_a_textbook() -> None:
    # Two readers of 50 grant proposals: 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no.
    table = Counter({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15})
    assert cohens_kappa(table) == pytest.approx(0.4)
    assert cohens_kappa(Counter({("y", "n"): 5, ("n", "y"): 5})) == pytest.approx(-1.0)


def test_kappa_needs_two_values() -> None:
    assert cohens_kappa(Counter()) is None
    assert cohens_kappa(Counter({("obj", "obj"): 9})) is None


def test_labels_may_be_compared_without_subtypes_and_words_without_punctuation() -> None:
    one = made("NOUN/0/root", "PUNCT/1/punct", "NOUN/1/nmod:poss")
    other = made("NOUN/0/root", "PUNCT/3/punct", "NOUN/1/nmod")
    assert measure_agreement([one], [other]).las == pytest.approx(100 / 3)
    found = measure_agreement([one], [other], rule="ud", universal_labels=True)
    assert (found.las, found.n_words, found.n_different_words) == (100.0, 2, 0)
    assert list(find_differences([one], [other], rule="ud", universal_labels=True)) == []


def test_blanks_are_not_compared() -> None:
    one = made("NOUN/2/nsubj", "_/0/root", "NOUN/_/_")
    other = made("NOUN/_/nsubj", "VERB/0/root", "NOUN/2/obj")
    found = measure_agreement([one], [other])
    assert (found.n_words, found.uas, found.las, found.label_accuracy) == (1, 100.0, 100.0, 100.0)
    assert found.n_different_words == 0
    nothing = measure_agreement([made("_/_/_")], [made("_/_/_")])
    assert (nothing.uas, nothing.las, nothing.head_kappa) == (None, None, None)


def test_words_that_differ_name_their_columns() -> None:
    same = made("NOUN/0/root")
    (found,) = find_differences([same, FIRST], [same, SECOND])
    assert (found.number, found.first, found.second) == (2, FIRST, SECOND)
    assert [(word.position, word.columns) for word in found.words] == [
        (3, ("deprel",)),
        (4, ("upos",)),
        (5, ("head", "deprel")),
    ]
    (tags,) = find_differences([FIRST], [SECOND], columns=["upos"])
    assert [word.second.upos for word in tags.words] == ["PART"]


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(DataError, match="no sentences to compare"):
        measure_agreement([], [])


WORDS = st.tuples(
    st.sampled_from(["NOUN", "VERB", "_"]),
    st.sampled_from(["0", "1", "2", "_"]),
    st.sampled_from(["obj", "obl", "root", "_"]),
)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=2, max_size=6))
def test_exchanging_the_files_changes_no_figure(pairs: Sequence[tuple[Sequence[str], ...]]) -> None:
    one, other = (made(*("/".join(pair[side]) for pair in pairs)) for side in (0, 1))
    there, back = measure_agreement([one], [other]), measure_agreement([other], [one])
    assert figures(there) == pytest.approx(figures(back))
    assert [c.n_words for c in there.label_confusions] == [c.n_words for c in back.label_confusions]


def figures(found: Agreement) -> list[float]:
    names = ["uas", "las", "label_accuracy", "upos", "head_kappa", "label_kappa", "upos_kappa"]
    return [-9.0 if (value := getattr(found, name)) is None else value for name in names]


@pytest.mark.parametrize("seed", [1, 2])
def test_shares_are_those_of_the_scores(seed: int) -> None:
    chance = random.Random(seed)
    gold = list(read_sentences(EWT))
    moved = [
        sentence.with_words(
            [
                word._replace(head=str((int(word.head) + 1) % (len(sentence) + 1)), deprel="dep")
                if chance.random() < 0.2
                else word
                for word in sentence.words
            ]
        )
        for sentence in gold
    ]
    ours, scores = measure_agreement(gold, moved), score(gold, moved)
    assert (ours.uas, ours.las) == (scores.uas, scores.las)
    assert (ours.label_accuracy, ours.upos) == (scores.label_accuracy, scores.upos)
