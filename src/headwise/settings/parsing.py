"""How a parser works: how trees are made, which columns stay, how much is taken at a time."""

from typing import Annotated

import msgspec
from msgspec import Meta

from headwise.settings.choices import ArcWeights, Count, Decoder

MEMORY_BUDGET = 2**31
GPU_CHUNK_SIZE = 1_024
"""Sentences that a GPU takes at a time; its scorer sorts them by length."""
SMALLEST_MEMORY_BUDGET = 2**26
"""Bytes; less would not do even for short sentences."""


class DecodeConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How head distributions become trees, Sec. 3.3."""

    decoder: Decoder = "mst"
    """`greedy` (Eq. 8), `mst` (repair by Chu-Liu-Edmonds) or `eisner` (projective trees)."""
    single_root: bool = False
    """Exactly one word hangs on ROOT; the paper has no such constraint."""
    weights: ArcWeights = "log-probability"
    """Arc weights in repair: `log-probability` (authors' code) or `probability` (the paper)."""


class ParserSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a parser works. Other settings are another parser: `Parser.with_settings`."""

    decode: DecodeConfig = DecodeConfig()
    keep_tags: bool = False
    """Keep the tags of the input; the model fills in those that are missing."""
    memory_budget: int = MEMORY_BUDGET
    """Bytes for the sentences being parsed, besides the model and the text of the file.

    One half is for a long sentence, of which only one is parsed at a time, the other half for the
    rest: so the length at which a sentence counts as long does not depend on threads."""
    processes: Count = 1
    """Processes that share the memory budget."""
    chunk_size: Count = 128
    """Sentences that go to the scorer at a time; most of so many have some of similar length."""
    look_ahead: Annotated[int, Meta(ge=1, le=1_000)] = 4
    """Chunks of a stream that are read before sentences are sorted by length; 1 for a scorer that
    sorts by itself."""
    first_window: Annotated[int, Meta(ge=1, le=1_000)] = 1
    """Chunks in the first window of a stream. The next ones double up to `look_ahead`, so that
    output starts early."""
