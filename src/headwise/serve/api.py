"""The JSON API: `POST /parse`, and what a server tells of itself.

`openapi.json` beside this page describes it for programs, `docs/serving.md` for people.
"""

import io
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import Any, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from headwise.runtime.parser import Parser
from headwise.serve.answers import answer_conllu, answer_json
from headwise.serve.limits import Refusal, within
from headwise.serve.metrics import CONTENT_TYPE
from headwise.serve.models import with_settings
from headwise.serve.service import service_of
from headwise.settings.choices import Decoder
from headwise.text.segmenter import read_text
from headwise.treebank.conllu import read_stream
from headwise.treebank.sentence import Sentence
from headwise.version import VERSION

NAME = "<request>"
"""What stands for the file in messages about the input."""
LETTERS_PER_WORD = 5
"""A guess at how many words a text has before anybody has looked for them."""
LETTERS_PER_LINE = 200
"""A word with its columns is shorter as a rule; what is not takes up room in the queue."""
JSON = "application/json"
EXAMPLE = '{"text": "Kids love candy."}'
FIELDS = "format: json or conllu; decoder: greedy, mst or eisner; all else is in /openapi.json"
SURROGATES = r"half of a pair, like \ud83d alone, is no character"
PLAIN = "text/plain; charset=utf-8"


class ParseRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The body of `POST /parse`: one of `text`, `tokens` and `conllu`."""

    text: str | None = None
    tokens: list[list[str]] | None = None
    conllu: str | None = None
    model: str | None = None
    format: Literal["json", "conllu"] = "json"
    distribution: bool = False
    pictures: bool = False
    keep_tags: bool = False
    decoder: Decoder | None = None


async def parse(request: Request) -> Response:
    """Answer `POST /parse`."""
    service = service_of(request)
    require_type(request, JSON)
    asked = _read_request(await service.bodies.read(request))
    name = service.models.choose(asked.model)
    parser = with_settings(service.models.parsers[name], asked.decoder, asked.keep_tags)
    sentences, n_words = _sentences(asked, parser)
    bounded = within(sentences, service.config)
    if asked.format == "conllu":
        work = answer_conllu(bounded, parser)
    else:
        work = answer_json(name, bounded, parser, asked.distribution, asked.pictures)
    answer = await service.run(request, work, n_words)
    return Response(answer, media_type=PLAIN if asked.format == "conllu" else JSON)


async def list_models(request: Request) -> Response:
    """Answer `GET /models`, for us and for UDPipe's clients."""
    known = service_of(request).models
    return as_json({"models": known.components(), "default_model": known.default})


async def health(request: Request) -> Response:
    """Answer `GET /health`: whoever gets an answer talks to a server that can parse."""
    load = service_of(request).workers.load()
    return as_json({"status": "ok", "version": VERSION, "jobs": load.n_jobs})


async def metrics(request: Request) -> Response:
    """Answer `GET /metrics`."""
    service = service_of(request)
    text = service.metrics.as_text(service.workers.load())
    return Response(text, headers={"content-type": CONTENT_TYPE})


async def openapi(request: Request) -> Response:
    """Answer `GET /openapi.json`."""
    return as_json(description())


def description() -> dict[str, Any]:
    """Read the description of the API and fill in the release."""
    data = (files("headwise.serve") / "openapi.json").read_bytes()
    described: dict[str, Any] = msgspec.json.decode(data)
    described["info"]["version"] = VERSION
    return described


def as_json(value: object, status: int = 200) -> Response:
    """Write a value as an answer."""
    return Response(msgspec.json.encode(value), status, media_type=JSON)


def require_type(request: Request, *kinds: str) -> str:
    """Give the media type of a body, which must be one of `kinds`, in UTF-8."""
    kind, _, rest = request.headers.get("content-type", "").partition(";")
    kind = kind.strip().lower()
    if kind not in kinds:
        raise Refusal(
            415,
            f"Content-Type is {kind[:60]!r}" if kind else "there is no Content-Type",
            f"send {' or '.join(kinds)}",
        )
    for parameter in rest.lower().replace('"', "").split(";"):
        name, _, value = parameter.strip().partition("=")
        if name == "charset" and value not in ("utf-8", "utf8", "us-ascii"):
            raise Refusal(415, f"the charset is {value[:40]!r}", "send UTF-8")
    return kind


def _read_request(body: bytes) -> ParseRequest:
    if not body:
        raise Refusal(400, "the body is empty", EXAMPLE)
    try:
        body.decode("utf-8")
        asked = msgspec.json.decode(body, type=ParseRequest)
    except UnicodeDecodeError as error:
        raise Refusal(
            400, f"byte {error.start + 1} of the body is not UTF-8", "send UTF-8"
        ) from None
    except msgspec.ValidationError as error:
        raise Refusal(400, f"the body is no request: {error}", FIELDS) from None
    except (msgspec.MsgspecError, RecursionError) as error:
        hint = SURROGATES if b"\\ud" in body.lower() else EXAMPLE
        raise Refusal(400, f"the body is no JSON: {error}", hint) from None
    if sum(given is not None for given in (asked.text, asked.tokens, asked.conllu)) != 1:
        raise Refusal(400, "one of text, tokens and conllu is needed, and only one")
    return asked


def _sentences(asked: ParseRequest, parser: Parser) -> tuple[Iterable[Sentence], int]:
    """Give the sentences that were sent, to be read when their turn comes, and a guess at size."""
    if asked.conllu is not None:
        return read_treebank(asked.conllu), guess_words(asked.conllu, asked.conllu.count("\n"))
    if asked.tokens is not None:
        return _from_tokens(asked.tokens), 1 + sum(map(_weigh, asked.tokens))
    text = asked.text or ""
    return read_text(text, "text", parser.segmenter, NAME), guess_words(text)


def _weigh(tokens: list[str]) -> int:
    return max(len(tokens), sum(map(len, tokens)) // LETTERS_PER_LINE)


def guess_words(text: str, n_words: int | None = None) -> int:
    """Guess how many words there are, at least one; long lines weigh like many words."""
    if n_words is None:
        return 1 + len(text) // LETTERS_PER_WORD
    return 1 + max(n_words, len(text) // LETTERS_PER_LINE)


def read_treebank(text: str) -> Iterator[Sentence]:
    """Read CoNLL-U; nothing is unpacked."""
    for item in read_stream(io.BytesIO(text.encode("utf-8")), NAME, "conllu", "raise"):
        assert isinstance(item, Sentence)
        yield item


def _from_tokens(sentences: list[list[str]]) -> Iterator[Sentence]:
    """Read tokens as the command line does, a line a sentence; not one may be lost on the way."""
    for number, tokens in enumerate(sentences, 1):
        if not tokens:
            raise Refusal(400, f"sentence {number} has no tokens")
        for token in tokens:
            if not token or any(character.isspace() for character in token):
                what = f"sentence {number}: {token[:40]!r} is no token"
                raise Refusal(400, what, "a token has one character or more, and no white space")
    lines = "\n".join(" ".join(tokens) for tokens in sentences)
    read = read_text(lines, "tokens", None, NAME)
    for tokens, sentence in zip(sentences, read, strict=True):
        if len(tokens) != len(sentence):
            raise Refusal(400, f"{len(sentence)} words were read from {len(tokens)} tokens")
        yield sentence
