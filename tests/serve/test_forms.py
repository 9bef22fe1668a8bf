import contextlib

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.serve.forms import read_parts, read_query
from headwise.serve.limits import Refusal

KIND = 'multipart/form-data; boundary="x y"'
NAMES = st.text("abcdefgh", min_size=1, max_size=8)
VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=10), st.booleans())
def test_forms_of_a_real_client_are_read(fields: dict[str, str], as_files: bool) -> None:
    if as_files:
        sent = {name: ("file.txt", value.encode()) for name, value in fields.items()}
        request = httpx.Request("POST", "http://x", files=sent)
        read = read_parts(request.read(), request.headers["content-type"])
    else:
        read = read_query(httpx.Request("POST", "http://x", data=fields).read())
    assert read == fields


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([KIND, "multipart/form-data; boundary=a", "x"]))
def test_any_bytes_are_read_or_refused(body: bytes, kind: str) -> None:
    for read in (lambda: read_parts(body, kind), lambda: read_query(body)):
        with contextlib.suppress(Refusal):
            assert all(isinstance(value, str) for value in read().values())


def test_names_without_values() -> None:
    assert read_query("tokenizer&data=a+b%C3%A9&parser=") == {
        "tokenizer": "", "data": "a bé", "parser": "",
    }  # fmt: skip
    assert read_query("data=Děti".encode()) == {"data": "Děti"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--x y\r\n",
        b'--x y\r\nContent-Disposition: form-data; name="a"\r\n\r\nb',
        b"--x y\r\nContent-Disposition: form-data\r\n\r\nb\r\n--x y--\r\n",
        b'--x y\r\nContent-Disposition: form-data; name="a"\r\n--x y--\r\n',
        b'--x y\r\nContent-Disposition: form-data; name="a"\r\n\r\n\xff\r\n--x y--\r\n',
        b'--x y\r\nContent-Disposition: form-data; name="a"\r\n'
        b"Content-Transfer-Encoding: base64\r\n\r\nYQ==\r\n--x y--\r\n",
        b'--x y\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n' * 100 + b"--x y--",
    ],
)
def test_broken_parts_are_refused(body: bytes) -> None:
    with pytest.raises(Refusal) as refusal:
        read_parts(body, KIND)
    assert refusal.value.status == 400


def test_broken_queries_are_refused() -> None:
    for query in (b"data=%ff", b"data=\xff", b"a&" * 100):
        with pytest.raises(Refusal, match="form"):
            read_query(query)
