"""Where a server listens, and how much it takes on."""

from typing import Annotated

import msgspec
from msgspec import Meta

from headwise.settings.choices import Count


class ServeConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a server listens, and how much it takes on."""

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8080
    """0 for any that is free."""
    workers: Annotated[int, Meta(ge=0, le=256)] = 0
    """Threads that parse; 0 for one a core."""
    max_bytes: Annotated[int, Meta(ge=1, le=2**30)] = 4 * 2**20
    """Of a request's body."""
    max_sentences: Count = 1_000
    max_words: Count = 20_000
    """Of a request."""
    max_sentence_words: Count = 1_500
    max_token: Count = 1_000
    """Characters of a word."""
    max_seconds: Annotated[float, Meta(gt=0.0, le=3_600.0)] = 30.0
    """For a request to arrive, and again for its answer to be made."""
    max_queue: Annotated[int, Meta(ge=1, le=10**9)] = 20_000
    """Words that are accepted and not parsed yet; what comes on top is told to come back."""
    max_connections: Count = 1_000
    token: str = ""
    """What requests must bring as `Authorization: Bearer TOKEN`; empty for nothing."""
    cors: tuple[str, ...] = ()
    """Origins whose pages may ask."""
