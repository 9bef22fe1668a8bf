"""The paired bootstrap: what must hold for any two parsers, and where the answer is known."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from made_texts import paired_texts, read, spell
from made_trees import paired_treebanks, tree

from headwise.evaluate.raw import METRICS, RawScores, score_raw
from headwise.evaluate.scores import Scores, score
from headwise.evaluate.significance import paired_bootstrap, paired_bootstrap_raw
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import Sentence

EWT = Path(__file__).parents[1] / "fixtures" / "ewt-dev-100.conllu"

GOLD = tree((0, "root"), (1, "obj"), (1, "punct"), upos="VERB NOUN PUNCT")
WRONG = tree((0, "root"), (3, "obj"), (1, "punct"))


def scores_of(n_right: int, n_wrong: int, wrong_first: bool = False) -> Scores:
    sides = [GOLD] * n_right, [WRONG] * n_wrong
    predicted = sides[1] + sides[0] if wrong_first else sides[0] + sides[1]
    return score([GOLD] * (n_right + n_wrong), predicted)


@settings(max_examples=30)
@given(paired_treebanks())
def test_a_parser_does_not_differ_from_itself(treebanks: tuple[list[Sentence], ...]) -> None:
    scores = score(*treebanks)
    found = paired_bootstrap(scores, scores, n_samples=50)
    for difference in (found.uas, found.las):
        assert (difference.points, difference.low, difference.high) == (0.0, 0.0, 0.0)
        assert difference.p_value == 1.0


@settings(max_examples=30)
@given(paired_treebanks())
def test_swapping_the_parsers_flips_the_sign(treebanks: tuple[list[Sentence], ...]) -> None:
    best, other = score(treebanks[0], treebanks[0], "ud"), score(*treebanks, "ud")
    one = paired_bootstrap(best, other, n_samples=50)
    two = paired_bootstrap(other, best, n_samples=50)
    assert one.uas.points == -two.uas.points <= 0.0
    assert one.las.low == pytest.approx(-two.las.high)
    assert one.las.p_value == two.las.p_value


def test_a_clearly_better_parser_has_a_small_p_value() -> None:
    found = paired_bootstrap(scores_of(50, 50), scores_of(90, 10))
    assert found.uas.points == pytest.approx(100 * 40 / 300)
    assert 0.0 < found.uas.low < found.uas.points < found.uas.high
    assert found.uas.p_value == pytest.approx(2 / 10_001)
    assert (found.n_sentences, found.n_samples) == (100, 10_000)


def test_parsers_that_err_on_different_sentences_do_not_differ() -> None:
    found = paired_bootstrap(scores_of(50, 50), scores_of(50, 50, wrong_first=True))
    assert found.uas.points == 0.0
    assert found.uas.low < 0.0 < found.uas.high
    assert found.uas.p_value > 0.5


def test_the_interval_has_the_width_of_theory() -> None:
    # Of 400 one-word sentences the second parser wins 100: the gain is binomial(400, 1/4) / 400.
    gold, wrong = tree((0, "root")), tree((1, "root"))
    first = score([gold] * 400, [wrong] * 400)
    second = score([gold] * 400, [gold] * 100 + [wrong] * 300)
    found = paired_bootstrap(first, second).uas
    deviation = 100 * np.sqrt(0.25 * 0.75 / 400)
    assert found.low == pytest.approx(25 - 1.96 * deviation, abs=0.3)
    assert found.high == pytest.approx(25 + 1.96 * deviation, abs=0.3)


def test_the_seed_decides_and_blocks_do_not() -> None:
    first, second = scores_of(50, 50), scores_of(60, 40)
    one = paired_bootstrap(first, second, n_samples=200, seed=7)
    assert one == paired_bootstrap(first, second, n_samples=200, seed=7, block_cells=1)
    assert one != paired_bootstrap(first, second, n_samples=200, seed=8)


def test_f1_over_content_words_is_resampled_with_its_own_totals() -> None:
    # The second parser calls one of two content words `det`, so it has fewer of them.
    gold = tree((0, "root"), (1, "obj"), upos="VERB NOUN")
    worse = tree((0, "root"), (1, "det"), upos="VERB NOUN")
    first, second = score([gold] * 30, [gold] * 30), score([gold] * 30, [worse] * 30)
    found = paired_bootstrap(first, second, n_samples=20)
    assert (found.clas.first, found.clas.second) == (100.0, pytest.approx(200 / 3))
    assert (found.clas.low, found.clas.high) == pytest.approx((-100 / 3, -100 / 3))
    assert (found.clas.second, found.mlas.second) == (second.clas, second.mlas)
    assert (found.upos.points, found.upos.p_value) == (0.0, 1.0)
    only = tree((0, "det"))
    nothing = paired_bootstrap(score([only], [only]), score([only], [only]), n_samples=5)
    assert (nothing.clas.points, nothing.clas.p_value) == (0.0, 1.0)


def test_sentences_without_scored_words_are_not_drawn() -> None:
    gold = [tree((0, "root"), upos="PUNCT")] * 50 + [tree((0, "root"), upos="NOUN")]
    wrong = [tree((1, "root"))] * 51
    found = paired_bootstrap(score(gold, wrong, "ud"), score(gold, gold, "ud"), n_samples=20)
    assert (found.uas.low, found.uas.high) == (100.0, 100.0)


def test_what_cannot_be_compared_is_refused() -> None:
    for first, second in (
        (scores_of(2, 2), scores_of(2, 3)),
        (score([GOLD], [GOLD], "ud"), score([GOLD], [GOLD])),
    ):
        with pytest.raises(ValueError, match="not of the same sentences"):
            paired_bootstrap(first, second)
    with pytest.raises(ValueError, match="n_samples is 0"):
        paired_bootstrap(scores_of(1, 1), scores_of(1, 1), n_samples=0)


def raw_scores(gold: str, predicted: str) -> RawScores:
    return score_raw(spell("gold", gold), spell("out", predicted))


def test_passages_of_two_parsers_are_joined_where_either_crosses() -> None:
    gold = "a b|c d|e f|g h"
    joined_first, joined_last = (
        raw_scores(gold, "a b c d|e f|g h"),
        raw_scores(gold, "a b|c d|e f g h"),
    )
    found = paired_bootstrap_raw(joined_first, joined_last, n_samples=50)
    assert found.n_passages == 2
    assert found.sentences.first == found.sentences.second == pytest.approx(100 * 4 / 7)
    chain = raw_scores(gold, "a b c d|e f g h"), raw_scores(gold, "a b|c d e f|g h")
    assert paired_bootstrap_raw(*chain, n_samples=5).n_passages == 1


@given(paired_texts())
@settings(max_examples=30, deadline=None)
def test_scores_of_raw_text_stay_what_they_are(texts: tuple[str, str]) -> None:
    gold, predicted = (read(name, text) for name, text in zip(("gold", "out"), texts, strict=True))
    first, second = score_raw(gold, predicted), score_raw(gold, gold)
    found = paired_bootstrap_raw(first, second, n_samples=20)
    for name in METRICS:
        difference = getattr(found, name)
        assert difference.first == pytest.approx(getattr(first, name).f1 or 0.0)
        assert difference.second == pytest.approx(getattr(second, name).f1 or 0.0)
    back = paired_bootstrap_raw(second, first, n_samples=20)
    assert back.las.points == pytest.approx(-found.las.points)


def test_words_alone_are_compared_as_by_sentences() -> None:
    gold = list(read_sentences(EWT))
    wrong = [
        s.with_words(
            [w._replace(deprel="x" if i % 7 == 0 else w.deprel) for i, w in enumerate(s.words)]
        )
        for s in gold
    ]
    by_sentence = paired_bootstrap(score(gold, wrong), score(gold, gold), n_samples=100)
    by_passage = paired_bootstrap_raw(score_raw(gold, wrong), score_raw(gold, gold), n_samples=100)
    assert by_passage.n_passages == by_sentence.n_sentences
    assert by_passage.las == by_sentence.las


def test_raw_scores_of_other_gold_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match="not of the same gold sentences"):
        paired_bootstrap_raw(raw_scores("a b", "a b"), raw_scores("a b c", "a b c"))
