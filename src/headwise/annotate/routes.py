"""The routes of the workbench, on top of the server: the same checks, limits and work queue.

Only the page is public; everything else needs the token. No route takes the name of a file.
"""

from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from urllib.parse import quote

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from headwise.annotate.comparison import OtherFile
from headwise.annotate.contradictions import ContradictionError
from headwise.annotate.decode import DecodedSentence
from headwise.annotate.file.disk import MAX_SENTENCES
from headwise.annotate.file.document import Splice, ends_blank, join_blocks
from headwise.annotate.file.saved import NothingLeftError, StaleError
from headwise.annotate.marks import clean_block
from headwise.annotate.overview import MAX_ROWS
from headwise.annotate.requests import (
    DecodeRequest,
    EditRequest,
    MoveRequest,
    ResolveRequest,
    SwitchRequest,
    TeachRequest,
    read_body,
    read_number,
    read_page_sentence,
)
from headwise.annotate.search import MAX_HITS, Hit, find_words, read_words_query
from headwise.annotate.workbench import Workbench
from headwise.errors import DataError
from headwise.serve.answers import cost_of
from headwise.serve.api import json_response
from headwise.serve.app import make_app
from headwise.serve.models import Models
from headwise.serve.pages import INDEX, file_route, read_files
from headwise.serve.queue import LIGHT_COST, AnswerSteps, StepResult
from headwise.serve.requests import Refusal, read_query
from headwise.serve.schema import JSON
from headwise.serve.service import service_of
from headwise.settings.parsing import ParserSettings
from headwise.settings.serving import ServeConfig
from headwise.treebank.checks import Check
from headwise.treebank.conllu import read_block

PAGE_PATH = "/annotate"
MAX_SENTENCES_AT_ONCE = 200
CONLLU = "text/plain; charset=utf-8"
_FOUND = 200
_SENTENCES_A_STEP = 256


class _Routes:
    """The handlers of one workbench."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    def all(self) -> list[Route]:
        gets = {
            "document": self.document,
            "overview": self.overview,
            "sentences": self.sentences,
            "search": self.search,
            "compare": self.compare,
            "compare/sentence": self.compare_sentence,
            "teach": self.teach_state,
            "export": self.export,
        }
        posts = {
            "decode": self.decode,
            "edit": self.edit,
            "undo": self.undo,
            "redo": self.redo,
            "resolve": self.resolve,
            "teach": self.teach,
            "teach/switch": self.switch,
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
        start, count = read_number(query, "start", 0), read_number(query, "count", MAX_ROWS)
        since = read_number(query, "since", -1) if "since" in query else None
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
        start, count = read_number(query, "start", 0), read_number(query, "count", 1)
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
        asked = await read_body(request, DecodeRequest)
        sentence = read_page_sentence(asked.conllu)
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
            return _answer(asked.request, decoded, bench.check(read_block(decoded.conllu)))

        return Response(
            await service_of(request).run(request, steps(), len(sentence)), media_type=JSON
        )

    async def edit(self, request: Request) -> Response:
        """Answer `POST /annotate/edit`."""
        asked = await read_body(request, EditRequest)
        for block in asked.insert:
            read_page_sentence(block)
            if not ends_blank(block) or not block.strip():
                raise Refusal(400, "a sentence must end with a blank line")
        splice = Splice(asked.at, asked.remove, tuple(asked.insert))

        def apply() -> dict[str, object]:
            with self._bench.file.lock:
                document = self._bench.file.document
                if asked.seq == document.seq and not document.fits(splice):
                    what = f"there are only {len(document.blocks):,} sentences"
                    raise Refusal(400, what, "at and remove must be within this range")
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
        asked = await read_body(request, MoveRequest)

        def apply() -> dict[str, object]:
            seq, splice = move(asked.seq)
            return {"seq": seq, **msgspec.structs.asdict(splice)}

        return await _change(apply)

    async def resolve(self, request: Request) -> Response:
        """Answer `POST /annotate/resolve`."""
        asked = await read_body(request, ResolveRequest)

        def apply() -> dict[str, object]:
            copy = self._bench.file.resolve(asked.keep)
            seq = self._bench.file.document.seq
            return {"seq": seq, "copy": None if copy is None else copy.name}

        return await _change(apply)

    async def search(self, request: Request) -> Response:
        """Answer `GET /annotate/search`."""
        query = read_query(request.scope["query_string"])
        wanted = read_words_query(query.get("q", ""))
        limit = min(read_number(query, "limit", _FOUND), MAX_HITS)
        blocks = self._blocks()

        def steps() -> AnswerSteps:
            hits: list[Hit] = []
            for number, hit in enumerate(find_words(wanted, blocks), 1):
                if hit is not None:
                    hits.append(hit)
                    if len(hits) > limit:
                        break
                if number % _SENTENCES_A_STEP == 0:
                    yield StepResult()
            return msgspec.json.encode({"hits": hits[:limit], "more": len(hits) > limit})

        answer = await service_of(request).run(request, steps(), len(blocks) // 100)
        return Response(answer, media_type=JSON)

    async def compare(self, request: Request) -> Response:
        """Answer `GET /annotate/compare`."""
        other, blocks = self._other(), self._blocks()
        return json_response(await run_in_threadpool(other.compare, blocks))

    async def compare_sentence(self, request: Request) -> Response:
        """Answer `GET /annotate/compare/sentence`."""
        other, blocks = self._other(), self._blocks()
        index = read_number(read_query(request.scope["query_string"]), "index", 0)
        if index >= len(blocks):
            raise Refusal(404, f"there are only {len(blocks):,} sentences")
        theirs = await run_in_threadpool(other.find, blocks, index)
        return json_response({"mine": blocks[index], "theirs": theirs})

    def _other(self) -> OtherFile:
        if self._bench.other is None:
            what = "there is no other file to compare"
            raise Refusal(404, what, "start it with --compare OTHER")
        return self._bench.other

    def _blocks(self) -> list[str]:
        with self._bench.file.lock:
            return list(self._bench.file.document.blocks)

    async def teach(self, request: Request) -> Response:
        """Answer `POST /annotate/teach`."""
        asked = await read_body(request, TeachRequest)
        return json_response(await run_in_threadpool(self._bench.teach, asked.epochs))

    async def teach_state(self, request: Request) -> Response:
        """Answer `GET /annotate/teach`."""
        return json_response(self._bench.teacher.answer)

    async def switch(self, request: Request) -> Response:
        """Answer `POST /annotate/teach/switch`."""
        await read_body(request, SwitchRequest)
        await run_in_threadpool(self._bench.switch)
        return json_response({"model": self._bench.model})

    async def export(self, request: Request) -> Response:
        """Answer `GET /annotate/export`."""
        is_clean = read_query(request.scope["query_string"]).get("clean", "0") not in ("", "0")
        blocks = self._blocks()

        def parts() -> Iterator[bytes]:
            for start in range(0, len(blocks), _SENTENCES_A_STEP):
                # The block after the part tells whether the last of it is the last of all.
                part = blocks[start : start + _SENTENCES_A_STEP + 1]
                joined = list(join_blocks(part))[:_SENTENCES_A_STEP]
                text = "".join(map(clean_block, joined) if is_clean else joined)
                yield text.encode("utf-8")

        headers = {"content-disposition": _attachment(self._bench.file.path.name)}
        return StreamingResponse(parts(), media_type=CONLLU, headers=headers)


def _answer(number: int, decoded: DecodedSentence, checks: Sequence[Check]) -> bytes:
    """Write what was decoded, with the number of its request."""
    lists = {
        "trees": [tree._asdict() for tree in decoded.trees],
        "checks": [check._asdict() for check in checks],
    }
    found = msgspec.structs.asdict(decoded) | lists
    return msgspec.json.encode({"request": number, **found})


def _attachment(name: str) -> str:
    return f"attachment; filename*=UTF-8''{quote(name)}"


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
        raise Refusal(409, what, "reload, and try again", details=details) from error
    except NothingLeftError as error:
        raise Refusal(409, f"there is nothing to {error}") from error
    except DataError as error:
        raise Refusal(507, error.what, error.hint) from error


def make_workbench_app(
    config: ServeConfig,
    models: Models,
    bench: Workbench,
    on_close: Callable[[], object] | None = None,
) -> Starlette:
    """Make the whole server: the parser's API, and the workbench beside it.

    At the end `on_close` is called, which closes the workbench if nothing else is given.
    """
    end = on_close or bench.close
    return make_app(config, models, routes_of(bench), public=[PAGE_PATH], on_close=end)


def routes_of(bench: Workbench) -> Sequence[Route]:
    """Make the routes of a workbench, its page included."""
    table = read_files(files("headwise.annotate") / "page")
    no_page = (b"headwise: this installation has no page for the workbench.\n", "text/plain")
    page = file_route(PAGE_PATH, *table.pop(INDEX, no_page))
    named = [file_route(f"/static/annotate/{name}", *file) for name, file in table.items()]
    return [*_Routes(bench).all(), page, *named]
