"""The REST API of UDPipe: `/process`, so that its clients can ask this server instead.

A request names what it wants done: `tokenizer`, `tagger`, `parser`. Our parser does the last two at
once; what was not asked for stays as it came. `tagger` fills in lemmas and features, too, if the
model predicts them. Options of UDPipe's own models are accepted and ignored, except
`presegmented`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from headwise.arrays import FloatArray
from headwise.runtime.parser import Parser
from headwise.serve.answers import in_steps
from headwise.serve.api import (
    REQUEST_NAME,
    estimate_words,
    read_treebank,
    require_few_lines,
)
from headwise.serve.queue import AnswerSteps, StepResult
from headwise.serve.requests import (
    Refusal,
    read_multipart,
    read_query,
    require_media_type,
    within_limits,
)
from headwise.serve.schema import FORM, JSON, MULTIPART, ProcessResponse
from headwise.serve.service import Service, service_of
from headwise.settings.serving import ServeConfig
from headwise.text.read import SAMPLE_BYTES, sample_text
from headwise.text.segmenter import read_text
from headwise.treebank.sentence import BLANK, Parse, Sentence, sentence_from_tokens

ACKNOWLEDGEMENTS = ["https://aclanthology.org/E17-1063"]
"""The paper."""
_Form = Literal["conllu", "vertical", "tokens", "lines", "text"]
_INPUTS: dict[str, _Form] = {
    "conllu": "conllu",
    "generic_tokenizer": "text",
    "horizontal": "tokens",
    "vertical": "vertical",
}
_OUTPUTS = ("conllu", "horizontal", "plaintext", "vertical")
_OPTIONS = re.compile(r"[=;]")
_WHITE = re.compile(r"\s")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What a form must not contain; it becomes a white square, as in text."""


class ProcessRequest(NamedTuple):
    """What a request to `/process` asks for."""

    data: str
    model: str | None
    form: _Form
    output: str
    tag: bool
    parse: bool


async def process(request: Request) -> Response:
    """Answer `GET` and `POST /process`."""
    service = service_of(request)
    fields = read_query(request.scope["query_string"])
    if request.method == "POST":
        fields |= await _read_form(request, service)
    asked = _check(fields, service.config)
    start = asked.data[:SAMPLE_BYTES].encode("utf-8", "replace")
    text = sample_text(start, "conllu" if asked.form == "conllu" else "text")
    name = service.models.choose(asked.model, text)
    parser = service.models.parsers[name]
    sentences, n_words = _read(asked, parser)
    steps = _answer(within_limits(sentences, service.config), asked, name, parser)
    return Response(await service.run(request, steps, n_words), media_type=JSON)


async def _read_form(request: Request, service: Service) -> dict[str, str]:
    if request.headers.get("content-length") == "0" and "content-type" not in request.headers:
        return {}
    kind = require_media_type(request, FORM, MULTIPART)
    if kind == FORM:
        return await service.bodies.read(request, read_query)
    content_type = request.headers["content-type"]
    return await service.bodies.read(request, lambda body: read_multipart(body, content_type))


def _check(fields: Mapping[str, str], limits: ServeConfig) -> ProcessRequest:
    if "data" not in fields:
        raise Refusal(400, "the parameter data is missing", "data=TEXT&tokenizer&tagger&parser")
    given, output = (
        _OPTIONS.split(fields.get(name) or "conllu", 1)[0] for name in ("input", "output")
    )
    if "tokenizer" in fields:
        form: _Form = "lines" if "presegmented" in fields["tokenizer"] else "text"
    elif given in _INPUTS:
        form = _INPUTS[given]
    else:
        raise Refusal(400, f"input={given[:40]} is unknown", f"one of {', '.join(_INPUTS)}")
    if output not in _OUTPUTS:
        raise Refusal(400, f"output={output[:40]} is unknown", f"one of {', '.join(_OUTPUTS)}")
    # Clients that send multipart/form-data end lines with CR LF and mean LF.
    data = fields["data"].removeprefix("\ufeff").replace("\r\n", "\n")
    if form in ("conllu", "vertical"):
        require_few_lines(data, limits)
    tag, parse = "tagger" in fields, "parser" in fields
    return ProcessRequest(data, fields.get("model"), form, output, tag, parse)


def _answer(
    sentences: Iterable[Sentence], asked: ProcessRequest, name: str, parser: Parser
) -> AnswerSteps:
    def write(sentence: Sentence, parse: Parse, _: FloatArray) -> bytes:
        return _write(_fill(sentence, parse, asked), asked.output)

    if asked.tag or asked.parse:
        parts = yield from in_steps(sentences, parser, write)
    else:
        parts = []
        for sentence in sentences:
            parts.append(_write(sentence, asked.output))
            yield StepResult()
    result = b"".join(parts).decode("utf-8")
    return msgspec.json.encode(ProcessResponse(name, ACKNOWLEDGEMENTS, result))


def _read(asked: ProcessRequest, parser: Parser) -> tuple[Iterator[Sentence], int]:
    """Read the sentences of a request, one by one when its turn comes; estimate its words now."""
    n_lines = asked.data.count("\n")
    if asked.form == "conllu":
        return read_treebank(asked.data), estimate_words(asked.data, n_lines)
    if asked.form == "vertical":
        return _read_vertical(asked.data), estimate_words(asked.data, n_lines)
    sentences = read_text(asked.data, asked.form, parser.segmenter, REQUEST_NAME)
    return sentences, estimate_words(asked.data)


def _read_vertical(data: str) -> Iterator[Sentence]:
    """Read one word per line, up to the first tab; a blank line ends a sentence."""
    forms: list[str] = []
    n_sentences = 0
    for line in [*data.split("\n"), ""]:
        form = _CONTROL.sub("\u25a1", line.split("\t")[0].strip())
        if form:
            forms.append(form)
        elif forms:
            n_sentences += 1
            comments = [f"# sent_id = {n_sentences}", f"# text = {' '.join(forms)}"]
            yield sentence_from_tokens([(form, BLANK, ()) for form in forms], comments)
            forms = []


def _fill(sentence: Sentence, parse: Parse, asked: ProcessRequest) -> Sentence:
    """Fill in what was asked for."""
    if not asked.tag:
        parse = Parse(parse.heads, parse.labels, parse.head_log_probs, parse.how)
    full = sentence.with_parse(parse)
    if asked.parse:
        return full
    pairs = zip(sentence.words, full.words, strict=True)
    return full.with_words([new._replace(head=old.head, deprel=old.deprel) for old, new in pairs])


def _write(sentence: Sentence, output: str) -> bytes:
    if output == "conllu":
        return sentence.data
    if not len(sentence):
        return b""
    if output == "plaintext":
        return f"{sentence.text}\n".encode()
    # Spaces separate words, so a space inside a word becomes a no-break space.
    forms = [_WHITE.sub("\u00a0", word.form) for word in sentence.words]
    text = " ".join(forms) + "\n" if output == "horizontal" else "\n".join(forms) + "\n\n"
    return text.encode("utf-8")
