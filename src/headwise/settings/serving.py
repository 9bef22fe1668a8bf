"""Settings of the server: where it listens, who may use it, and its limits."""

from typing import Annotated

import msgspec
from msgspec import Meta

from headwise.settings.choices import Count


class ServeConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a server listens, who may use it, and its limits."""

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8080
    """Port to listen on; 0 for any free port."""
    workers: Annotated[int, Meta(ge=0, le=256)] = 0
    """Number of threads that parse; 0 for one per core."""
    lemmas: str = ""
    """A file with lemmas that override the models'."""
    max_bytes: Annotated[int, Meta(ge=1, le=2**30)] = 4 * 2**20
    """Size of a request body."""
    max_sentences: Count = 1_000
    """Sentences in a request."""
    max_words: Count = 20_000
    """Words in a request."""
    max_sentence_words: Count = 1_500
    """Words in a sentence."""
    max_token: Count = 1_000
    """Characters in a word."""
    max_seconds: Annotated[float, Meta(gt=0.0, le=3_600.0)] = 30.0
    """Time for a request to arrive, for its answer to be computed, and for it to be read."""
    max_queue: Annotated[int, Meta(ge=1, le=10**9)] = 20_000
    """Words that may wait to be parsed; requests beyond that get 429."""
    max_connections: Count = 1_000
    """Connections open at the same time."""
    token: str = ""
    """Requests need `Authorization: Bearer TOKEN`; if empty, they need none."""
    cors: tuple[str, ...] = ()
    """Origins whose pages may use the server; `*` for all."""
    allowed_host: tuple[str, ...] = ()
    """Names that may be in `Host`, besides addresses and localhost; `*` for all."""
