"""The REST API of UDPipe: `/process`, so that its clients can ask this server instead.

A request names what it wants done: `tokenizer`, `tagger`, `parser`. Our parser does the last two at
once; what was not asked for stays as it came. Lemmas and features are never filled in. Options of
UDPipe's own models are accepted and mean nothing here, with the exception of `presegmented`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from headwise.arrays import FloatArray
from headwise.runtime.parser import Parser
from headwise.serve.answers import Finish, answer_text
from headwise.serve.api import JSON, NAME, guess_words, read_treebank, require_type
from headwise.serve.forms import read_parts, read_query
from headwise.serve.limits import Refusal, within
from headwise.serve.queue import Turn, Work
from headwise.serve.service import Service, service_of
from headwise.text.segmenter import read_text
from headwise.treebank.sentence import BLANK, Parse, Sentence, sentence_from_tokens

FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data"
ACKNOWLEDGEMENTS = ["https://aclanthology.org/E17-1063"]
"""The paper."""
INPUTS = ("conllu", "generic_tokenizer", "horizontal", "vertical")
OUTPUTS = ("conllu", "horizontal", "plaintext", "vertical")
_OPTIONS = re.compile(r"[=;]")
_WHITE = re.compile(r"\s")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What no form may hold, and becomes a white square as in text."""


class Wish(NamedTuple):
    """What a request wants."""

    data: str
    model: str | None
    input: str
    """One of `INPUTS`, or `text` or `lines` where words are to be found."""
    output: str
    tag: bool
    parse: bool


async def process(request: Request) -> Response:
    """Answer `GET` and `POST /process`."""
    service = service_of(request)
    fields = read_query(request.scope["query_string"])
    if request.method == "POST":
        fields |= await _read_form(request, service)
    wish = _understand(fields)
    name = service.models.choose(wish.model)
    parser = service.models.parsers[name]
    work = _work(wish, name, parser, service)
    return Response(await service.run(request, work, _guess(wish)), media_type=JSON)


async def _read_form(request: Request, service: Service) -> dict[str, str]:
    if request.headers.get("content-length") == "0" and "content-type" not in request.headers:
        return {}
    kind = require_type(request, FORM, PARTS)
    body = await service.bodies.read(request)
    if kind == FORM:
        return read_query(body)
    return read_parts(body, request.headers["content-type"])


def _understand(fields: Mapping[str, str]) -> Wish:
    if "data" not in fields:
        raise Refusal(400, "the parameter data is missing", "data=TEXT&tokenizer&tagger&parser")
    form = _first_word(fields.get("input") or "conllu")
    output = _first_word(fields.get("output") or "conllu")
    if "tokenizer" in fields:
        form = "lines" if "presegmented" in fields["tokenizer"] else "text"
    elif form not in INPUTS:
        raise Refusal(400, f"input={form[:40]} is unknown", f"one of {', '.join(INPUTS)}")
    elif form == "generic_tokenizer":
        form = "text"
    if output not in OUTPUTS:
        raise Refusal(400, f"output={output[:40]} is unknown", f"one of {', '.join(OUTPUTS)}")
    # Clients that send parts end lines with CR LF, and mean LF.
    data = fields["data"].removeprefix("\ufeff").replace("\r\n", "\n")
    return Wish(data, fields.get("model"), form, output, "tagger" in fields, "parser" in fields)


def _first_word(value: str) -> str:
    return _OPTIONS.split(value)[0]


def _guess(wish: Wish) -> int:
    is_lines = wish.input in ("conllu", "vertical")
    return guess_words(wish.data, wish.data.count("\n") if is_lines else None)


def _work(wish: Wish, name: str, parser: Parser, service: Service) -> Work:
    def write(sentence: Sentence, parse: Parse, _: FloatArray) -> bytes:
        return _write(_filled(sentence, parse, wish), wish.output)

    def finish(result: bytes) -> bytes:
        answer = {
            "model": name,
            "acknowledgements": ACKNOWLEDGEMENTS,
            "result": result.decode("utf-8"),
        }
        return msgspec.json.encode(answer)

    sentences = within(_read(wish, parser), service.config)
    if wish.tag or wish.parse:
        return answer_text(sentences, parser, write, finish)
    return _unparsed(sentences, wish.output, finish)


def _read(wish: Wish, parser: Parser) -> Iterator[Sentence]:
    if wish.input == "conllu":
        return read_treebank(wish.data)
    if wish.input == "vertical":
        return _read_vertical(wish.data)
    if wish.input == "horizontal":
        return read_text(wish.data, "tokens", None, NAME)
    return read_text(
        wish.data, "lines" if wish.input == "lines" else "text", parser.segmenter, NAME
    )


def _read_vertical(data: str) -> Iterator[Sentence]:
    """Read a word a line, what follows a tab left out; a blank line ends a sentence."""
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


def _unparsed(sentences: Iterable[Sentence], output: str, finish: Finish) -> Work:
    """Convert only: neither tags nor trees were asked for."""
    parts = []
    for sentence in sentences:
        parts.append(_write(sentence, output))
        yield Turn(0, 0, 0)
    return finish(b"".join(parts))


def _filled(sentence: Sentence, parse: Parse, wish: Wish) -> Sentence:
    """Fill in what was asked for."""
    if not wish.tag:
        parse = Parse(parse.heads, parse.labels, parse.head_log_probs, parse.how)
    full = sentence.with_parse(parse)
    if wish.parse:
        return full
    pairs = zip(sentence.words, full.words, strict=True)
    return full.with_words([new._replace(head=old.head, deprel=old.deprel) for old, new in pairs])


def _write(sentence: Sentence, output: str) -> bytes:
    if output == "conllu":
        return sentence.conllu.encode("utf-8")
    if not len(sentence):
        return b""
    if output == "plaintext":
        return f"{sentence.text}\n".encode()
    # Words are told apart by spaces, so one inside a word becomes a no-break space.
    forms = [_WHITE.sub("\u00a0", word.form) for word in sentence.words]
    text = " ".join(forms) + "\n" if output == "horizontal" else "\n".join(forms) + "\n\n"
    return text.encode("utf-8")
