"""What is measured on a run, and the counts of a treebank, as they are kept in JSON."""

from pathlib import Path

import msgspec


class Bin(msgspec.Struct, frozen=True, kw_only=True):
    """A tenth of the sentences, sorted by length (Figure 3)."""

    last_length: int
    n_sentences: int
    uas: float | None


class PartScores(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of one file, in percent; tree rates are of the predicted heads, over all words."""

    n_sentences: int
    n_words: int
    """Scored words, without punctuation."""
    uas: float
    las: float
    uem: float
    lem: float
    label_accuracy: float
    tree_rate: float
    projective_rate: float
    all_words: tuple[float, float]
    """UAS and LAS with punctuation."""
    bins: tuple[Bin, ...]


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of one way to make trees."""

    dev: PartScores
    test: PartScores


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of one model."""

    greedy: Output | None = None
    """Eq. 8; other parsers have none."""
    repaired: Output
    """Trees by the decoder of the dataset, or those of another parser."""
    machine: str
    """What the training ran on."""
    versions: dict[str, str]

    def summary(self) -> str:
        """Give UAS and LAS on dev."""
        return f"dev {self.repaired.dev.uas:.2f} / {self.repaired.dev.las:.2f}"


class TreebankPart(msgspec.Struct, frozen=True, kw_only=True):
    """Size and shape of one file."""

    n_sentences: int
    n_words: int
    projective: float
    """Share of projective trees, in percent."""
    sha256: str
    """Of the file as it is stored."""


class Treebank(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of a dataset for Table 1, `OUT/DATASET/treebank.json`."""

    train: TreebankPart
    dev: TreebankPart
    test: TreebankPart


def treebank_path(out: Path, dataset: str) -> Path:
    """Name the file with the counts of a treebank."""
    return out / dataset / "treebank.json"
