"""How a parser works: how trees are made, which columns stay, how much is taken at a time."""

from collections.abc import Iterable
from typing import Annotated, get_args

import msgspec
from msgspec import Meta

from headwise.errors import ConfigError
from headwise.settings.choices import ArcWeights, Column, Count, Decoder

MEMORY_BUDGET = 2**31
MAX_TREES = 100
"""The most trees of a sentence that can be asked for."""
TAGS: tuple[Column, ...] = ("upos", "xpos")
"""What `keep_tags` keeps."""
GPU_CHUNK_SIZE = 1_024
"""Sentences that a GPU takes at a time; its scorer sorts them by length."""
SMALLEST_MEMORY_BUDGET = 2**26
"""Bytes; less would not do even for short sentences."""


class DecodeConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How head distributions become trees, Sec. 3.3."""

    decoder: Decoder = "mst"
    """`greedy` (Eq. 8), `mst` (repair by Chu-Liu-Edmonds) or `eisner` (projective trees)."""
    single_root: bool = False
    """Require exactly one word on ROOT; the paper has no such constraint."""
    weights: ArcWeights = "log-probability"
    """Arc weights in repair: `log-probability` (authors' code) or `probability` (the paper)."""


class ParserSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a parser works. Other settings are another parser: `Parser.with_settings`."""

    decode: DecodeConfig = DecodeConfig()
    keep: tuple[Column, ...] = ()
    """Columns whose values in the input are kept; the model fills in only blanks."""
    lemmas: dict[str, dict[str, str]] = {}
    """Lemmas that override the model's: for each form, its lemma by universal tag (`_`: any)."""
    probabilities: bool = False
    """Write the probabilities of all values to MISC."""
    k_best: Annotated[int, Meta(ge=0, le=MAX_TREES)] = 0
    """Number of most probable trees to find for each sentence, with their probabilities."""
    marginals: bool = False
    """Compute the probability of each arc over all trees, and the entropy of the tree."""
    memory_budget: int = MEMORY_BUDGET
    """Bytes for the sentences being parsed, besides the model and the text of the file.

    One half is for long sentences, which are parsed one at a time, the other half for the rest.
    So the length at which a sentence counts as long does not depend on threads."""
    processes: Count = 1
    """Processes that share the memory budget."""
    chunk_size: Count = 128
    """Sentences that go to the scorer at a time; most of them have others of similar length."""
    look_ahead: Annotated[int, Meta(ge=1, le=1_000)] = 4
    """Chunks of a stream that are read before sentences are sorted by length; 1 for a scorer that
    sorts by itself."""
    first_window: Annotated[int, Meta(ge=1, le=1_000)] = 1
    """Chunks in the first window of a stream. The next ones double up to `look_ahead`, so that
    output starts early."""


def columns_to_keep(names: str | Iterable[str], keep_tags: bool = False) -> tuple[Column, ...]:
    """Read names of columns, in a list or in a string with commas; `keep_tags` adds UPOS and XPOS.

    Example: `columns_to_keep("heads,upos")` is `("upos", "heads")`, in the order of the file.
    """
    asked = {name.strip() for name in (names.split(",") if isinstance(names, str) else names)}
    asked |= set(TAGS) if keep_tags else set()
    columns: tuple[Column, ...] = get_args(Column)
    for name in sorted(asked - {""}):
        if name not in columns:
            what = f"keep: there is no column {name[:40]!r}"
            raise ConfigError(what, f"choose from {', '.join(columns)}, separated by commas")
    return tuple(column for column in columns if column in asked)
