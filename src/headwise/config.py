"""Settings, one frozen struct for each concern; the defaults are the paper's for English.

TOML in, JSON out. An unknown key, a wrong type or an impossible value fails at load and names the
file and the key. `Recipe` is a whole run, as `configs/*.toml` write it; no function below the
command line takes more of it than the part it uses.
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from headwise.errors import ConfigError

How = Literal["greedy", "chu-liu-edmonds", "eisner"]
Decoder = Literal["greedy", "mst", "eisner"]
Weights = Literal["log-probability", "probability"]
Punctuation = Literal["none", "ptb", "conllx", "ud"]
TagColumn = Literal["xpos", "upos", "upos+xpos", "none"]
PredictedTag = Literal["upos", "xpos"]
Mark = Literal["upos", "xpos", "feats", "treebank"]
Format = Literal["conllu", "conllx"]
Dtype = Literal["float32", "bfloat16"]

Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Size = Annotated[int, Meta(ge=1, le=16_384)]
Share = Annotated[float, Meta(ge=0.0, lt=1.0)]
Rate = Annotated[float, Meta(gt=0.0, le=10.0)]


class DataConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the trees are."""

    train: str | tuple[str, ...] = ""
    """Treebank to learn from, or a list of several, the main one first; files, or folders that hold
    a train file. Usually given by `--train`."""
    dev: str | tuple[str, ...] = ""
    """Treebank to choose the best epoch on; usually given by `--dev`. More in a list are scored at
    the end, each by itself."""
    format: Format = "conllu"
    """How the files are written: `conllu` or `conllx`."""
    punctuation: Punctuation = "ptb"
    """Words left out of the dev scores that choose an epoch: `none`, `ptb`, `conllx` or `ud`."""


class ModelConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The network of Eq. 1-6 and the label network."""

    representation: Literal["bilstm", "pei"] = "bilstm"
    """What a word is represented by: `bilstm` (Eq. 1-4) or `pei` (a window of five words)."""
    stacks: Literal["independent", "interleaved"] = "independent"
    """Forward and backward LSTMs joined at the top only (the paper) or after every layer."""
    word_size: Size = 300
    """s: length of a word vector."""
    tag_size: Size = 30
    """q: length of a tag vector."""
    hidden_size: Size = 300
    """d: units of an LSTM in one direction; for `pei`, units of the hidden layer."""
    layers: Annotated[int, Meta(ge=0, le=8)] = 2
    """LSTMs on top of each other in one direction; 0, with an encoder, for none."""
    label_size: Size = 800
    """Units in each of the two hidden layers of the label network."""
    tag_column: TagColumn = "xpos"
    """What t_i is read from: `xpos`, `upos`, `upos+xpos` (the pair), or `none` for no tags."""
    predicted_tags: list[PredictedTag] = []
    """Columns that the parser fills in from the representation: `upos`, `xpos` or both."""
    marks: tuple[Mark, ...] = ()
    """What else is known of a word, as one more input, the sum of a vector for each: `upos`, `xpos`
    (its parts between `+`), `feats` (each `Name=Value`) and `treebank`, where it stems from."""
    mark_size: Size = 50
    """Length of those vectors."""
    pieces: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    """Buckets for hashed character n-grams of a word, its spelling as an input; 0 for none."""
    piece_size: Size = 100
    """Length of the vector of a spelling."""
    selector_size: Annotated[int, Meta(ge=0, le=16_384)] = 0
    """Length of U_a a_j and W_a a_i in Eq. 6; 0 for 2d, as in the paper."""
    min_count: Count = 2
    """Words seen fewer times in training become UNK."""
    vectors: str = ""
    """Pre-trained word vectors: GloVe or word2vec text, word2vec binary, or a folder (npz).
    Words that have one keep it; the others learn theirs."""
    vector_words: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    """Keep the vectors of so many words, the first in the file, as an input of its own beside the
    learned word vector, for words that training never saw too; 0 to put them into W_e, as the paper
    does."""
    vector_size: Size = 100
    """Length of those vectors."""
    encoder: str = ""
    """Folder of a pre-trained transformer (Hugging Face; BERT and its like), whose last states are
    an input of each word, and which is learned on with the rest."""

    def __post_init__(self) -> None:
        """Refuse words that never see each other, and an encoder that nothing would read."""
        if self.encoder and self.representation == "pei":
            raise ValueError("model.encoder goes with representation 'bilstm', not with 'pei'")
        if not self.layers and not self.encoder:
            raise ValueError("model.layers is 0 and there is no model.encoder: no word has context")


class TrainConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the heads are learned, Eq. 7."""

    seed: Annotated[int, Meta(ge=0, lt=2**31)] = 123
    """Same seed, same model; bit for bit on a CPU."""
    batch_size: Count = 32
    """Sentences in a batch."""
    max_length: Count = 100
    """Longer training sentences are left out (and counted aloud); parsing has no such limit."""
    dropout: Share = 0.35
    """Share of the inputs of each LSTM layer (`pei`: of the window) set to zero at each word."""
    recurrent_dropout: Share = 0.1
    """Share of the candidate cell updates set to zero; for `pei`, of the hidden units of pairs."""
    init: Rate = 0.1
    """Every parameter starts uniform in [-init, init]."""
    clip: Rate = 5.0
    """The gradient is scaled down to this norm."""
    adam_epochs: Annotated[int, Meta(ge=1, le=10_000)] = 15
    """At most so many epochs of Adam."""
    adam_rate: Rate = 0.001
    """Learning rate of Adam."""
    encoder_rate: Rate = 5e-5
    """The same for the weights of `model.encoder`; it rises and falls with `adam_rate`."""
    sgd_epochs: Annotated[int, Meta(ge=0, le=10_000)] = 10
    """Then at most so many epochs of plain SGD from the best epoch; 0 for none."""
    sgd_rate: Rate = 0.001
    """Learning rate of SGD."""
    patience: Count = 1
    """A phase ends after so many epochs in a row without a better dev UAS."""
    locked: bool = False
    """Drop the same units at every word of a sentence, and some of a_i as well."""
    input_dropout: Share = 0.0
    """Share of the vectors (word, tag, marks, spelling, pre-trained, transformer) of each word that
    are dropped whole; what is left is scaled up."""
    word_dropout: Share = 0.0
    """Share of the words that become UNK."""
    schedule: Literal["constant", "cosine"] = "constant"
    """Adam's learning rate: the same throughout, or rising for `warmup` epochs and falling to zero
    with `adam_epochs`."""
    warmup: Annotated[float, Meta(ge=0.0, le=10_000.0)] = 1.0
    """Epochs in which the rate of a `cosine` rises."""
    average: Share = 0.0
    """Decay of an exponential moving average of the weights, which is what is scored and kept;
    0 for the weights themselves."""
    tag_weight: Annotated[float, Meta(ge=0.0, le=100.0)] = 0.3
    """Weight of the loss of predicted tags."""
    window: Count = 20
    """Batches that are sorted by length together after shuffling."""
    calibrate: bool = False
    """Divide the scores of heads by a number, fitted on dev, in the end: no tree changes (with
    `decode.weights = "log-probability"`, so only with that), but probabilities can be believed."""


class LabelConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the labels are learned, on gold heads (end of Sec. 3.2)."""

    joint: bool = False
    """Also while the heads are learned, in one loss; the paper learns labels afterwards only."""
    epochs: Annotated[int, Meta(ge=0, le=10_000)] = 20
    """Epochs of AdaGrad; the one with the best dev LAS on repaired trees is kept. 0, for none, goes
    with `joint` only."""
    rate: Rate = 0.01
    """Learning rate of AdaGrad."""
    batch_size: Count = 256
    """Arcs in a batch."""
    input_dropout: Share = 0.05
    """Share of the features set to zero."""
    hidden_dropout: Share = 0.5
    """Share of the hidden units set to zero."""

    def __post_init__(self) -> None:
        """Refuse a run that would never learn a label."""
        if not self.joint and not self.epochs:
            raise ValueError(
                "label.epochs is 0 and label.joint is false: no label would be learned"
            )


class TeachConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Models whose distributions are learned from beside the gold trees (distillation)."""

    models: Annotated[tuple[str, ...], Meta(min_length=1)]
    """Folders of trained models, with weights; the mean of their distributions is what teaches."""
    weight: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.5
    """w: the loss of a word is (1 - w) times that of its gold head, plus w times the cross-entropy
    with the teachers' distribution; likewise for its label (with `label.joint`) and its tags."""
    temperature: Annotated[float, Meta(ge=0.1, le=100.0)] = 1.0
    """Above 1 the distributions of both sides are flatter when they are compared."""
    text: tuple[str, ...] = ()
    """More files to learn from, with words but without trees: the teachers' trees serve as gold."""


class SegmentConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How raw text is cut into sentences and words, and how that is learned."""

    embedding_size: Size = 16
    """Length of a character vector."""
    channels: Size = 48
    """Units of each layer of convolution."""
    layers: Annotated[int, Meta(ge=1, le=8)] = 5
    """Layers; each sees twice as far as the one below it."""
    min_count: Count = 5
    """Characters seen fewer times in training are known by their class only."""
    epochs: Annotated[int, Meta(ge=1, le=10_000)] = 12
    """Epochs of Adam; the one with the best dev scores is kept."""
    steps: Count = 300
    """Batches in an epoch at the least; a small treebank is gone through several times."""
    rate: Rate = 0.003
    """Learning rate at the start; it falls to zero along a cosine."""
    window: Count = 512
    """Characters in a row of a batch."""
    batch_size: Count = 8
    """Rows in a batch."""
    dropout: Share = 0.15
    """Share of what each layer adds that is set to zero."""
    character_dropout: Share = 0.05
    """Share of the characters that show only their class."""
    join: Share = 0.2
    """Share of the paragraph breaks that become a space."""
    alone: Share = 0.05
    """Share of the sentences that become a paragraph of their own."""
    bare: Share = 0.1
    """Share of the sentences at the end of a paragraph that lose their last mark."""


class DecodeConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How head distributions become trees, Sec. 3.3."""

    decoder: Decoder = "mst"
    """`greedy` (Eq. 8), `mst` (repair by Chu-Liu-Edmonds) or `eisner` (projective trees)."""
    single_root: bool = False
    """Exactly one word hangs on ROOT; the paper has no such constraint."""
    weights: Weights = "log-probability"
    """Arc weights in repair: `log-probability` (authors' code) or `probability` (the paper)."""


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole training run."""

    data: DataConfig = DataConfig()
    model: ModelConfig = ModelConfig()
    train: TrainConfig = TrainConfig()
    label: LabelConfig = LabelConfig()
    teach: TeachConfig | None = None
    """With a table `[teach]` the model learns from others too."""
    segment: SegmentConfig | None = None
    """With a table `[segment]`, empty or not, the model learns to find words in raw text too."""
    decode: DecodeConfig = DecodeConfig()


def read_recipe(
    path: Path, settings: Sequence[str] = (), values: Mapping[str, object] | None = None
) -> Recipe:
    """Read a TOML recipe; lay `section.key=value` settings over it, and then typed values.

    A setting is read as TOML where it can be (`0.2`, `true`, `"x"`) and as plain text otherwise.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "see configs/ for recipes") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    for setting in settings:
        _lay_over(table, setting)
    for name, value in (values or {}).items():
        section, _, key = name.partition(".")
        table.setdefault(section, {})[key] = value
    return convert(table, Recipe, " --set ".join((str(path), *settings)))


def _lay_over(table: dict[str, Any], setting: str) -> None:
    name, equals, value = setting.partition("=")
    section, dot, key = name.strip().partition(".")
    if not equals or not dot or not isinstance(table.get(section, {}), dict):
        raise ConfigError(
            f"--set {setting}: not of the form section.key=value",
            "for example: --set train.dropout=0.2",
        )
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value
    table.setdefault(section, {})[key] = parsed


T = TypeVar("T")


def convert(table: object, kind: type[T], where: str) -> T:
    """Turn plain tables into a struct, or say which key of `where` is at fault."""
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {error}", "docs/configuration.md lists every key") from error
