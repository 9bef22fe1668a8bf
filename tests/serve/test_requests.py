import asyncio
import contextlib
import threading
import time
import tracemalloc
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request

from headwise import Sentence, sentence_from_words
from headwise.serve.requests import (
    SMALL_BYTES,
    BodyReader,
    Refusal,
    read_multipart,
    read_query,
    require_media_type,
    within_limits,
)
from headwise.settings.serving import ServeConfig

LIMITS = ServeConfig(max_sentences=3, max_words=6, max_sentence_words=4, max_token=5)
KIND = 'multipart/form-data; boundary="x y"'
NAMES = st.text("abcdefgh", min_size=1, max_size=8)
VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
PART = b'--x y\r\nContent-Disposition: form-data; name="a"\r\n'


def sentence(*forms: str) -> Sentence:
    return sentence_from_words([(form,) for form in forms], ["form"])


def test_sentences_within_the_limits_pass_unchanged() -> None:
    sentences = [sentence("a", "b", "c", "d"), sentence(), sentence("abcde", "f")]
    assert list(within_limits(sentences, LIMITS)) == sentences


@pytest.mark.parametrize(
    ("sentences", "what"),
    [
        ([sentence()] * 4, "more than 3 sentences"),
        ([sentence("a", "b", "c")] * 3, "more than 6 words in a request"),
        ([sentence(*"abcde")], "more than 4 words in a sentence"),
        ([sentence("abcdef")], "more than 5 characters"),
    ],
)
def test_too_many_or_too_long_sentences_are_refused(sentences: list[Sentence], what: str) -> None:
    with pytest.raises(Refusal, match=what) as refusal:
        list(within_limits(sentences, LIMITS))
    assert refusal.value.status == 413
    assert refusal.value.hint


@pytest.mark.parametrize("length", [b"abc", b"-1", b"\xb2", b"1" * 30])
def test_content_length_must_be_a_number(length: bytes) -> None:
    request = Request({"type": "http", "headers": [(b"content-length", length)]})
    reader = BodyReader(1_000, 1)
    with pytest.raises(Refusal, match="not a number"):
        asyncio.run(reader.read(request, bytes))
    reader.close()


def test_a_large_body_is_decoded_in_a_thread() -> None:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    reader = BodyReader(10**6, 1)
    for n_bytes, is_large in ((SMALL_BYTES, False), (SMALL_BYTES + 1, True)):
        body = bytes(n_bytes)
        request = Request({"type": "http", "method": "POST", "headers": []}, receive)
        thread = asyncio.run(reader.read(request, lambda _: threading.current_thread()))
        assert (thread is not threading.current_thread()) == is_large
    reader.close()


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=10), st.booleans())
def test_forms_of_a_real_client_are_read(fields: dict[str, str], as_files: bool) -> None:
    if as_files:
        sent = {name: ("file.txt", value.encode()) for name, value in fields.items()}
        request = httpx.Request("POST", "http://x", files=sent)
        read = read_multipart(request.read(), request.headers["content-type"])
    else:
        read = read_query(httpx.Request("POST", "http://x", data=fields).read())
    assert read == fields


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.binary(max_size=50), st.just(PART), st.just(b"--x y--\r\n"))),
    st.sampled_from([KIND, "multipart/form-data; boundary=a", "x"]),
)
def test_any_bytes_are_read_or_refused(parts: list[bytes], kind: str) -> None:
    body = b"".join(parts)
    for read in (lambda: read_multipart(body, kind), lambda: read_query(body)):
        with contextlib.suppress(Refusal):
            assert all(isinstance(value, str) for value in read().values())


def test_fields_are_decoded_or_refused() -> None:
    assert read_query(b"tokenizer&data=a+b%C3%A9&parser=&") == {
        "tokenizer": "", "data": "a bé", "parser": "",
    }  # fmt: skip
    assert read_query("data=Děti".encode()) == {"data": "Děti"}
    body = PART + b"Content-Transfer-Encoding: base64\r\n\r\nS2lkcw==\r\n--x y--\r\n"
    assert read_multipart(body, KIND) == {"a": "Kids"}
    for query in (b"data=%ff", b"data=\xff", b"a&" * 100):
        with pytest.raises(Refusal, match="form"):
            read_query(query)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--x y\r\n",
        PART + b"\r\nb",
        b"--x y\r\nContent-Disposition: form-data\r\n\r\nb\r\n--x y--\r\n",
        PART + b"--x y--\r\n",
        PART + b"\r\n\xff\r\n--x y--\r\n",
        PART + b"Content-Transfer-Encoding: gzip\r\n\r\nb\r\n--x y--\r\n",
        PART + b"Content-Transfer-Encoding: base64\r\n\r\n!\r\n--x y--\r\n",
        (PART + b"\r\nb\r\n") * 100 + b"--x y--\r\n",
        PART + b"A: b\r\n" * 100 + b"\r\nb\r\n--x y--\r\n",
    ],
)
def test_broken_multipart_forms_are_refused(body: bytes) -> None:
    for kind in (
        KIND,
        "multipart/form-data",
        "multipart/form-data; boundary*=utf-8''x; boundary*0=x",
    ):
        with pytest.raises(Refusal) as refusal:
            read_multipart(body, kind)
        assert refusal.value.status == 400


@given(st.integers(SMALL_BYTES - 5, SMALL_BYTES + 5), st.booleans())
def test_long_values_are_unquoted_piece_by_piece(n_letters: int, is_escaped: bool) -> None:
    text = "a" * n_letters + ("+%é\N{SNOWMAN}" * 3)
    value = quote(text, safe="") if is_escaped else text.replace("%", "%25").replace("+", "%2b")
    assert read_query(b"data=" + value.encode()) == {"data": text}


def test_escapes_take_little_memory() -> None:
    """A form of 4 MB took 468 MB."""
    query = b"data=" + b"%41" * 300_000
    tracemalloc.start()
    assert read_query(query) == {"data": "A" * 300_000}
    assert tracemalloc.get_traced_memory()[1] < 10 * len(query)
    tracemalloc.stop()


def test_part_headers_take_linear_time() -> None:
    """A quote and many semicolons took 32 s for 200 KB."""
    header = b'Content-Disposition: form-data; name="' + b";" * 200_000
    started = time.perf_counter()
    with pytest.raises(Refusal, match="eader"):
        read_multipart(b"--x y\r\n" + header + b"\r\n\r\nb\r\n--x y--\r\n", KIND)
    request = Request({"type": "http", "headers": [(b"content-type", b'a/b; c="' + b";" * 60_000)]})
    with pytest.raises(Refusal, match="more than 1,000 characters"):
        require_media_type(request, "a/b")
    assert time.perf_counter() - started < 1
