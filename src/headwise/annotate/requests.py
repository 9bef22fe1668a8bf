"""What the page of the workbench sends, and its limits."""

from collections.abc import Mapping
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import Request

from headwise.annotate.file.saved import Whose
from headwise.annotate.teach import EPOCHS
from headwise.errors import DataError
from headwise.serve.requests import Refusal, read_json, require_media_type
from headwise.serve.schema import JSON
from headwise.serve.service import service_of
from headwise.treebank.conllu import read_block
from headwise.treebank.sentence import Sentence

MAX_BLOCK_BYTES = 2**20
MAX_BLOCK_WORDS = 2_000
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


class TeachRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /annotate/teach`."""

    epochs: Annotated[int, Meta(ge=1, le=100)] = EPOCHS


class SwitchRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /annotate/teach/switch`, which says nothing."""


async def read_body(request: Request, kind: type[Asked]) -> Asked:
    """Read a JSON body."""
    require_media_type(request, JSON)
    return await service_of(request).bodies.read(request, lambda body: read_json(body, kind))


def read_number(query: Mapping[str, str], name: str, default: int) -> int:
    """Read a number from a query."""
    value = query.get(name, str(default))
    if not (value.isascii() and value.isdigit() and len(value) <= 12):
        raise Refusal(400, f"{name} is {value[:40]!r}, which is not a number")
    return int(value)


def read_page_sentence(block: str) -> Sentence:
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
