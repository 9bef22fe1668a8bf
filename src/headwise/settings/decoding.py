"""How head distributions become trees."""

import msgspec

from headwise.settings.choices import ArcWeights, Decoder


class DecodeConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How head distributions become trees, Sec. 3.3."""

    decoder: Decoder = "mst"
    """`greedy` (Eq. 8), `mst` (repair by Chu-Liu-Edmonds) or `eisner` (projective trees)."""
    single_root: bool = False
    """Exactly one word hangs on ROOT; the paper has no such constraint."""
    weights: ArcWeights = "log-probability"
    """Arc weights in repair: `log-probability` (authors' code) or `probability` (the paper)."""
