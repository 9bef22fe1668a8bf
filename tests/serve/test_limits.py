import asyncio

import pytest
from starlette.requests import Request

from headwise import Sentence, sentence_from_words
from headwise.serve.limits import Bodies, Refusal, within
from headwise.settings.serving import ServeConfig

LIMITS = ServeConfig(max_sentences=3, max_words=6, max_sentence_words=4, max_token=5)


def sentence(*forms: str) -> Sentence:
    return sentence_from_words([(form,) for form in forms], ["form"])


def test_what_is_small_passes_as_it_is() -> None:
    given = [sentence("a", "b", "c", "d"), sentence(), sentence("abcde", "f")]
    assert list(within(given, LIMITS)) == given


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ([sentence()] * 4, "more than 3 sentences"),
        ([sentence("a", "b", "c")] * 3, "more than 6 words in a request"),
        ([sentence(*"abcde")], "more than 4 words in a sentence"),
        ([sentence("abcdef")], "more than 5 characters"),
    ],
)
def test_what_is_too_large_is_refused(given: list[Sentence], what: str) -> None:
    with pytest.raises(Refusal, match=what) as refusal:
        list(within(given, LIMITS))
    assert refusal.value.status == 413
    assert refusal.value.hint


@pytest.mark.parametrize("length", [b"abc", b"-1", b"\xb2", b"1" * 30])
def test_a_length_is_a_number(length: bytes) -> None:
    request = Request({"type": "http", "headers": [(b"content-length", length)]})
    with pytest.raises(Refusal, match="no number"):
        asyncio.run(Bodies(1_000, 1).read(request))
