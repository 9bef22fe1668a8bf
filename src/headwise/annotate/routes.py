"""The routes of the workbench, on top of the server: the same checks, limits and work queue.

Only the page is public; everything else needs the token. No route takes the name of a file.
"""

from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headwise.annotate.contradictions import ContradictionError
from headwise.annotate.decode import DecodedSentence
from headwise.annotate.file.document import Splice, ends_blank
from headwise.annotate.file.saved import (
    MAX_SENTENCES,
    NothingLeftError,
    StaleError,
    Whose,
)
from headwise.annotate.overview import MAX_ROWS
from headwise.annotate.workbench import Workbench
from headwise.errors import DataError
from headwise.serve.answers import cost_of
from headwise.serve.api import json_response
from headwise.serve.app import make_app
from headwise.serve.models import Models
from headwise.serve.pages import INDEX, file_route, read_files
from headwise.serve.queue import LIGHT_COST, AnswerSteps, StepResult
from headwise.serve.requests import Refusal, read_json, read_query, require_media_type
from headwise.serve.schema import JSON
from headwise.serve.service import service_of
from headwise.settings.parsing import ParserSettings
from headwise.settings.serving import ServeConfig
from headwise.treebank.conllu import read_block
from headwise.treebank.sentence import Sentence

PAGE_PATH = "/annotate"
MAX_BLOCK_BYTES = 2**20
MAX_BLOCK_WORDS = 2_000
MAX_SENTENCES_AT_ONCE = 200
_BLOCK = "<sentence>"
Asked = TypeVar("Asked")
Natural = Annotated[int, Meta(ge=0)]


class DecodeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /annotate/decode`."""

    request: int
    conllu: str
    k: Annotated[int, Meta(ge=0, le=20)] = 3
    word: Natural | None = None
    keep: bool | None = None


class EditRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /annotate/edit`: a splice, and the state it is made on."""

    seq: Natural
    at: Natural
    remove: Natural
    insert: list[str]
    tag: Annotated[str, Meta(max_length=200)] = ""


class MoveRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /annotate/undo` and `/annotate/redo`."""

    seq: Natural


class ResolveRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /annotate/resolve`."""

    keep: Whose


class _Routes:
    """The handlers of one workbench."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    def all(self) -> list[Route]:
        gets = {
            "document": self.document,
            "overview": self.overview,
            "sentences": self.sentences,
        }
        posts = {
            "decode": self.decode,
            "edit": self.edit,
            "undo": self.undo,
            "redo": self.redo,
            "resolve": self.resolve,
        }
        routes = [Route(f"{PAGE_PATH}/{name}", one, methods=["GET"]) for name, one in gets.items()]
        return routes + [
            Route(f"{PAGE_PATH}/{n}", one, methods=["POST"]) for n, one in posts.items()
        ]

    async def document(self, request: Request) -> Response:
        """Answer `GET /annotate/document`."""
        return json_response(await run_in_threadpool(self._bench.describe))

    async def overview(self, request: Request) -> Response:
        """Answer `GET /annotate/overview`."""
        query = read_query(request.scope["query_string"])
        start, count = _number(query, "start", 0), _number(query, "count", MAX_ROWS)
        since = _number(query, "since", -1) if "since" in query else None
        rows = (start, min(count, MAX_ROWS), since)

        def answer() -> Response:
            with self._bench.file.lock:
                seq = self._bench.file.document.seq
                listed = self._bench.overview.answer(seq, *rows)
            return json_response(listed)

        return await run_in_threadpool(answer)

    async def sentences(self, request: Request) -> Response:
        """Answer `GET /annotate/sentences`."""
        query = read_query(request.scope["query_string"])
        start, count = _number(query, "start", 0), _number(query, "count", 1)
        if count > MAX_SENTENCES_AT_ONCE:
            raise Refusal(413, f"more than {MAX_SENTENCES_AT_ONCE} sentences", "ask for fewer")

        def answer() -> Response:
            with self._bench.file.lock:
                document = self._bench.file.document
                found = document.blocks[start : start + count]
                return json_response({"seq": document.seq, "sentences": found})

        return await run_in_threadpool(answer)

    async def decode(self, request: Request) -> Response:
        """Answer `POST /annotate/decode`."""
        asked = await _read(request, DecodeRequest)
        sentence = _read_sentence(asked.conllu)
        bench = self._bench
        keep = bench.keep if asked.keep is None else asked.keep

        def steps() -> AnswerSteps:
            cost = cost_of(len(sentence), ParserSettings(k_best=asked.k, marginals=True))
            if cost > LIGHT_COST:
                yield StepResult(next_cost=cost)
            with bench.overview.waiting():
                try:
                    decoded = bench.redecoder.decode(sentence, asked.k, asked.word, keep)
                except ContradictionError as error:
                    raise _contradiction(error) from error
            yield StepResult(1, len(sentence))
            return _answer(asked.request, decoded)

        return Response(
            await service_of(request).run(request, steps(), len(sentence)), media_type=JSON
        )

    async def edit(self, request: Request) -> Response:
        """Answer `POST /annotate/edit`."""
        asked = await _read(request, EditRequest)
        for block in asked.insert:
            _read_sentence(block)
            if not ends_blank(block) or not block.strip():
                raise Refusal(400, "a sentence must end with a blank line")
        splice = Splice(asked.at, asked.remove, tuple(asked.insert))

        def apply() -> dict[str, object]:
            with self._bench.file.lock:
                document = self._bench.file.document
                if asked.seq == document.seq and not document.fits(splice):
                    what = f"there are only {len(document.blocks):,} sentences"
                    raise Refusal(400, what, "at and remove must lie within them")
                if len(document.blocks) + len(splice.insert) - splice.remove > MAX_SENTENCES:
                    raise Refusal(413, f"more than {MAX_SENTENCES:,} sentences")
                return {"seq": self._bench.file.edit(asked.seq, splice, asked.tag)}

        return await _change(apply)

    async def undo(self, request: Request) -> Response:
        """Answer `POST /annotate/undo`."""
        return await self._move(request, self._bench.file.undo)

    async def redo(self, request: Request) -> Response:
        """Answer `POST /annotate/redo`."""
        return await self._move(request, self._bench.file.redo)

    async def _move(self, request: Request, move: Callable[[int], tuple[int, Splice]]) -> Response:
        asked = await _read(request, MoveRequest)

        def apply() -> dict[str, object]:
            seq, splice = move(asked.seq)
            return {"seq": seq, **msgspec.structs.asdict(splice)}

        return await _change(apply)

    async def resolve(self, request: Request) -> Response:
        """Answer `POST /annotate/resolve`."""
        asked = await _read(request, ResolveRequest)

        def apply() -> dict[str, object]:
            copy = self._bench.file.resolve(asked.keep)
            seq = self._bench.file.document.seq
            return {"seq": seq, "copy": None if copy is None else copy.name}

        return await _change(apply)


def _answer(number: int, decoded: DecodedSentence) -> bytes:
    """Write what was decoded, with the number of its request."""
    trees = [tree._asdict() for tree in decoded.trees]
    found = msgspec.structs.asdict(decoded) | {"trees": trees, "checks": []}
    return msgspec.json.encode({"request": number, **found})


async def _read(request: Request, kind: type[Asked]) -> Asked:
    require_media_type(request, JSON)
    return await service_of(request).bodies.read(request, lambda body: read_json(body, kind))


def _number(query: dict[str, str], name: str, default: int) -> int:
    value = query.get(name, str(default))
    if not (value.isascii() and value.isdigit() and len(value) <= 12):
        raise Refusal(400, f"{name} is {value[:40]!r}, which is not a number")
    return int(value)


def _read_sentence(block: str) -> Sentence:
    """Read a sentence that the page sent, within the limits."""
    if len(block.encode("utf-8")) > MAX_BLOCK_BYTES:
        raise Refusal(413, f"a sentence of more than {MAX_BLOCK_BYTES:,} bytes")
    try:
        sentence = read_block(block, _BLOCK)
    except DataError as error:
        what = error.what.removeprefix(f"{_BLOCK}:")
        where = f"line {what}" if error.line is not None else what.strip()
        raise Refusal(400, where, error.hint, details={"line": error.line}) from error
    if len(sentence) > MAX_BLOCK_WORDS:
        raise Refusal(413, f"a sentence of more than {MAX_BLOCK_WORDS:,} words", "split it")
    return sentence


def _contradiction(error: ContradictionError) -> Refusal:
    words = ", ".join(map(str, error.unfix))
    conflict = {"message": error.what, "unfix": error.unfix}
    return Refusal(422, error.what, f"unfix {words}", details={"conflict": conflict})


async def _change(apply: Callable[[], dict[str, object]]) -> Response:
    """Change the document in a thread, since that waits for the disk."""
    try:
        return json_response(await run_in_threadpool(apply))
    except StaleError as error:
        what = "the document has changed in the meantime"
        details = {"seq": error.seq}
        raise Refusal(409, what, "load what changed, and try again", details=details) from error
    except NothingLeftError as error:
        raise Refusal(409, f"there is nothing to {error}") from error
    except DataError as error:
        raise Refusal(507, error.what, error.hint) from error


def make_workbench_app(config: ServeConfig, models: Models, bench: Workbench) -> Starlette:
    """Make the whole server: the parser's API, and the workbench beside it."""
    return make_app(config, models, routes_of(bench), public=[PAGE_PATH], on_close=bench.close)


def routes_of(bench: Workbench) -> Sequence[Route]:
    """Make the routes of a workbench, its page included."""
    table = read_files(files("headwise.annotate") / "page")
    no_page = (b"headwise: this installation has no page for the workbench.\n", "text/plain")
    page = file_route(PAGE_PATH, *table.pop(INDEX, no_page))
    named = [file_route(f"/static/annotate/{name}", *file) for name, file in table.items()]
    return [*_Routes(bench).all(), page, *named]
