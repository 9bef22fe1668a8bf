"""F1 against counts made by hand."""

import numpy as np
import pytest

from headwise.learn.segment.score import SegmentScores, score_segmentation
from headwise.text.expand import Expansions
from headwise.text.symbols import to_codes


def test_scores_by_hand() -> None:
    codes = to_codes("ab do.\u2029")
    rules = Expansions({"do": ("de", "o")})
    gold = np.array([0, 2, 0, 0, 10, 6, 0], np.uint8)
    words = {4: ("de", "o")}
    assert score_segmentation(codes, gold, words, gold, rules) == SegmentScores(100, 100, 100)
    split = np.array([1, 6, 0, 0, 2, 6, 0], np.uint8)
    scores = score_segmentation(codes, gold, words, split, rules)
    assert scores.tokens == 100
    assert scores.words == pytest.approx(200 * 1 / (4 + 4))
    assert scores.sentences == 0
    nothing = score_segmentation(codes, gold, words, gold, Expansions())
    assert nothing.words == pytest.approx(200 * 2 / (4 + 3))
