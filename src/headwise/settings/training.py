"""How a model is trained: the data, the heads, the labels, the teachers and the segmenter."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headwise.settings.choices import Count, Format, Punctuation, Rate, Share, Size


class DataConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the trees are."""

    train: str | tuple[str, ...] = ""
    """Treebank to learn from, or a list of several, the main one first; files, or folders that hold
    a train file. Usually given by `--train`."""
    dev: str | tuple[str, ...] = ""
    """Treebank to choose the best epoch on; usually given by `--dev`. More in a list are scored at
    the end, each by itself. Without one, the last 10 of every 100 sentences of train."""
    format: Format = "conllu"
    """How the files are written: `conllu` or `conllx`."""
    punctuation: Punctuation = "ptb"
    """Words left out of the dev scores that choose an epoch: `none`, `ptb`, `conllx` or `ud`."""


class TrainConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the heads are learned, Eq. 7."""

    seed: Annotated[int, Meta(ge=0, lt=2**31)] = 123
    """Same seed, same model; bit for bit on a CPU."""
    batch_size: Count = 32
    """Sentences in a batch."""
    steps: Count = 1
    """Batches in an epoch at the least; a small treebank is gone through several times."""
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
    layer_decay: Annotated[float, Meta(gt=0.0, le=1.0)] = 1.0
    """Each layer of `model.encoder` learns at so many times the rate of the layer above it, and its
    tables at so many times that of the first layer; 1 for one rate."""
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


class StartConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A trained model that the network starts from."""

    model: str = ""
    """A model folder with weights, the folder of a run, or a name; usually given by `--start`. The
    models that we ship have no weights. If the recipe sets nothing in `[model]`, the settings of
    this model are used."""
    vocabulary: Literal["joined", "new"] = "joined"
    """`joined`: what the model knows and what the treebank adds, to adapt a model and keep what it
    knew; `new`: that of the treebank alone, to start one language from a network of many."""
    replay: str | tuple[str, ...] = ()
    """Files to learn from again, so that the model does not forget: treebanks that it was trained
    on, or text without trees, which it annotates itself."""
    replay_share: Share = 0.5
    """Share of the sentences of an epoch that are replayed, drawn anew for each epoch; less if
    there are not so many."""
    rate: Annotated[float, Meta(gt=0.0, le=1.0)] = 0.5
    """All learning rates are multiplied by this."""


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
    apostrophes: Share = 0.0
    """Share of the sentences whose contractions lose their apostrophe (`dont`)."""
    abbreviations: Share = 0.0
    """Share of the sentences that get an abbreviation made of two letters (`e.g.`)."""
    emoji: Share = 0.0
    """Share of the sentences that get an emoji before their last mark."""
    end_epochs: Annotated[int, Meta(ge=0, le=10_000)] = 0
    """Epochs of a second network, which decides by the words around where sentences end; 0 for
    none."""
    end_words: Count = 10_000
    """Words that the second network knows, the most frequent ones; others have a shape and an
    ending."""
    end_size: Size = 32
    """Length of its word vectors."""
    end_channels: Size = 64
    """Units of each of its layers."""
    end_layers: Annotated[int, Meta(ge=1, le=8)] = 4
    """Its layers; four see 15 words to either side, five see 31."""
    end_dropout: Share = 0.3
    """Share of its inputs, and of what each layer adds, that is set to zero."""
