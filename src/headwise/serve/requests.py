"""Read and check what a request brings: type, size, JSON or form, number and length of sentences.

Everything that comes from outside passes here before it costs much. A `Refusal` becomes a response
with its status; nothing is cut short silently. Bodies of more than `SMALL_BYTES` are decoded in a
thread, since that can take a second, and the event loop has other connections to serve.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar
from urllib.parse import unquote_to_bytes

import msgspec
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import File, FormParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from headwise.settings.serving import ServeConfig
from headwise.treebank.sentence import Sentence

SMALL_BYTES = 65_536
"""A body or a response up to this size is always held; the room for larger ones is bounded."""
LARGE_BODIES = 8
"""So many bodies of the largest size may be in memory; what would exceed that gets 429."""
OVERSIZE = 4
"""A body up to this many times too large is read to its end, so that its sender gets the 413."""
CLOSE = {"connection": "close"}
MAX_FIELDS = 32
MAX_PART_HEADERS = 8
MAX_PART_HEADER_BYTES = 2_048
MAX_CONTENT_TYPE = 1_000
_FORM_HINT = "send UTF-8, and parts with Content-Disposition: form-data; name=..."
_JSON_EXAMPLE = '{"text": "Kids love candy."}'
_FIELDS_HINT = "/openapi.json lists all fields and the values they may have"
_SURROGATE_HINT = r"a lone surrogate such as \ud83d is not a character"
Decoded = TypeVar("Decoded")


class Refusal(Exception):  # noqa: N818 - it is an answer, not a fault
    """A request that gets an error as its response, and what the client can do about it."""

    def __init__(
        self,
        status: int,
        what: str,
        hint: str | None = None,
        headers: Mapping[str, str] | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        """Keep the parts of the response; `details` are next to `error` in its JSON."""
        super().__init__(what)
        self.status = status
        self.what = what
        self.hint = hint
        self.headers = dict(headers or {})
        self.details = dict(details or {})


def retry_after(seconds: int = 1) -> dict[str, str]:
    """Make the header that tells a client when to try again."""
    return {"retry-after": str(seconds)}


class Room:
    """A number of bytes that large bodies, or large responses, may take together."""

    def __init__(self, n_bytes: int, refusal: Refusal) -> None:
        """Start with all of it free; `refusal` is raised when it is used up."""
        self._n_free = n_bytes
        self._refusal = refusal

    @contextmanager
    def hold(self) -> Iterator[Callable[[int], None]]:
        """Give a function that takes bytes; they are free again when the block ends.

        The first `SMALL_BYTES` are not counted, so that large requests never crowd out small ones.
        """
        n_total = n_held = 0

        def take(n_bytes: int) -> None:
            nonlocal n_total, n_held
            n_total += n_bytes
            n_more = max(0, n_total - SMALL_BYTES) - n_held
            if n_more > self._n_free:
                raise self._refusal
            self._n_free -= n_more
            n_held += n_more

        try:
            yield take
        finally:
            self._n_free += n_held


class BodyReader:
    """Reads and decodes the bodies of requests within the limits of the server."""

    def __init__(self, max_bytes: int, max_seconds: float) -> None:
        """Start the thread that decodes large bodies."""
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds
        full = Refusal(429, "too many large requests at a time", None, retry_after() | CLOSE)
        self._room = Room(LARGE_BODIES * max_bytes, full)
        self._decoder = ThreadPoolExecutor(1, thread_name_prefix="headwise-decode")

    async def read(self, request: Request, decode: Callable[[bytes], Decoded]) -> Decoded:
        """Read a body and decode it; refuse one that is too large, too slow or compressed."""
        if request.headers.get("content-encoding", "identity") != "identity":
            raise Refusal(415, "the body is compressed", "send it without Content-Encoding", CLOSE)
        declared = request.headers.get("content-length", "0")
        if not declared.isascii() or not declared.isdigit() or len(declared) > 18:
            raise Refusal(400, "Content-Length is not a number", None, CLOSE)
        if int(declared) > OVERSIZE * self._max_bytes:
            raise self._too_large(CLOSE)
        with self._room.hold() as take:
            try:
                async with asyncio.timeout(self._max_seconds):
                    body = await self._collect(request, take)
            except TimeoutError:
                what = f"the request took longer than {self._max_seconds:g} s to arrive"
                raise Refusal(408, what, None, CLOSE) from None
            except ClientDisconnect:
                raise Refusal(400, "the request ended before its body", None, CLOSE) from None
            if len(body) <= SMALL_BYTES:
                return decode(body)
            return await asyncio.get_running_loop().run_in_executor(self._decoder, decode, body)

    def close(self) -> None:
        """End the thread."""
        self._decoder.shutdown()

    async def _collect(self, request: Request, take: Callable[[int], None]) -> bytes:
        body = bytearray()
        n_bytes = 0
        async for part in request.stream():
            n_bytes += len(part)
            if n_bytes > OVERSIZE * self._max_bytes:
                raise self._too_large(CLOSE)
            if n_bytes <= self._max_bytes:
                take(len(part))
                body += part
        if n_bytes > self._max_bytes:
            raise self._too_large()
        return bytes(body)

    def _too_large(self, headers: Mapping[str, str] | None = None) -> Refusal:
        what = f"the body has more than {self._max_bytes:,} bytes"
        return Refusal(413, what, "send it in several requests", headers)


def require_media_type(request: Request, *allowed: str) -> str:
    """Return the media type of a body, which must be one of `allowed`, in UTF-8."""
    header = request.headers.get("content-type", "")
    if len(header) > MAX_CONTENT_TYPE:
        raise Refusal(415, f"Content-Type has more than {MAX_CONTENT_TYPE:,} characters")
    kind, _, rest = header.partition(";")
    kind = kind.strip().lower()
    if kind not in allowed:
        raise Refusal(
            415,
            f"Content-Type is {kind[:60]!r}" if kind else "there is no Content-Type",
            f"send {' or '.join(allowed)}",
        )
    for parameter in rest.lower().replace('"', "").split(";"):
        name, _, value = parameter.strip().partition("=")
        if name == "charset" and value not in ("utf-8", "utf8", "us-ascii"):
            raise Refusal(415, f"the charset is {value[:40]!r}", "send UTF-8")
    return kind


def read_json(body: bytes, kind: type[Decoded]) -> Decoded:
    """Decode a JSON body as a struct."""
    if not body:
        raise Refusal(400, "the body is empty", _JSON_EXAMPLE)
    try:
        body.decode("utf-8")
        return msgspec.json.decode(body, type=kind)
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} of the body is not UTF-8"
        raise Refusal(400, what, "send UTF-8") from None
    except msgspec.ValidationError as error:
        raise Refusal(400, f"the body is not a valid request: {error}", _FIELDS_HINT) from None
    except (msgspec.MsgspecError, RecursionError) as error:
        hint = _SURROGATE_HINT if b"\\ud" in body.lower() else _JSON_EXAMPLE
        raise Refusal(400, f"the body is not JSON: {error}", hint) from None


def read_query(query: bytes) -> dict[str, str]:
    """Read `name=value&name=value`; a name without a value is empty, the last of a name wins."""
    if query.count(b"&") >= MAX_FIELDS:
        raise Refusal(400, f"the form has more than {MAX_FIELDS} fields")
    pairs = (field.partition(b"=") for field in query.split(b"&") if field)
    try:
        return {_unquote(name): _unquote(value) for name, _, value in pairs}
    except UnicodeDecodeError as error:
        raise Refusal(400, f"the form is not UTF-8: {error.reason}", "encode it as UTF-8") from None


def _unquote(value: bytes) -> str:
    """Decode percent signs and plus signs, some at a time: each becomes an object on the way."""
    decoded = bytearray()
    start = 0
    while start < len(value):
        end = start + SMALL_BYTES
        cut = value.find(b"%", end - 2, end)  # no escape is cut in two
        end = end if cut < 0 else cut + 3
        decoded += unquote_to_bytes(value[start:end].replace(b"+", b" "))
        start = end
    return decoded.decode("utf-8")


def read_multipart(body: bytes, content_type: str) -> dict[str, str]:
    """Read `multipart/form-data`; a file is a field like any other, and is held in memory."""
    fields: list[tuple[bytes, bytes]] = []
    is_complete = False

    def add(name: bytes | None, value: bytes | None) -> None:
        if len(fields) == MAX_FIELDS:
            raise Refusal(400, f"the form has more than {MAX_FIELDS} fields")
        fields.append((name or b"", value or b""))

    def add_file(file: File) -> None:
        file.file_object.seek(0)
        add(file.field_name, file.file_object.read())

    def end() -> None:
        nonlocal is_complete
        is_complete = True

    try:
        _, parameters = parse_options_header(content_type)
        FormParser(
            "multipart/form-data",
            lambda field: add(field.field_name, field.value),
            add_file,
            end,
            parameters.get(b"boundary"),
            config={
                "MAX_HEADER_COUNT": MAX_PART_HEADERS,
                "MAX_HEADER_SIZE": MAX_PART_HEADER_BYTES,
                "MAX_MEMORY_FILE_SIZE": len(body),
                "UPLOAD_ERROR_ON_BAD_CTE": True,
            },
        ).write(body)
        decoded = {name.decode("utf-8"): value.decode("utf-8") for name, value in fields}
    except (FormParserError, UnicodeDecodeError) as error:
        raise Refusal(400, f"the form cannot be read: {error}"[:200], _FORM_HINT) from None
    if not is_complete:
        raise Refusal(400, "the form does not end with its boundary", _FORM_HINT)
    return decoded


def within_limits(sentences: Iterable[Sentence], limits: ServeConfig) -> Iterator[Sentence]:
    """Pass sentences on, up to the limits on their number, their length and that of their words."""
    n_words = 0
    for n_sentences, sentence in enumerate(sentences, 1):
        n_words += len(sentence)
        require_at_most(n_sentences, limits.max_sentences, "sentences in a request")
        require_at_most(n_words, limits.max_words, "words in a request")
        require_at_most(len(sentence), limits.max_sentence_words, "words in a sentence")
        longest = max((len(word.form) for word in sentence.words), default=0)
        require_at_most(longest, limits.max_token, "characters in a word")
        yield sentence


def require_at_most(count: int, limit: int, what: str) -> None:
    """Refuse a request that has more of something than the server allows."""
    if count > limit:
        raise Refusal(413, f"more than {limit:,} {what}", "send it in several requests")
