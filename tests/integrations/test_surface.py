"""Tokens of segmented text: joined with their spaces, they are the text again."""

from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import headwise
from headwise.integrations.surface import SurfaceToken, cover_text, sentence_starts, surface_tokens
from headwise.text.segmenter import Segmenter
from headwise.treebank.sentence import Sentence, TokenRow, sentence_from_tokens

FIXED = settings(max_examples=80, deadline=None, derandomize=True, database=None)
ALPHABET = "Kids don't. So? “é” \n\n\t\r  \x00\x85\u2028\u0301TokenRange=5:|#語한😀"
TEXT = st.text(st.sampled_from(ALPHABET) | st.characters(codec="utf-8"), max_size=60)


@cache
def segmenter() -> Segmenter:
    found = headwise.load().segmenter
    assert found is not None
    return found


def text_of(text: str, tokens: list[SurfaceToken]) -> str:
    return "".join(text[token.start : token.end] + " " * token.has_space for token in tokens)


def sentence_of(text: str, *parts: tuple[str, tuple[str, ...]]) -> Sentence:
    """Make a sentence of tokens, each with the words that it expands to, if any."""
    rows: list[TokenRow] = []
    end = 0
    for form, words in parts:
        start = text.index(form, end)
        end = start + len(form)
        rows.append((form, f"TokenRange={start}:{end}", tuple((word, "_") for word in words)))
    return sentence_from_tokens(rows)


@FIXED
@given(TEXT)
@example("")
@example(" \n ")
@example("  Kids  love candy.\n\n\nSo do I. ")
def test_tokens_and_their_spaces_are_the_text(text: str) -> None:
    tokens = list(cover_text(text, segmenter().segment(text)))
    assert text_of(text, tokens) == text
    assert all(token.start < token.end for token in tokens)
    assert [token.starts_sentence for token in tokens][:1] == [True] * bool(tokens)


def test_white_space_other_than_a_single_space_is_a_token() -> None:
    text = " Kids  love\ncandy. \n"
    tokens = list(cover_text(text, segmenter().segment(text)))
    cut = [(text[token.start : token.end], token.has_space) for token in tokens]
    assert cut == [
        (" ", False), ("Kids", True), (" ", False), ("love", False), ("\n", False),
        ("candy", False), (".", True), ("\n", False),
    ]  # fmt: skip
    assert [token.starts_sentence for token in tokens] == [True, *[False] * 7]


@pytest.mark.parametrize(
    ("form", "words", "shares"),
    [
        ("zum", ("zu", "dem"), ["zu", "m"]),
        ("do", ("de", "o"), ["d", "o"]),
        ("DO", ("DE", "O"), ["D", "O"]),
        ("vê-lo", ("ver", "lo"), ["vê-", "lo"]),
        ("abych", ("aby", "bych"), ["a", "bych"]),
        ("dámelo", ("da", "me", "lo"), ["dá", "me", "lo"]),
        ("au", ("à", "le"), ["a", "u"]),
        ("xyz", ("xyz", "xyz", "xyz"), ["x", "y", "z"]),
    ],
)
def test_a_token_that_expands_is_divided(
    form: str, words: tuple[str, ...], shares: list[str]
) -> None:
    text = f"Hm {form} ."
    tokens = list(cover_text(text, [sentence_of(text, ("Hm", ()), (form, words), (".", ()))]))
    assert text_of(text, tokens) == text
    assert [text[token.start : token.end] for token in tokens] == ["Hm", *shares, "."]
    assert [token.form for token in tokens] == [None, *words, None]
    assert [token.has_space for token in tokens] == [True, *[False] * (len(words) - 1), True, False]


def test_a_token_with_fewer_characters_than_words_stays_one() -> None:
    sentence = sentence_of("à vista", ("à", ("a", "a")), ("vista", ()))
    assert [token.form for token in surface_tokens(sentence)] == [None, None]
    assert [(token.start, token.end) for token in surface_tokens(sentence)] == [(0, 1), (2, 7)]


@FIXED
@given(st.text("abcé\u0301", min_size=1, max_size=8), st.lists(st.text("abcé", min_size=1)))
def test_any_expansion_covers_its_token(form: str, words: list[str]) -> None:
    text = f" {form}\n"
    tokens = list(cover_text(text, [sentence_of(text, (form, tuple(words)))]))
    assert text_of(text, tokens) == text
    assert len(tokens) == 2 + (max(1, len(words)) if len(words) <= len(form) else 1)


@FIXED
@given(st.lists(TEXT, max_size=5))
@example(["\ufeffOne.", "\ufeffTwo. Three."])
@example(["One.\r", "\nTwo. Three.", "", " \n", "TokenRange=99:100 four"])
def test_sentences_start_at_the_same_places_alone_and_together(texts: list[str]) -> None:
    together = [starts.tolist() for starts in sentence_starts(texts, segmenter().segment)]
    assert together == [
        [surface_tokens(sentence)[0].start for sentence in segmenter().segment(text)]
        for text in texts
    ]


def test_a_sentence_may_start_with_a_token_of_several_words() -> None:
    sentence = sentence_of("Do outro lado", ("Do", ("De", "o")), ("outro", ()), ("lado", ()))
    (starts,) = sentence_starts(["Do outro lado"], lambda _: [sentence])
    assert starts.tolist() == [0]
