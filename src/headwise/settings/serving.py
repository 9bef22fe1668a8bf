"""Settings of the server: where it listens, who may use it, and its limits."""

from typing import Annotated

import msgspec
from msgspec import Meta

from headwise.settings.choices import Count


class ServeConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a server listens, who may use it, and its limits."""

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8080
    """0 for any free port."""
    workers: Annotated[int, Meta(ge=0, le=256)] = 0
    """Threads that parse; 0 for one per core."""
    lemmas: str = ""
    """A file with lemmas that win over the models'."""
    max_bytes: Annotated[int, Meta(ge=1, le=2**30)] = 4 * 2**20
    """Of a request's body."""
    max_sentences: Count = 1_000
    max_words: Count = 20_000
    """Of a request."""
    max_sentence_words: Count = 1_500
    max_token: Count = 1_000
    """Characters of a word."""
    max_seconds: Annotated[float, Meta(gt=0.0, le=3_600.0)] = 30.0
    """For a request to arrive, again to make its answer, and again to read that."""
    max_queue: Annotated[int, Meta(ge=1, le=10**9)] = 20_000
    """Words that may wait to be parsed; requests beyond that get 429."""
    max_connections: Count = 1_000
    token: str = ""
    """Requests need `Authorization: Bearer TOKEN`; if empty, they need none."""
    cors: tuple[str, ...] = ()
    """Origins whose pages may use the server; `*` for all."""
    allowed_host: tuple[str, ...] = ()
    """Names that may be in `Host`, besides addresses and localhost; `*` for all."""
