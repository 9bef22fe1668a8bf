"""What training has seen for forms and endings, against a slow count of the same words."""

import json
import lzma
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.arrays import FloatArray
from headwise.errors import ModelError
from headwise.treebank.conllu import read_sentences
from headwise.treebank.sentence import Word, sentence_from_words
from headwise.vocabulary.features import split_feats
from headwise.vocabulary.lexicon import (
    MAX_ENDING,
    MAX_JSON_BYTES,
    MAX_PER_FORM,
    MAX_RARE,
    MIN_ENDING_COUNT,
    Lexicon,
    build_lexicon,
    join_lexicons,
    pack_lexicon,
    unpack_lexicon,
)

FIXTURES = Path(__file__).parents[1] / "fixtures"
COLUMNS = ["form", "upos", "feats", "lemma"]


def words_of(*rows: tuple[str, ...]) -> list[Word]:
    return list(sentence_from_words(rows, COLUMNS).words)


WORDS = words_of(
    ("walks", "VERB", "Number=Sing|Person=3", "walk"),
    ("walks", "NOUN", "Number=Plur", "walk"),
    ("walks", "NOUN", "Number=Plur", "walk"),
    ("Walks", "PROPN", "Number=Sing", "Walks"),
    ("talks", "VERB", "Number=Sing|Person=3", "talk"),
    ("is", "AUX", "_", "be"),
    ("teh", "DET", "Typo=Yes", "the"),
)


def value_names(words: list[Word]) -> list[tuple[str, str]]:
    """Name the P numbers: tags by frequency of their analyses, then values by feature."""
    counts = Counter((word.upos, word.feats) for word in words)
    analyses = sorted(counts, key=lambda a: (-counts[a], a))
    tags = dict.fromkeys(("", upos) for upos, _ in analyses)
    n_analyses: dict[str, Counter[str]] = {}
    for _, feats in analyses:
        for name, value in split_feats(feats).items():
            n_analyses.setdefault(name, Counter())[value] += 1
    values = []
    for name in sorted(n_analyses, key=lambda name: (name.lower(), name)):
        of_name = n_analyses[name]
        values += [(name, "")]
        values += [(name, value) for value in sorted(of_name, key=lambda v: (-of_name[v], v))]
    return [*tags, *values]


def shares(words: Counter[tuple[str, str]], names: list[tuple[str, str]]) -> list[float]:
    """Give the share of words with each tag and value; weights stand for words."""
    total = words.total()
    seen: Counter[tuple[str, str]] = Counter()
    for (upos, feats), n in words.items():
        seen["", upos] += n
        for pair in split_feats(feats).items():
            seen[pair] += n
    return [seen[name] / total if total else 0.0 for name in names]


def slow_prior(words: list[Word], form: str, names: list[tuple[str, str]]) -> list[float]:
    """Count everything anew, word by word."""
    seen = Counter((word.upos, word.feats) for word in words if word.form == form)
    if not seen:
        seen = Counter((word.upos, word.feats) for word in words if word.form == form.lower())
    totals = Counter(word.form for word in words)
    for length in range(min(MAX_ENDING, len(form.lower())), 0, -1):
        ending = form.lower()[-length:]
        by_form = Counter(
            (word.form, word.upos, word.feats)
            for word in words
            if word.form.lower().endswith(ending) and totals[word.form] <= MAX_RARE
        )
        like: Counter[tuple[str, str]] = Counter()
        for (_, upos, feats), n in by_form.items():
            like[upos, feats] += min(n, MAX_PER_FORM)
        if like.total() >= MIN_ENDING_COUNT:
            break
    else:
        length, like = 0, Counter()
    more = [math.log1p(seen.total()), length / MAX_ENDING]
    return shares(seen, names) + shares(like, names) + more


FORMS = st.text("abA", min_size=1, max_size=MAX_ENDING + 2)
ANALYSES = st.sampled_from(
    [("NOUN", "_"), ("NOUN", "B=1"), ("VERB", "a=1|B=2"), ("X", "a=2"), ("VERB", "B=1")]
)
TREEBANKS = st.lists(st.tuples(FORMS, ANALYSES, st.sampled_from([1, 1, 2, 3, 4, 20, 21])))


@settings(derandomize=True, database=None, max_examples=200)
@given(TREEBANKS, FORMS)
def test_a_prior_is_what_a_slow_count_gives(rows: list[Any], form: str) -> None:
    words = words_of(*((f, *analysis, f) for f, analysis, n in rows for _ in range(n)))
    lexicon = build_lexicon(words)
    for asked in {form, *(word.form for word in words)}:
        exact = slow_prior(words, asked, value_names(words))
        np.testing.assert_allclose(lexicon.prior_of(asked), exact, atol=1e-6)


@settings(derandomize=True, database=None, max_examples=200)
@given(TREEBANKS)
def test_a_word_does_not_count_among_what_was_seen_for_it(rows: list[Any]) -> None:
    words = words_of(*((f, *analysis, f) for f, analysis, n in rows for _ in range(n)))
    lexicon, names = build_lexicon(words), value_names(words)
    for i in {words.index(word) for word in words}:
        others = words[:i] + words[i + 1 :]
        own = words[i].upos, words[i].feats
        exact = slow_prior(others, words[i].form, names)
        np.testing.assert_allclose(lexicon.prior_of(words[i].form, own), exact, atol=1e-6)


def test_a_prior_has_shares_for_the_form_and_for_its_ending() -> None:
    lexicon = build_lexicon(WORDS)
    names = value_names(WORDS)
    prior = lexicon.prior_of("walks")
    assert len(prior) == lexicon.prior_size == 2 * len(names) + 2
    of_form = dict(zip(names, prior, strict=False))
    assert of_form["", "NOUN"] == of_form["Number", "Plur"] == pytest.approx(2 / 3)
    assert of_form["", "VERB"] == of_form["Person", "3"] == pytest.approx(1 / 3)
    assert prior[-2] == pytest.approx(math.log(4))
    new = lexicon.prior_of("balks")
    assert not new[: len(names)].any()
    of_ending = dict(zip(names, new[len(names) :], strict=False))
    assert of_ending["", "VERB"] == pytest.approx(2 / 5)
    assert new[-2:].tolist() == pytest.approx([0, 4 / MAX_ENDING])
    assert not lexicon.prior_of("q").any()


def test_a_form_is_looked_up_in_lower_case_if_it_is_new() -> None:
    lexicon = build_lexicon(WORDS)
    np.testing.assert_array_equal(lexicon.prior_of("TALKS")[:-2], lexicon.prior_of("talks")[:-2])
    assert lexicon.prior_of("Walks")[-2] == pytest.approx(math.log(2))
    own = ("PROPN", "Number=Sing")
    assert lexicon.prior_of("Walks", own)[-2] == pytest.approx(math.log(4))


def test_endings_are_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    lexicon, fresh = build_lexicon(WORDS), build_lexicon(WORDS)
    monkeypatch.setattr("headwise.vocabulary.lexicon.MAX_CACHED_ENDINGS", 2)
    forms = ["walks", "talks", "is", "s", "ks", "alks", "walks"]
    twice = [lexicon.prior_of(form) for form in forms * 2]
    for form, prior in zip(forms * 2, twice, strict=True):
        np.testing.assert_array_equal(prior, fresh.prior_of(form))
        fresh = build_lexicon(WORDS)


def test_a_lemma_is_that_of_the_form_with_its_analysis() -> None:
    lexicon = build_lexicon(WORDS)
    assert lexicon.lemma_of("walks", "NOUN", "Number=Plur") == "walk"
    assert lexicon.lemma_of("Walks", "PROPN", "Number=Sing") == "Walks"
    assert lexicon.lemma_of("is", "AUX", "_") == "be"
    for unknown in (("walks", "PROPN", "Number=Sing"), ("walk", "NOUN", "_"), ("is", "X", "_")):
        assert lexicon.lemma_of(*unknown) is None


def test_typos_teach_no_lemma_and_the_most_frequent_lemma_wins() -> None:
    assert build_lexicon(WORDS).lemma_of("teh", "DET", "Typo=Yes") is None
    words = words_of(*[("axes", "NOUN", "_", lemma) for lemma in ("ax", "axis", "axis", "_")])
    assert build_lexicon(words).lemma_of("axes", "NOUN", "_") == "axis"


def same(one: Lexicon, other: Lexicon) -> bool:
    parts = ("analyses", "rules", "forms", "accuracy")
    arrays = ("starts", "entries")
    return all(getattr(one, part) == getattr(other, part) for part in parts) and all(
        np.array_equal(getattr(one, array), getattr(other, array)) for array in arrays
    )


def priors(lexicon: Lexicon, forms: list[str]) -> FloatArray:
    return np.array([lexicon.prior_of(form) for form in forms])


def test_a_lexicon_comes_back_from_its_file() -> None:
    names = ("ewt-dev-100.conllu", "coptic-20.conllu", "hand-made.conllu")
    words = [w for name in names for s in read_sentences(FIXTURES / name) for w in s.words]
    lexicon = build_lexicon(words).with_accuracy((0.5, 0.25))
    data = pack_lexicon(lexicon)
    again = unpack_lexicon(data, "lexicon.json.xz")
    assert same(again, lexicon)
    assert pack_lexicon(again) == data
    assert again.accuracy == (0.5, 0.25)
    assert len(lexicon) > 900
    forms = sorted({word.form for word in words})[::9]
    np.testing.assert_array_equal(priors(again, forms), priors(lexicon, forms))
    nothing = build_lexicon([])
    assert same(unpack_lexicon(pack_lexicon(nothing), "l"), nothing)
    assert nothing.prior_of("walks").tolist() == [0, 0]


JSON = json.loads(lzma.decompress(pack_lexicon(build_lexicon(WORDS))))


def pack(value: object) -> bytes:
    return lzma.compress(json.dumps(value).encode())


def entry(at: int, value: int) -> dict[str, list[int]]:
    entries = list(JSON["entries"])
    entries[at] = value
    return {"entries": entries}


N_ANALYSES, N_RULES, N_FORMS = (len(JSON[key]) for key in ("analyses", "rules", "forms"))
WRONG_VALUES: dict[str, dict[str, Any]] = {
    "unknown key": {"more": 1},
    "number as form": {"forms": [1] * N_FORMS},
    "form twice": {"forms": [JSON["forms"][0], *JSON["forms"][:-1]]},
    "form too few": {"forms": JSON["forms"][:-1]},
    "not sorted by endings": {"forms": JSON["forms"][::-1]},
    "form without entry": {"sizes": [0, JSON["sizes"][0] + JSON["sizes"][1], *JSON["sizes"][2:]]},
    "negative size": {"sizes": [-1, *JSON["sizes"][1:]]},
    "size too large": {"sizes": [2**40, *JSON["sizes"][1:]]},
    "sizes do not fit": {"sizes": [JSON["sizes"][0] + 1, *JSON["sizes"][1:]]},
    "entry cut off": {"entries": JSON["entries"][:-1]},
    "analysis twice": {"analyses": [JSON["analyses"][1], *JSON["analyses"][1:]]},
    "analysis of three": {"analyses": [["A", "_", "_"], *JSON["analyses"][1:]]},
    "analysis with a tab": {"analyses": [["A\t", "_"], *JSON["analyses"][1:]]},
    "empty analysis": {"analyses": [["", "_"], *JSON["analyses"][1:]]},
    "no such analysis": entry(0, N_ANALYSES),
    "negative analysis": entry(0, -1),
    "count of nothing": entry(1, 0),
    "count too large": entry(1, 2**31),
    "no such rule": entry(2, N_RULES),
    "rule below none": entry(2, -2),
    "no rule": {"rules": ["lower", *JSON["rules"][1:]]},
    "rule that writes a line": {"rules": ["!a\n", *JSON["rules"][1:]]},
    "accuracy above one": {"accuracy": [1.5, 1.0]},
    "accuracy not a number": {"accuracy": [None, 1.0]},
    "a table too large": {
        "analyses": [[f"T{i}", f"F{i}=1"] for i in range(10_000)],
    },
}
DAMAGED = {
    "nothing": b"",
    "not packed": json.dumps(JSON).encode(),
    "packed file cut off": pack(JSON)[:-3],
    "more after its end": pack(JSON) + b"more",
    "packed twice": lzma.compress(pack(JSON)),
    "more than it should hold": lzma.compress(bytes(MAX_JSON_BYTES + 1), preset=0),
    "cut off": lzma.compress(json.dumps(JSON).encode()[:-3]),
    "not text": lzma.compress(json.dumps(JSON).encode().replace(b'"walks"', b'"\xff"')),
    "not an object": pack([]),
    "missing key": pack({k: v for k, v in JSON.items() if k != "forms"}),
    **{name: pack(JSON | change) for name, change in WRONG_VALUES.items()},
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_lexicon_is_refused(data: bytes) -> None:
    with pytest.raises(ModelError) as refusal:
        unpack_lexicon(data, "model/lexicon.json.xz")
    assert str(refusal.value).startswith("model/lexicon.json.xz: ")
    assert refusal.value.hint == "the model folder is damaged; fetch it again"


def test_counts_of_joined_lexicons_stay_within_bounds() -> None:
    most = pack(JSON | entry(1, 2**31 - 1))
    lexicon = unpack_lexicon(most, "model/lexicon.json.xz")
    joined = join_lexicons(lexicon, lexicon)
    assert joined.entries[1].max() == 2**31 - 1
