"""Every word is read once, whole, where it has most context; nothing is truncated."""

import sys

import made_encoders
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.errors import ConfigError, ModelError, install
from headwise.vocabulary.subwords import (
    MAX_CHARACTERS,
    MAX_SUBWORDS,
    SETTINGS,
    TOKENIZER,
    Subwords,
    Windows,
    join_windows,
    lay_windows,
    open_tokenizer,
    read_subwords,
    subword_files,
)

SUBWORDS = made_encoders.subwords()
ROOM = SUBWORDS.settings.room


def strings_of(form: str, cutter: Subwords = SUBWORDS) -> list[str]:
    cutter.open()
    assert cutter._opened is not None
    return [cutter._opened.id_to_token(i) for i in cutter.ids_of(form).tolist()]


def test_words_are_cut_as_the_tokenizer_cuts_them() -> None:
    assert strings_of("Kids") == ["kids"]
    assert strings_of("loving") == ["l", "##o", "##v", "##ing"]
    assert strings_of("candy-love") == ["candy", "-", "love"]
    opened = open_tokenizer(SUBWORDS.tokenizer, "")
    forms = ["Kids", "adore", "candy", "!"]
    whole = opened.encode(forms, is_pretokenized=True)
    assert SUBWORDS.windows_of(forms).ids.tolist() == [whole.ids]


@pytest.mark.parametrize("form", ["", "\u00ad", "\u200b", " ", "走", "\x00"])
def test_a_word_that_is_cut_into_nothing_is_unknown(form: str) -> None:
    assert strings_of(form) == ["[UNK]"]


def test_a_lone_surrogate_is_a_question_mark() -> None:
    assert strings_of("\ud800") == ["?"]


@pytest.mark.parametrize("form", ["[SEP]", "[CLS]"])
def test_a_word_spelled_like_a_special_token_is_a_word(form: str) -> None:
    assert {2, 3}.isdisjoint(SUBWORDS.ids_of(form).tolist())


def test_both_ends_of_a_long_word_are_cut_and_kept() -> None:
    n = MAX_SUBWORDS // 2
    small = made_encoders.subwords(window=100)
    expected = ["a", *["##a"] * (n - 1), *["##z"] * n]
    assert strings_of("a" * 50_000 + "z" * 50_000, small) == expected
    assert strings_of("a" * 20 + "z" * 20, small) == expected
    assert max(map(len, small._cache.words)) == MAX_CHARACTERS
    narrow = made_encoders.subwords(window=7)  # two windows share three
    assert strings_of("abcdefgh", narrow) == ["a", "##b", "##h"]


def test_root_is_read_at_the_start_and_words_at_their_first_subword() -> None:
    windows = SUBWORDS.windows_of(["kids", "loving", "candy"])
    assert windows.ids.shape == (1, 8)
    assert windows.reads.tolist() == [0, 1, 2, 6]
    assert windows.ids.dtype == windows.reads.dtype == np.int32
    nothing = SUBWORDS.windows_of([])
    assert nothing.ids.tolist() == [[2, 3]]
    assert nothing.reads.tolist() == [0]


def test_the_example_in_the_docstring() -> None:
    starts, width, chosen = lay_windows(np.ones(5, np.int64), 4)
    assert starts.tolist() == [0, 1]
    assert width == 4
    assert chosen.tolist() == [0, 0, 0, 1, 1]


laid = st.integers(2, 30).flatmap(
    lambda room: st.tuples(
        st.lists(st.integers(1, min(MAX_SUBWORDS, room - room // 2)), max_size=80), st.just(room)
    )
)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(laid)
def test_each_word_is_whole_in_the_window_with_most_context(case: tuple[list[int], int]) -> None:
    lengths, room = np.array(case[0], np.int64), case[1]
    starts, width, chosen = lay_windows(lengths, room)
    total = int(lengths.sum())
    assert width == min(total, room)
    assert (len(starts) == 1) == (total <= room)
    assert starts[0] == 0
    assert starts[-1] + width == total
    steps = np.diff(starts)
    assert (steps >= 1).all()
    assert (room - steps >= room / 2).all()  # each overlaps the one before by half or more
    ends = np.cumsum(lengths)
    for begin, end, window in zip(ends - lengths, ends, chosen, strict=True):
        poorer = np.minimum(begin - starts, starts + width - end)  # negative where it is not whole
        assert window == poorer.argmax()
        assert poorer[window] >= 0


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.lists(st.text(max_size=30), max_size=40), st.integers(5, 40))
def test_any_sentence_is_read_whole(forms: list[str], window: int) -> None:
    cutter = made_encoders.subwords(window=window)
    windows = cutter.windows_of(forms)
    n_windows, width = windows.ids.shape
    assert width <= window
    assert len(windows.reads) == len(forms) + 1
    assert (windows.ids[:, 0] == 2).all()
    assert (windows.ids[:, -1] == 3).all()
    flat = windows.ids.reshape(-1)
    for form, read in zip(forms, windows.reads[1:].tolist(), strict=True):
        ids = cutter.ids_of(form)
        assert flat[read : read + len(ids)].tolist() == ids.tolist()
        assert read // width == (read + len(ids)) // width  # and [SEP] is still to come
    assert n_windows == 1 or width == window


def test_a_sentence_of_many_thousand_words_is_cheap() -> None:
    windows = made_encoders.subwords(window=512).windows_of(["kids", "loving"] * 50_000)
    assert windows.ids.shape[1] == 512
    assert len(set(windows.reads.tolist())) == 100_001


def test_a_batch_holds_the_windows_of_each_sentence() -> None:
    sentences = [["kids"], ["loving"] * 12, [], ["candy", "love"]]
    laid_out = [SUBWORDS.windows_of(forms) for forms in sentences]
    batch = join_windows(laid_out, 13)
    assert batch.ids.shape == batch.mask.shape == (sum(len(w.ids) for w in laid_out), 22)
    assert batch.reads.shape == (4, 13)
    assert batch.mask.sum() == sum(w.ids.size for w in laid_out)
    assert not batch.ids[~batch.mask].any()
    for windows, reads in zip(laid_out, batch.reads, strict=True):
        own = batch.ids.reshape(-1)[reads[: len(windows.reads)]]
        assert own.tolist() == windows.ids.reshape(-1)[windows.reads].tolist()
        assert not reads[len(windows.reads) :].any()
    alone = join_windows([Windows(laid_out[1].ids, laid_out[1].reads)], 13)
    assert np.array_equal(alone.reads[0], laid_out[1].reads)


def test_files_are_read_as_they_were_written() -> None:
    files = subword_files(SUBWORDS)
    assert set(files) == {TOKENIZER, SETTINGS}
    again = read_subwords(files.__getitem__, "there")
    assert again.settings == SUBWORDS.settings
    forms = ["kids", "loving"] * 9
    assert np.array_equal(again.windows_of(forms).ids, SUBWORDS.windows_of(forms).ids)


@pytest.mark.parametrize(
    "changes",
    [{"window": 3}, {"window": 513}, {"before": []}, {"n_ids": 3}, {"unknown": -1}, {"size": 0},
     {"more": 1}, {"window": 4, "after": [3, 3]}],
)  # fmt: skip
def test_impossible_settings_are_refused(changes: dict[str, object]) -> None:
    table = msgspec.to_builtins(SUBWORDS.settings) | changes
    files = {SETTINGS: msgspec.json.encode(table), TOKENIZER: SUBWORDS.tokenizer}
    with pytest.raises(ModelError, match=r"there/encoder.json") as caught:
        read_subwords(files.__getitem__, "there")
    assert caught.value.hint


def test_settings_that_are_nested_deeply_are_refused() -> None:
    settings = msgspec.json.encode(SUBWORDS.settings)[:-2] + b'"a":' + b"[" * 10**6
    with pytest.raises(ModelError, match=r"there/encoder.json"):
        read_subwords({SETTINGS: settings}.__getitem__, "there")


def test_a_damaged_or_too_large_tokenizer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (b"", b"{}", b"\xff\xfe", b'{"model": {"type": "code"}}'):
        with pytest.raises(ModelError, match=r"there/tokenizer.json: not a tokenizer"):
            Subwords(SUBWORDS.settings, data, "there").open()
    with pytest.raises(ModelError, match="more subwords than the transformer"):
        made_encoders.subwords(n_ids=50).windows_of(["kids"])
    monkeypatch.setattr("headwise.vocabulary.subwords.MAX_TOKENIZER_BYTES", 2**10)
    with pytest.raises(ModelError, match="larger than 0 MiB"):
        open_tokenizer(SUBWORDS.tokenizer, "there")


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ConfigError, match=r"there: .* needs tokenizers") as caught:
        Subwords(SUBWORDS.settings, SUBWORDS.tokenizer, "there").ids_of("kids")
    assert caught.value.hint == install("encoder")
