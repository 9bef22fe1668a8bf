"""The JSON API: `POST /parse`, and what a server reports about itself.

`schema.py` describes it for programs, `docs/serve.md` for people.
"""

import io
import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain, islice

import msgspec
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from headwise.runtime.parser import Parser
from headwise.serve.answers import answer_conllu, answer_json
from headwise.serve.models import with_settings
from headwise.serve.requests import (
    SMALL_BYTES,
    Refusal,
    read_json,
    require_at_most,
    require_media_type,
    within_limits,
)
from headwise.serve.schema import (
    JSON,
    TEXT,
    HealthResponse,
    ModelsResponse,
    ParseRequest,
    describe_api,
)
from headwise.serve.service import service_of
from headwise.settings.parsing import columns_to_keep
from headwise.settings.serving import ServeConfig
from headwise.text.read import SAMPLE_BYTES, sample_text
from headwise.text.segmenter import read_text
from headwise.treebank.conllu import read_stream
from headwise.treebank.sentence import Sentence
from headwise.version import VERSION

REQUEST_NAME = "<request>"
"""Stands for the file name in messages about the input."""
_CHARACTERS_PER_WORD = 5
"""A guess at how many words a text has, before it is segmented."""
_CHARACTERS_PER_LINE = 200
"""A word with its columns is shorter as a rule; longer lines count as several words."""
MAX_CONSTRAINTS = 100_000
"""Arcs, labels and words of subtrees in one request."""
_WORD_OR_LIST = re.compile(rb'"(?>[^"\\]+|\\.)*+"|\[', re.DOTALL)


async def post_parse(request: Request) -> Response:
    """Answer `POST /parse`."""
    service = service_of(request)
    require_media_type(request, JSON)
    asked = await service.bodies.read(request, partial(_decode, limits=service.config))
    text = _sample(asked)
    name = service.models.choose(asked.model, text)
    parser = with_settings(
        service.models.parsers[name],
        asked.decoder,
        columns_to_keep(asked.keep, asked.keep_tags),
        asked.probabilities and asked.format == "conllu",
        asked.k_best,
        asked.marginals,
    )
    sentences, n_words = _read(asked, parser)
    sentences = within_limits(sentences, service.config)
    if asked.format == "conllu":
        steps = answer_conllu(sentences, parser, asked.constraints)
    else:
        hint = service.models.hint_at_language(name, text)
        steps = answer_json(
            name,
            sentences,
            parser,
            asked.distribution,
            asked.pictures,
            hint,
            asked.constraints,
        )
    response = await service.run(request, steps, n_words)
    return Response(response, media_type=TEXT if asked.format == "conllu" else JSON)


async def get_models(request: Request) -> Response:
    """Answer `GET /models`, for our clients and for UDPipe's."""
    models = service_of(request).models
    return json_response(
        ModelsResponse(models.components(), models.default, models.named_languages())
    )


async def get_health(request: Request) -> Response:
    """Answer `GET /health`: a server that answers can parse."""
    return json_response(HealthResponse("ok", VERSION, service_of(request).workers.n_jobs))


async def get_metrics(request: Request) -> Response:
    """Answer `GET /metrics`; files of several processes are read in a thread."""
    text = await run_in_threadpool(service_of(request).metrics.expose)
    return Response(text, headers={"content-type": CONTENT_TYPE_PLAIN_0_0_4})


async def get_openapi(request: Request) -> Response:
    """Answer `GET /openapi.json`."""
    return json_response(describe_api())


def json_response(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Make a JSON response of a value."""
    return Response(msgspec.json.encode(value), status, headers, media_type=JSON)


class _Outline(msgspec.Struct):
    """A request whose tokens are checked to be JSON, but not decoded."""

    tokens: msgspec.Raw = msgspec.Raw(b"null")


def _decode(body: bytes, limits: ServeConfig) -> ParseRequest:
    """Decode a request and check what can be checked before it waits for its turn."""
    if len(body) > SMALL_BYTES:
        _check_outline(body, limits)
    asked = read_json(body, ParseRequest)
    if sum(given is not None for given in (asked.text, asked.tokens, asked.conllu)) != 1:
        raise Refusal(400, "give exactly one of text, tokens and conllu")
    if asked.tokens is not None:
        require_at_most(len(asked.tokens), limits.max_sentences, "sentences in a request")
        n_words = sum(map(len, asked.tokens))
        require_at_most(n_words, limits.max_words, "words in a request")
    if asked.conllu is not None:
        require_few_lines(asked.conllu, limits)
    if asked.format == "conllu" and (asked.k_best or asked.marginals):
        raise Refusal(400, "k_best and marginals: not in conllu", 'use "format": "json"')
    require_at_most(len(asked.constraints), limits.max_sentences, "sentences with constraints")
    n_constraints = sum(given.size for given in asked.constraints if given is not None)
    require_at_most(n_constraints, MAX_CONSTRAINTS, "arcs, labels and words of subtrees")
    return asked


def _check_outline(body: bytes, limits: ServeConfig) -> None:
    """Refuse a large body with too many tokens before each of them takes memory and time."""
    try:
        tokens = bytes(msgspec.json.decode(body, type=_Outline).tokens)
    except (msgspec.MsgspecError, RecursionError):
        return  # decoding the whole finds out what is wrong
    n_words, n_lists = 0, -1
    for match in _WORD_OR_LIST.finditer(tokens):
        is_list = match[0] == b"["
        n_lists += is_list
        n_words += not is_list
        require_at_most(n_lists, limits.max_sentences, "sentences in a request")
        require_at_most(n_words, limits.max_words, "words in a request")


def require_few_lines(conllu: str, limits: ServeConfig) -> None:
    """Refuse CoNLL-U with far more lines than the words that are allowed; each takes memory."""
    most = 4 * limits.max_words + 20 * limits.max_sentences
    require_at_most(conllu.count("\n"), most, "lines of CoNLL-U in a request")


def _sample(asked: ParseRequest) -> str:
    """Take enough of a request to tell its language."""
    if asked.tokens is not None:
        words = islice(chain.from_iterable(asked.tokens), SAMPLE_BYTES // _CHARACTERS_PER_WORD)
        return " ".join(words)
    if asked.conllu is not None:
        start = asked.conllu[:SAMPLE_BYTES].encode("utf-8", "replace")
        return sample_text(start, "conllu")
    return (asked.text or "")[:SAMPLE_BYTES]


def _read(asked: ParseRequest, parser: Parser) -> tuple[Iterator[Sentence], int]:
    """Read the sentences of a request, one by one when its turn comes; estimate its words now."""
    if asked.conllu is not None:
        return read_treebank(asked.conllu), estimate_words(asked.conllu, asked.conllu.count("\n"))
    if asked.tokens is not None:
        n_lines = (sum(map(len, tokens)) // _CHARACTERS_PER_LINE for tokens in asked.tokens)
        n_words = 1 + sum(map(max, map(len, asked.tokens), n_lines))
        return _from_tokens(asked.tokens), n_words
    text = asked.text or ""
    return read_text(text, "text", parser.segmenter, REQUEST_NAME), estimate_words(text)


def estimate_words(text: str, n_lines: int | None = None) -> int:
    """Estimate the words in text, or in lines with a word each; long lines count as several."""
    if n_lines is None:
        return 1 + len(text) // _CHARACTERS_PER_WORD
    return 1 + max(n_lines, len(text) // _CHARACTERS_PER_LINE)


def read_treebank(text: str) -> Iterator[Sentence]:
    """Read CoNLL-U; compressed data is not unpacked."""
    for item in read_stream(io.BytesIO(text.encode("utf-8")), REQUEST_NAME, "conllu", "raise"):
        assert isinstance(item, Sentence)
        yield item


def _from_tokens(sentences: list[list[str]]) -> Iterator[Sentence]:
    """Read tokens as the command line does, one sentence per line; none may get lost."""
    for number, tokens in enumerate(sentences, 1):
        if not tokens:
            raise Refusal(400, f"sentence {number} has no tokens")
        for token in tokens:
            if token.split() != [token]:
                what = f"sentence {number}: {token[:40]!r} is not a token"
                raise Refusal(400, what, "a token has at least one character and no white space")
    lines = "\n".join(" ".join(tokens) for tokens in sentences)
    read = read_text(lines, "tokens", None, REQUEST_NAME)
    for tokens, sentence in zip(sentences, read, strict=True):
        if len(tokens) != len(sentence):
            raise Refusal(400, f"{len(sentence)} words were read from {len(tokens)} tokens")
        yield sentence
