"""A word has the same n-grams everywhere, a new one shares them, and the work is bounded."""

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.vocabulary.ngrams import (
    END_LENGTH,
    MIN_TOGETHER,
    N_NGRAM_SPECIALS,
    PAD_NGRAM,
    ROOT_NGRAM,
    Ngrams,
)

LONGEST = sum(2 * END_LENGTH + more for more in (0, 1, 0, -1))
"""N-grams of the longest word that is read whole: of one character, two, three and four."""


def bucket(ngram: str, n_buckets: int) -> int:
    return zlib.crc32(ngram.encode()) % n_buckets + N_NGRAM_SPECIALS


def test_a_word_is_cut_into_all_its_ngrams() -> None:
    ngrams = ["a", "b", "<a", "ab", "b>", "<ab", "ab>", "<ab>"]
    assert Ngrams(1000).ids_of("ab").tolist() == [bucket(ngram, 1000) for ngram in ngrams]
    assert Ngrams(1000).ids_of("").tolist() == [bucket("<>", 1000)]


def test_words_that_training_never_saw_share_ngrams() -> None:
    ngrams = Ngrams(100_000)
    walked, talked, other = (set(ngrams.ids_of(w).tolist()) for w in ("walked", "talked", "sun"))
    assert len(walked & talked) > len(walked) / 2
    assert not walked & other
    assert walked != set(ngrams.ids_of("Walked").tolist())


def test_only_both_ends_of_a_very_long_word_are_read() -> None:
    ngrams = Ngrams(1000)
    long = ngrams.ids_of("a" * 50_000 + "z" * 50_000)
    assert long.tolist() == ngrams.ids_of("a" * END_LENGTH + "z" * END_LENGTH).tolist()
    assert len(long) == LONGEST


def test_the_cache_is_bounded_in_number_and_in_size() -> None:
    ngrams = Ngrams(100, max_cached=3)
    before = [ngrams.ids_of(f"{i}" * 1000).tolist() for i in range(10)]
    assert len(ngrams._cache.words) <= 3
    assert max(map(len, ngrams._cache.words)) == 2 * END_LENGTH
    assert [ngrams.ids_of(f"{i}" * 1000).tolist() for i in range(10)] == before


def test_without_buckets_there_are_no_ngrams() -> None:
    none = Ngrams(0)
    assert none.ids_of("walked").shape == (0,)
    assert none.ids_of("walked").dtype == np.int32
    assert len(none) == N_NGRAM_SPECIALS


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    form=st.text(st.characters(exclude_categories=()), max_size=60), n_buckets=st.integers(1, 50)
)
def test_any_word_has_ngrams_within_bounds(form: str, n_buckets: int) -> None:
    ngrams = Ngrams(n_buckets)
    ids = ngrams.ids_of(form)
    assert ids.tolist() == ngrams.ids_of(form).tolist() == Ngrams(n_buckets).ids_of(form).tolist()
    assert ids.dtype == np.int32
    assert 1 <= len(ids) <= LONGEST
    assert set(ids.tolist()) <= set(range(N_NGRAM_SPECIALS, len(ngrams)))
    assert {PAD_NGRAM, ROOT_NGRAM}.isdisjoint(ids.tolist())


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(
    forms=st.lists(st.text(st.characters(max_codepoint=200), max_size=25), max_size=60),
    n_buckets=st.sampled_from([1, 7, 10_000, 10_000_000]),
)
def test_words_cut_together_have_the_ngrams_of_each(forms: list[str], n_buckets: int) -> None:
    alone = Ngrams(n_buckets)
    forms = [*forms, *map(str, range(MIN_TOGETHER))]
    together = Ngrams(n_buckets).ids_of_all(forms)
    assert [ids.dtype for ids in together] == [np.int32] * len(forms)
    assert [ids.tolist() for ids in together] == [alone.ids_of(form).tolist() for form in forms]
    assert [ids.shape for ids in Ngrams(0).ids_of_all(forms)] == [(0,)] * len(forms)


def test_words_cut_together_are_not_cut_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ngrams = Ngrams(100)
    monkeypatch.setattr(ngrams._cache, "_cut", None)
    assert len(ngrams.ids_of_all([f"word{i}" for i in range(MIN_TOGETHER)])) == MIN_TOGETHER
