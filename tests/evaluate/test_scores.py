"""The figures, against hand-computed ones and against what must always hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_texts import spell
from made_trees import paired_treebanks, tree

from headwise.errors import DataError
from headwise.evaluate.scores import (
    N_SCORED,
    RIGHT,
    LengthScore,
    RelationScore,
    Scores,
    is_punctuation,
    score,
)
from headwise.settings.choices import Punctuation
from headwise.treebank.sentence import Sentence, sentence_from_words

RULES = st.sampled_from(["none", "ud"])
Treebanks = tuple[list[Sentence], list[Sentence]]

# Gold: w1 <- w0 -> w2 -> w3(punct); one word; two words.
GOLD = [
    tree((0, "root"), (1, "nsubj:pass"), (1, "obj"), (3, "punct"), upos="VERB NOUN NOUN PUNCT"),
    tree((0, "root"), upos="NOUN"),
    tree((2, "obj"), (0, "root"), upos="NOUN VERB"),
]
# Right heads: w0 w1 w3 | w0 | none. Right labels: w0 w2 w3 | w0 | w1.
PREDICTED = [
    tree((0, "root"), (1, "nsubj"), (2, "obj"), (3, "punct")),
    tree((0, "root")),
    tree((0, "nsubj"), (1, "root")),
]


def percentages(scores: Scores) -> list[float]:
    return [scores.uas, scores.las, scores.label_accuracy, scores.uem, scores.lem]


def rows(scores: Scores) -> list[list[int]]:
    """List the words, right heads and right arcs of each sentence."""
    return scores.per_sentence[:, [N_SCORED, RIGHT["uas"], RIGHT["las"]]].tolist()


def test_scores_of_every_word_by_hand() -> None:
    scores = score(GOLD, PREDICTED)
    assert (scores.n_sentences, scores.n_words) == (3, 7)
    assert percentages(scores) == pytest.approx([400 / 7, 300 / 7, 500 / 7, 100 / 3, 100 / 3])
    assert scores.per_sentence.dtype == np.int32
    assert rows(scores) == [[4, 3, 2], [1, 1, 1], [2, 0, 0]]


def test_scores_without_punctuation_and_with_universal_labels_by_hand() -> None:
    scores = score(GOLD, PREDICTED, "ud")
    assert rows(scores) == [[3, 2, 1], [1, 1, 1], [2, 0, 0]]
    assert (scores.n_words, scores.uas) == (6, pytest.approx(50.0))
    universal = score(GOLD, PREDICTED, universal_labels=True)
    assert rows(universal) == [[4, 3, 3], [1, 1, 1], [2, 0, 0]]
    assert universal.las == universal.uas
    assert "nsubj" in [relation.label for relation in universal.relations]


COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel")


def sentence(*rows: str) -> Sentence:
    """Make a sentence of rows of all columns, separated by spaces."""
    return sentence_from_words([row.split() for row in rows], COLUMNS)


def test_columns_by_hand() -> None:
    gold = sentence("a a DET DT _ 2 det", "dog dog NOUN NN Number=Sing|Typo=Yes 0 root")
    predicted = sentence("a an DET XX _ 2 det", "dog dog NOUN NN Number=Sing 0 root")
    scores = score([gold], [predicted])
    assert (scores.upos, scores.xpos, scores.ufeats) == (100.0, 50.0, 100.0)
    assert (scores.alltags, scores.lemmas) == (50.0, 50.0)
    assert (scores.clas, scores.mlas, scores.blex) == (100.0, 100.0, 100.0)
    # A label of a content word in place of `det` gives a content word too many.
    other = sentence("a a DET DT _ 2 amod", "dog cat NOUN NN _ 0 root")
    scores = score([gold], [other])
    assert (scores.clas, scores.mlas, scores.blex) == (pytest.approx(200 / 3), 0.0, 0.0)


def test_punctuation_left_out_does_not_count_for_any_column() -> None:
    gold = sentence("dog dog NOUN NN _ 0 root", ". . PUNCT . _ 1 dep")
    predicted = sentence("dog dog NOUN NN _ 0 root", ". ! X : _ 1 obj")
    every, some = score([gold], [predicted]), score([gold], [predicted], "ud")
    names = ("upos", "xpos", "alltags", "lemmas", "las", "clas", "mlas", "blex")
    assert {getattr(every, name) for name in names} == {50.0}
    assert {getattr(some, name) for name in names} == {100.0}
    only = sentence("the the DET DT _ 0 det")
    assert (score([only], [only]).clas, score([only], [only]).las) == (None, 100.0)


def test_a_sentence_of_gold_punctuation_only_is_an_exact_match() -> None:
    gold = [tree((0, "root"), upos="PUNCT"), tree((0, "root"), (1, "obj"))]
    predicted = [tree((1, "dep")), tree((0, "root"), (1, "nsubj"), upos="PUNCT PUNCT")]
    scores = score(gold, predicted, "ud", n_bins=2)
    assert (scores.n_words, scores.uem, scores.lem) == (2, 100.0, 50.0)
    assert scores.lengths[0] == LengthScore(1, 1, 0, None, None)


@pytest.mark.parametrize(
    ("rule", "left_out"),
    [
        ("none", ""),
        ("ptb", ". « 。 -- `` '' _ ¿?"),
        ("conllx", ". « 。 -- '' _ … ¿?"),
        ("ud", ". « 。 -- `` '' -LRB- … ¿?"),
    ],
)
def test_each_rule_leaves_out_its_words(rule: Punctuation, left_out: str) -> None:
    sentence = tree(
        *[(0, "root")] * 18,
        forms=". « 。 -- a. `` '' $ -LRB- _ … Mr. ¿? + ` = -1- №",
        upos="PUNCT PUNCT PUNCT PUNCT X PUNCT PUNCT SYM PUNCT X PUNCT PROPN PUNCT SYM X X X X",
        xpos=". `` PU : LS `` '' $ -LRB- , NFP NNP . SYM # HYPH NN PUNCT",
    )
    found = [word.form for word in sentence.words if is_punctuation(word, rule)]
    assert found == left_out.split()


def test_relations_by_hand() -> None:
    relations = {relation.label: relation for relation in score(GOLD, PREDICTED).relations}
    assert list(relations) == ["root", "obj", "nsubj:pass", "punct"]
    # Three roots; w0 | w0 have the right head and label; three words were labelled root.
    two_thirds = pytest.approx(100 * 2 / 3)
    expected = RelationScore("root", 3, two_thirds, two_thirds, two_thirds, two_thirds)
    assert relations["root"] == expected
    assert relations["obj"] == RelationScore("obj", 2, 0.0, 0.0, 0.0, 0.0)
    # The head is right and the label nsubj:pass is never predicted.
    assert relations["nsubj:pass"] == RelationScore("nsubj:pass", 1, 100.0, 0.0, 0.0, 0.0)
    assert relations["punct"] == RelationScore("punct", 1, 100.0, 100.0, 100.0, 100.0)


def test_precision_and_recall_of_a_relation_differ() -> None:
    gold = tree((0, "root"), (1, "obj"), (1, "obj"))
    predicted = tree((0, "obj"), (1, "obj"), (2, "obj"))
    found = {relation.label: relation for relation in score([gold], [predicted]).relations}["obj"]
    assert found.las == pytest.approx(50.0)
    assert found.precision == pytest.approx(100 / 3)
    assert found.f1 == pytest.approx(40.0)


def test_lengths_are_bins_of_sorted_sentences() -> None:
    assert score(GOLD, PREDICTED, n_bins=2).lengths == (
        LengthScore(2, 2, 3, pytest.approx(100 / 3), pytest.approx(100 / 3)),
        LengthScore(4, 1, 4, 75.0, 50.0),
    )


@pytest.mark.parametrize(
    ("heads", "rates"),
    [
        ((0, 1, 2), (100.0, 100.0, 100.0)),
        ((0, 0, 2), (100.0, 100.0, 0.0)),
        ((3, 0, 2), (100.0, 0.0, 100.0)),  # 1-3 crosses ROOT-2
        ((2, 1, 0), (0.0, 0.0, 0.0)),
        ((1, 0, 2), (0.0, 0.0, 0.0)),  # a word on itself
    ],
)
def test_tree_rates_are_of_the_predicted_heads(
    heads: tuple[int, ...], rates: tuple[float, ...]
) -> None:
    predicted = tree(*[(head, "dep") for head in heads])
    scores = score([tree((0, "a"), (1, "b"), (2, "c"))], [predicted])
    assert (scores.tree_rate, scores.projective_rate, scores.single_root_rate) == rates


def test_there_must_be_something_to_score() -> None:
    with pytest.raises(DataError, match="no sentences to score"):
        score([], [])
    only = tree((0, "root"), upos="PUNCT")
    with pytest.raises(DataError, match="all are punctuation under the rule 'ud'"):
        score([only], [only], "ud")
    with pytest.raises(ValueError, match="n_bins is 0"):
        score(GOLD, GOLD, n_bins=0)


@pytest.mark.parametrize("blank_side", [0, 1])
def test_a_blank_head_on_either_side_is_an_error(blank_side: int) -> None:
    sides = [spell("gold", "a"), spell("gold", "a")]
    sides[blank_side] = spell("blank.conllu", "a/_")
    with pytest.raises(DataError, match=r"blank\.conllu:1: word 1 .* has no HEAD"):
        score(*sides)


@given(paired_treebanks(), RULES)
def test_identical_trees_score_100(treebanks: Treebanks, rule: Punctuation) -> None:
    scores = score(treebanks[0], treebanks[0], rule)
    assert percentages(scores) == [100.0] * 5
    assert all(
        (found.uas, found.las, found.precision, found.f1) == (100.0,) * 4
        for found in scores.relations
    )


@given(paired_treebanks(), RULES, st.booleans())
def test_labels_only_ever_lower_a_score(
    treebanks: Treebanks, rule: Punctuation, universal: bool
) -> None:
    scores = score(*treebanks, rule, universal)
    assert all(0.0 <= found <= 100.0 for found in percentages(scores))
    assert scores.uas >= scores.las
    assert scores.label_accuracy >= scores.las
    assert scores.uem >= scores.lem
    assert scores.tree_rate >= max(scores.projective_rate, scores.single_root_rate)


@given(paired_treebanks(), RULES, st.integers(1, 15))
def test_bins_and_relations_partition_the_words(
    treebanks: Treebanks, rule: Punctuation, n_bins: int
) -> None:
    scores = score(*treebanks, rule, n_bins=n_bins)
    sizes = [found.n_sentences for found in scores.lengths]
    last = [found.last_length for found in scores.lengths]
    assert len(sizes) == min(n_bins, scores.n_sentences)
    assert sum(sizes) == scores.n_sentences
    assert max(sizes) - min(sizes) <= 1
    assert last == sorted(last)
    assert last[-1] == max(map(len, treebanks[0]))
    assert sum(found.n_words for found in scores.lengths) == scores.n_words
    assert sum(found.count for found in scores.relations) == scores.n_words
    by_relation = sum(found.uas * found.count for found in scores.relations)
    assert by_relation / scores.n_words == pytest.approx(scores.uas)
