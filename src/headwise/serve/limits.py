"""What a request may be: refusals, bodies of bounded size, sentences of bounded number and length.

Everything that comes from outside passes here before it costs much. A `Refusal` becomes an answer
with its status; nothing is cut short silently.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping

from starlette.requests import ClientDisconnect, Request

from headwise.settings.serving import ServeConfig
from headwise.treebank.sentence import Sentence

BODIES_AT_ONCE = 16
"""So many bodies of the largest size are held while they arrive; more in all are refused."""
PATIENCE = 4
"""A body up to so many times too large is read to its end, so that its sender hears why not."""
CLOSE = {"connection": "close"}


class Refusal(Exception):  # noqa: N818 - the name says what it is to the one who asked
    """A request that is not answered as it wished, and what to do about it."""

    def __init__(
        self,
        status: int,
        what: str,
        hint: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Keep what the answer is made of."""
        super().__init__(what)
        self.status = status
        self.what = what
        self.hint = hint
        self.headers = dict(headers or {})


class Bodies:
    """Reads the bodies of requests, never more bytes at a time than there is room for."""

    def __init__(self, max_bytes: int, max_seconds: float) -> None:
        """Take the limits of a server."""
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds
        self._room = BODIES_AT_ONCE * max_bytes

    async def read(self, request: Request) -> bytes:
        """Read a body, or refuse it: too large, too slow, packed, or too many at a time."""
        if request.headers.get("content-encoding", "identity") != "identity":
            raise Refusal(415, "the body is packed", "send it without Content-Encoding", CLOSE)
        declared = request.headers.get("content-length", "0")
        if not declared.isascii() or not declared.isdigit() or len(declared) > 18:
            raise Refusal(400, "Content-Length is no number", None, CLOSE)
        if int(declared) > PATIENCE * self._max_bytes:
            raise self._too_large(CLOSE)
        try:
            async with asyncio.timeout(self._max_seconds):
                return await self._collect(request)
        except TimeoutError:
            message = f"the request took longer than {self._max_seconds:g} s to arrive"
            raise Refusal(408, message, None, CLOSE) from None
        except ClientDisconnect:
            raise Refusal(400, "the request ended before its body", None, CLOSE) from None

    async def _collect(self, request: Request) -> bytes:
        parts: list[bytes] = []
        n_bytes = n_held = 0
        try:
            async for part in request.stream():
                n_bytes += len(part)
                if n_bytes > PATIENCE * self._max_bytes:
                    raise self._too_large(CLOSE)
                if n_bytes <= self._max_bytes:
                    self._room -= len(part)
                    n_held += len(part)
                    parts.append(part)
                if self._room < 0:
                    raise Refusal(429, "too many large requests at a time", None, soon() | CLOSE)
        finally:
            self._room += n_held
        if n_bytes > self._max_bytes:
            raise self._too_large()
        return b"".join(parts)

    def _too_large(self, headers: Mapping[str, str] | None = None) -> Refusal:
        hint = "send it in parts" if headers is None else "send it in parts, far smaller ones"
        return Refusal(413, f"the body has more than {self._max_bytes:,} bytes", hint, headers)


def soon(seconds: int = 1) -> dict[str, str]:
    """Say when to come back."""
    return {"retry-after": str(seconds)}


def within(sentences: Iterable[Sentence], limits: ServeConfig) -> Iterator[Sentence]:
    """Let sentences through while they are not too many, too long, or of words too long."""
    n_words = 0
    for n_sentences, sentence in enumerate(sentences, 1):
        n_words += len(sentence)
        _at_most(n_sentences, limits.max_sentences, "sentences in a request")
        _at_most(n_words, limits.max_words, "words in a request")
        _at_most(len(sentence), limits.max_sentence_words, "words in a sentence")
        longest = max((len(word.form) for word in sentence.words), default=0)
        _at_most(longest, limits.max_token, "characters in a word")
        yield sentence


def _at_most(n: int, most: int, what: str) -> None:
    if n > most:
        raise Refusal(413, f"more than {most:,} {what}", "send it in parts")
