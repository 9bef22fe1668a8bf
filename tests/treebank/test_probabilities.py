"""Probabilities in MISC: sorted, replaced when written again, and nothing else lost."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from udtools import Validator

from headwise import Parse, sentence_from_words
from headwise.treebank.probabilities import MISC_KEYS, with_probabilities

PARSE = Parse(
    (2, 0),
    ("nsubj", "root"),
    (math.log(0.25), 1e-9),
    "greedy",
    ("NOUN", "VERB"),
    ("NNS", "VBP"),
    ("Number=Plur", "_"),
    ("kid", "sing"),
    {
        "labels": (0.99996, 0.5),
        "upos": (0.75, math.nan),
        "xpos": (0.125, 1.0),
        "feats": (0.3, 0.4),
        "lemma": (0.12345, 0.6),
    },
)
FIRST = (
    "FeatsProb=0.3000|HeadProb=0.2500|LabelProb=1.0000|LemmaProb=0.1235|UposProb=0.7500"
    "|XposProb=0.1250"
)


def misc_after(misc: str, parse: Parse = PARSE) -> str:
    sentence = sentence_from_words([("Kids", misc), ("sing", "_")], ["form", "misc"])
    return with_probabilities(sentence, parse).words[0].misc


def test_all_columns_are_written_and_kept_values_are_not() -> None:
    sentence = sentence_from_words([("Kids",), ("sing",)], ["form"]).with_parse(PARSE)
    written = with_probabilities(sentence, PARSE)
    assert written.words[0].misc == FIRST
    assert written.words[1].misc == (
        "FeatsProb=0.4000|HeadProb=1.0000|LabelProb=0.5000|LemmaProb=0.6000|XposProb=1.0000"
    )
    assert [word[:9] for word in written.words] == [word[:9] for word in sentence.words]
    assert with_probabilities(sentence_from_words([], []), Parse((), (), (), "greedy")).words == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("_", FIRST),
        ("SpaceAfter=No", FIRST.replace("|Upos", "|SpaceAfter=No|Upos")),
        ("Gloss=kids|note", FIRST.replace("|Head", "|Gloss=kids|Head").replace("|Up", "|note|Up")),
        ("b=2|a=1", f"b=2|a=1|{FIRST}"),
        (FIRST.replace("0", "9"), FIRST),
        ("HeadProb=0.1|LemmaProb=0.2|SpaceAfter=No", FIRST.replace("|Up", "|SpaceAfter=No|Up")),
    ],
)
def test_what_is_there_stays_and_old_probabilities_go(before: str, after: str) -> None:
    assert misc_after(before) == after
    assert misc_after(after) == after


@settings(derandomize=True, database=None, deadline=None)
@given(
    st.lists(
        st.from_regex(r"[A-Za-z]{1,4}(=[a-z0-9,;:]{0,3})?", fullmatch=True).filter(
            lambda part: part.partition("=")[0] not in MISC_KEYS.values()
        ),
        min_size=1,
        max_size=6,
    )
)
def test_nothing_of_others_is_lost_or_moved(parts: list[str]) -> None:
    ours = tuple(f"{key}=" for key in MISC_KEYS.values())
    after = misc_after("|".join(parts)).split("|")
    assert [part for part in after if not part.startswith(ours)] == parts
    assert sorted(after) == sorted([*parts, *FIRST.split("|")])


def test_a_parse_with_nothing_but_heads() -> None:
    parse = replace(PARSE, column_probs={}, head_log_probs=(math.nan, 0.0))
    assert misc_after("_", parse) == "_"
    assert misc_after("HeadProb=0.1|Typo=Yes", parse) == "Typo=Yes"


def test_the_validator_of_ud_finds_no_error(tmp_path: object) -> None:
    sentence = sentence_from_words(
        [("Kids", "_"), ("sing", "_")], ["form", "misc"], ["# sent_id = 1", "# text = Kids sing"]
    ).with_parse(PARSE)
    path = f"{tmp_path}/a.conllu"
    with open(path, "wb") as stream:
        stream.write(with_probabilities(sentence, PARSE).data)
    state = Validator(level=2).validate_files([path])
    assert state.passed(), [str(error) for error in state.error_tracker]
