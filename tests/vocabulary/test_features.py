"""FEATS taken apart and put together again, new combinations too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.vocabulary.features import ABSENT, Features, collect_features, split_feats

WORDS = [
    ("NOUN", "Case=Nom|Number=Sing"),
    ("NOUN", "Case=Acc|Number=Sing"),
    ("NOUN", "Case=Nom|abbr=Yes"),
    ("VERB", "Number=Plur|VerbForm=Fin"),
    ("PUNCT", "_"),
]
FEATURES = collect_features(WORDS)
NAMES = st.text("abAB", min_size=1, max_size=3)
FEATS = st.dictionaries(NAMES, st.text("xyz", min_size=1, max_size=2), max_size=4).map(
    lambda given: (
        "|".join(f"{n}={given[n]}" for n in sorted(given, key=lambda n: (n.lower(), n))) or "_"
    )
)


def test_features_are_sorted_without_regard_to_case_and_values_by_frequency() -> None:
    assert FEATURES.values == {
        "abbr": ("Yes",),
        "Case": ("Nom", "Acc"),
        "Number": ("Sing", "Plur"),
        "VerbForm": ("Fin",),
    }
    assert (len(FEATURES), FEATURES.width, FEATURES.n_scores) == (4, 3, 10)


def test_a_combination_that_training_never_saw_is_written_sorted() -> None:
    assert FEATURES.write([1, 2, 2, 1]) == "abbr=Yes|Case=Acc|Number=Plur|VerbForm=Fin"
    assert FEATURES.write([ABSENT] * 4) == "_"
    with pytest.raises(ValueError, match="zip"):
        FEATURES.write([1])


def test_unknown_features_and_values_count_as_none() -> None:
    assert FEATURES.positions_of("Case=Dat|Mood=Ind|Number=Plur") == (0, 0, 2, 0)
    assert FEATURES.positions_of("_") == (0, 0, 0, 0)
    assert split_feats("Case=Nom|odd|Gloss=a=b") == {"Case": "Nom", "Gloss": "a=b"}


def test_a_feature_without_a_name_or_a_value_is_not_learned() -> None:
    """A model that had one could not be loaded."""
    features = collect_features([("NOUN", "=x|Case=|Number=Sing"), ("NOUN", "Case=Nom|=")])
    assert features.values == {"Case": ("Nom",), "Number": ("Sing",)}
    assert features.positions_of("Number=Sing") == (0, 1)


def test_a_tag_goes_with_the_features_that_training_saw_with_it() -> None:
    assert FEATURES.goes_with("NOUN").tolist() == [True, True, True, False]
    assert FEATURES.goes_with("VERB").tolist() == [False, False, True, True]
    assert FEATURES.goes_with("PUNCT").tolist() == [False] * 4
    assert FEATURES.goes_with("NEW").tolist() == [True] * 4


def test_scores_of_all_values_stand_in_one_row() -> None:
    assert FEATURES.layout.tolist() == [[0, 1, -1], [2, 3, 4], [5, 6, 7], [8, 9, -1]]
    assert FEATURES.layout.dtype == np.int32
    nothing = Features()
    assert (len(nothing), nothing.width, nothing.n_scores) == (0, 1, 0)


@settings(derandomize=True, database=None)
@given(st.lists(st.tuples(st.sampled_from(["NOUN", "VERB"]), FEATS), max_size=6))
def test_what_training_saw_comes_back(words: list[tuple[str, str]]) -> None:
    features = collect_features(words)
    for upos, feats in words:
        positions = features.positions_of(feats)
        assert features.write(positions) == feats
        goes_with = features.goes_with(upos)
        assert all(goes_with[i] for i, position in enumerate(positions) if position != ABSENT)
