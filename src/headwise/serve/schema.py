"""Requests and responses as structs, and the API described in OpenAPI 3.1.

The schemas are derived from the structs that the code decodes and encodes; only paths, statuses
and descriptions are written here. `docs/serve.md` describes the API for people.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from headwise.render.svg import DrawnTree
from headwise.serve.models import LanguageHint, ModelComponent, ModelLanguage
from headwise.settings.choices import Column, Decoder
from headwise.settings.parsing import MAX_TREES
from headwise.treebank.records import SentenceRecord
from headwise.trees.constraints import Constraints
from headwise.version import VERSION

JSON = "application/json"
TEXT = "text/plain"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
_REF = "#/components/schemas/{name}"


class ParseRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The body of `POST /parse`: exactly one of `text`, `tokens` and `conllu`."""

    text: Annotated[str | None, Meta(description="Running text.")] = None
    tokens: Annotated[
        list[list[str]] | None,
        Meta(description="Sentences as lists of words; no white space in a word."),
    ] = None
    conllu: Annotated[
        str | None, Meta(description="CoNLL-U; what the model does not fill in stays.")
    ] = None
    model: Annotated[
        str | None,
        Meta(
            description="A name that /models lists, or auto for the one of the language of the "
            "input; without it the default model."
        ),
    ] = None
    format: Literal["json", "conllu"] = "json"
    distribution: Annotated[bool, Meta(description="Add P_head of each word.")] = False
    pictures: Annotated[bool, Meta(description="Add each tree as SVG.")] = False
    keep: Annotated[
        list[Column], Meta(description="Columns that stay as they are, except for blanks.")
    ] = []
    keep_tags: Annotated[bool, Meta(description="The same as keep with upos and xpos.")] = False
    probabilities: Annotated[
        bool, Meta(description="Write probabilities into MISC of CoNLL-U; JSON always has them.")
    ] = False
    decoder: Annotated[
        Decoder | None, Meta(description="How trees are made; without it the model's way.")
    ] = None
    k_best: Annotated[
        int,
        Meta(ge=0, le=MAX_TREES, description="Add so many of the most probable trees; JSON only."),
    ] = 0
    marginals: Annotated[
        bool, Meta(description="Add the probability of each arc over all trees; JSON only.")
    ] = False
    constraints: Annotated[
        list[Constraints | None],
        Meta(description="What trees must look like, one for each of the first sentences."),
    ] = []


class ParseResponse(msgspec.Struct, frozen=True):
    """The trees."""

    model: str
    sentences: list[SentenceRecord]
    language: Annotated[
        LanguageHint | msgspec.UnsetType,
        Meta(description="Only if the text is clearly in another language than the model's."),
    ] = msgspec.UNSET


class ProcessResponse(msgspec.Struct, frozen=True):
    """What UDPipe's REST API returns."""

    model: str
    acknowledgements: list[str]
    result: str


class ModelsResponse(msgspec.Struct, frozen=True):
    """The models, and what each can do in the words of UDPipe."""

    models: dict[str, list[ModelComponent]]
    default_model: str
    languages: Annotated[
        dict[str, ModelLanguage], Meta(description="By model, of those that say theirs.")
    ]


class HealthResponse(msgspec.Struct, frozen=True):
    """A server that answers is up."""

    status: Literal["ok"]
    version: str
    jobs: Annotated[int, Meta(ge=0, description="Requests waiting or under way.")]


class ErrorDetail(msgspec.Struct, frozen=True):
    """What is wrong, and what to do about it."""

    message: str
    hint: str | None


class ErrorResponse(msgspec.Struct, frozen=True):
    """Why a request failed."""

    error: ErrorDetail


PROCESS_FIELDS = {
    "data": "The input, in UTF-8; in multipart/form-data it may be a file.",
    "model": "A model, the start of its name, a language, or auto.",
    "tokenizer": "If present, data is text; presegmented: one sentence per line.",
    "input": "conllu (default), horizontal, vertical or generic_tokenizer; without tokenizer.",
    "tagger": "If present, tags are filled in, and lemmas and features if the model has them.",
    "parser": "If present, heads and labels are filled in.",
    "output": "conllu (default), horizontal, vertical or plaintext.",
}
_DENIED = {
    401: "The token is missing or wrong.",
    403: "The page that asks is of another site, and --cors does not allow it.",
    421: "The Host header has a name that --allowed-host does not list.",
}
_FAILED = _DENIED | {
    400: "The request, or the input in it, cannot be read.",
    404: "There is no such model.",
    408: "The request took too long to arrive.",
    413: "The request is larger than this server allows.",
    415: "The body has another type, charset or encoding.",
    429: "Too much is waiting; Retry-After says when to try again.",
    503: "The answer took too long, or too many connections are open.",
}
Json = dict[str, Any]


def describe_api() -> Json:
    """Describe the API of this release."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "headwise",
            "summary": "A dependency parser in which every word selects its head.",
            "version": VERSION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{}, {"token": []}],
        "paths": _paths(),
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "If the server was started with a token.",
                }
            },
            "schemas": _schemas(),
        },
    }


def _paths() -> Json:
    parsed = {JSON: _ref(ParseResponse), TEXT: {"type": "string", "description": "CoNLL-U."}}
    processed = {JSON: _ref(ProcessResponse)}
    models = {JSON: _ref(ModelsResponse)}
    health = {JSON: _ref(HealthResponse)}
    metrics = {TEXT: {"type": "string"}}
    misdirected = {421: _DENIED[421]}
    examples = {
        "text": {"value": {"text": "Kids love candy."}},
        "tokens": {"value": {"tokens": [["Kids", "love", "candy", "."]], "distribution": True}},
    }
    form: Json = {
        "type": "object",
        "required": ["data"],
        "properties": {
            name: {"type": "string", "description": what} for name, what in PROCESS_FIELDS.items()
        },
    }
    query: list[Json] = [
        {"name": name, "in": "query", "description": what, "schema": {"type": "string"}}
        | ({"required": True} if name == "data" else {"allowEmptyValue": True})
        for name, what in PROCESS_FIELDS.items()
    ]
    return {
        "/parse": {
            "post": _operation("parse", "Parse text, tokens or CoNLL-U.", parsed, _FAILED)
            | _body({JSON: {"schema": _ref(ParseRequest), "examples": examples}})
        },
        "/process": {
            "get": _operation("processQuery", "UDPipe's REST API, by query.", processed, _FAILED)
            | {"parameters": query},
            "post": _operation("process", "UDPipe's REST API, by form.", processed, _FAILED)
            | _body({FORM: {"schema": form}, MULTIPART: {"schema": form}}),
        },
        "/models": {
            "get": _operation("models", "The models, and what each can do.", models, _DENIED),
            "post": _operation("postModels", "The same, for UDPipe's clients.", models, _DENIED),
        },
        "/health": {
            "get": _operation("health", "Whether the server is up.", health, misdirected),
        },
        "/metrics": {
            "get": _operation("metrics", "Metrics for Prometheus.", metrics, _DENIED),
        },
        "/openapi.json": {
            "get": _operation("openapi", "This description.", {JSON: {"type": "object"}}, _DENIED)
        },
    }


def _operation(
    name: str, summary: str, content: Mapping[str, Json], errors: Mapping[int, str]
) -> Json:
    ok = {kind: {"schema": schema} for kind, schema in content.items()}
    responses: Json = {"200": {"description": "As asked.", "content": ok}}
    failed = {JSON: {"schema": _ref(ErrorResponse)}}
    for status, what in sorted(errors.items()):
        responses[str(status)] = {"description": what, "content": failed}
    return {"operationId": name, "summary": summary, "responses": responses}


def _body(content: Json) -> Json:
    return {"requestBody": {"required": True, "content": content}}


def _ref(kind: type) -> Json:
    return {"$ref": _REF.format(name=kind.__name__)}


def _schemas() -> Json:
    kinds = [ParseRequest, ParseResponse, DrawnTree, ProcessResponse]
    kinds += [ModelsResponse, HealthResponse, ErrorResponse]
    _, schemas = msgspec.json.schema_components(kinds, ref_template=_REF)
    schemas["ParseRequest"]["oneOf"] = [
        {"required": [name], "properties": {name: {"not": {"type": "null"}}}}
        for name in ("text", "tokens", "conllu")
    ]
    # What a record of the command line does not have.
    schemas[SentenceRecord.__name__]["properties"] |= {
        "greedy": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0},
            "description": "The head that each word chose (Eq. 8), if the tree was repaired.",
        },
        "distribution": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}},
            "description": "A row for each word: the probability of ROOT, word 1, ... as its head.",
        },
        "picture": _ref(DrawnTree),
        "greedy_picture": _ref(DrawnTree),
    }
    return schemas
