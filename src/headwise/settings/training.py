"""How a model is trained: the data, the heads, the labels, the teachers and the segmenter."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headwise.settings.choices import Count, Format, Punctuation, Rate, Share, Size


class DataConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the trees are."""

    train: str | tuple[str, ...] = ""
    """Treebank to learn from, or a list with the main one first: files, or folders that contain a
    train file. Usually given by `--train`."""
    dev: str | tuple[str, ...] = ""
    """Treebank on which the best epoch is chosen; usually given by `--dev`. Other treebanks in a
    list are only scored at the end, each separately. Without dev, the last 10 of every 100
    sentences of train are used."""
    format: Format = "conllu"
    """Format of the files: `conllu` or `conllx`."""
    punctuation: Punctuation = "ptb"
    """Words left out of the dev scores that choose an epoch: `none`, `ptb`, `conllx` or `ud`."""


class TrainConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the heads are learned, Eq. 7."""

    seed: Annotated[int, Meta(ge=0, lt=2**31)] = 123
    """Same seed, same model; bit for bit on a CPU."""
    batch_size: Count = 32
    """Sentences in a batch."""
    steps: Count = 1
    """Minimum number of batches in an epoch; a small treebank is read several times."""
    main_share: Share = 0.0
    """Share of an epoch's sentences that are from the main treebank; the others are drawn anew for
    each epoch. An epoch always has all sentences of the main treebank. 0 reads all treebanks
    completely. Useful with far more text that was parsed automatically than gold trees."""
    max_length: Count = 100
    """Longer training sentences are left out, and their number is reported; parsing has no such
    limit."""
    dropout: Share = 0.35
    """Share of the inputs of each LSTM layer (`pei`: of the window) set to zero at each word."""
    recurrent_dropout: Share = 0.1
    """Share of the candidate cell updates set to zero; for `pei`, of the hidden units of pairs."""
    init: Rate = 0.1
    """Every parameter is initialised uniformly in [-init, init]."""
    clip: Rate = 5.0
    """Maximum norm of the gradient."""
    adam_epochs: Annotated[int, Meta(ge=1, le=10_000)] = 15
    """Maximum number of epochs of Adam."""
    adam_rate: Rate = 0.001
    """Learning rate of Adam."""
    encoder_rate: Rate = 5e-5
    """Learning rate of `model.encoder`; it rises and falls with `adam_rate`."""
    layer_decay: Annotated[float, Meta(gt=0.0, le=1.0)] = 1.0
    """The learning rate of each layer of `model.encoder` is that of the layer above it times this
    factor; the same holds for its tables, below the first layer. 1 gives all the same rate."""
    sgd_epochs: Annotated[int, Meta(ge=0, le=10_000)] = 10
    """Maximum number of epochs of plain SGD, which start from the best epoch of Adam; 0 for
    none."""
    sgd_rate: Rate = 0.001
    """Learning rate of SGD."""
    patience: Count = 1
    """A phase ends after this many epochs in a row without a better dev UAS."""
    locked: bool = False
    """Drop the same units at every word of a sentence, and also units of a_i."""
    input_dropout: Share = 0.0
    """Share of the vectors of each word (word, tag, marks, spelling, pre-trained, transformer) that
    are dropped as a whole; the others are scaled up."""
    word_dropout: Share = 0.0
    """Share of the words that become UNK."""
    schedule: Literal["constant", "cosine"] = "constant"
    """Learning rate of Adam: `constant`, or `cosine`, which rises for `warmup` epochs and falls to
    zero at `adam_epochs`."""
    warmup: Annotated[float, Meta(ge=0.0, le=10_000.0)] = 1.0
    """Epochs in which the rate of `cosine` rises."""
    average: Share = 0.0
    """Decay of an exponential moving average of the weights. The average is what is scored and
    saved; 0 uses the weights themselves."""
    tag_weight: Annotated[float, Meta(ge=0.0, le=100.0)] = 0.3
    """Weight of the loss of predicted tags."""
    window: Count = 20
    """Number of batches that are sorted by length together after shuffling."""
    calibrate: bool = False
    """At the end, divide the scores of heads by a number fitted on dev, so that probabilities are
    realistic. No tree changes. Needs `decode.weights = "log-probability"`."""


class LabelConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the labels are learned, on gold heads (end of Sec. 3.2)."""

    joint: bool = False
    """Also learn labels together with the heads, in one loss. The paper learns them only
    afterwards."""
    epochs: Annotated[int, Meta(ge=0, le=10_000)] = 20
    """Epochs of AdaGrad; the one with the best dev LAS on repaired trees is kept. 0 for none, which
    needs `joint`."""
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
    """A model folder, the folder of a run, or a name such as `en`; usually given by `--start`. A
    model without weights is read back from its int8 graphs, unless it has a transformer. If the
    recipe sets nothing in `[model]`, the settings of this model are used."""
    vocabulary: Literal["joined", "new"] = "joined"
    """`joined`: the vocabulary of the model, extended by that of the treebank; use this to adapt a
    model and keep what it knows. `new`: the vocabulary of the treebank only; use this to start one
    language from a network trained on many."""
    replay: str | tuple[str, ...] = ()
    """Files to learn from again, so that the model does not forget: treebanks that it was trained
    on, or text without trees, which the model annotates itself."""
    replay_share: Share = 0.5
    """Share of replayed sentences in an epoch, drawn again for each epoch; less if there are not
    enough."""
    rate: Annotated[float, Meta(gt=0.0, le=1.0)] = 0.5
    """All learning rates are multiplied by this."""


class TeachConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Models whose distributions are learned from beside the gold trees (distillation)."""

    models: Annotated[tuple[str, ...], Meta(min_length=1)]
    """Folders of trained models with weights; the network learns from the mean of their
    distributions."""
    weight: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.5
    """w: the loss of a word is (1 - w) times that of its gold head, plus w times the cross-entropy
    with the teachers' distribution. The same holds for its label (with `label.joint`) and its
    tags."""
    temperature: Annotated[float, Meta(ge=0.1, le=100.0)] = 1.0
    """Values above 1 flatten the distributions of both sides before they are compared."""
    text: tuple[str, ...] = ()
    """More files to learn from, with words but without trees: the teachers' trees are used as gold.
    If the student reads tags, tags in the file are kept; otherwise the teachers' tags replace them.
    These files add nothing to the vocabulary."""


class SegmentConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How raw text is cut into sentences and words, and how that is learned."""

    embedding_size: Size = 16
    """Length of a character vector."""
    channels: Size = 48
    """Units of each layer of convolution."""
    layers: Annotated[int, Meta(ge=1, le=8)] = 5
    """Number of layers; each sees twice as far as the one below it."""
    networks: Annotated[int, Meta(ge=1, le=8)] = 1
    """Number of such networks, whose scores are averaged."""
    min_count: Count = 5
    """Characters seen fewer times in training are represented by their class only."""
    epochs: Annotated[int, Meta(ge=1, le=10_000)] = 12
    """Epochs of Adam; the one with the best dev scores is kept."""
    steps: Count = 300
    """Minimum number of batches in an epoch; a small treebank is read several times."""
    rate: Rate = 0.003
    """Learning rate at the start; it falls to zero along a cosine."""
    window: Count = 512
    """Characters in each row of a batch."""
    batch_size: Count = 8
    """Rows in a batch."""
    dropout: Share = 0.15
    """Share of the output of each layer that is set to zero."""
    character_dropout: Share = 0.05
    """Share of the characters that show only their class."""
    join: Share = 0.2
    """Share of the paragraph breaks that become a space."""
    alone: Share = 0.05
    """Share of the sentences that become a paragraph of their own."""
    bare: Share = 0.1
    """Share of the sentences at the end of a paragraph that lose their final punctuation mark."""
    apostrophes: Share = 0.0
    """Share of the sentences whose contractions lose their apostrophe (`dont`)."""
    abbreviations: Share = 0.0
    """Share of the sentences that get an abbreviation made of two letters (`e.g.`)."""
    emoji: Share = 0.0
    """Share of the sentences that get an emoji before their final mark."""
    end_epochs: Annotated[int, Meta(ge=0, le=10_000)] = 0
    """Epochs of a second network, which helps to find sentence ends from the surrounding words; 0
    for none."""
    end_words: Count = 10_000
    """Size of its vocabulary, the most frequent words; others are represented by shape and
    ending."""
    end_size: Size = 32
    """Length of its word vectors."""
    end_channels: Size = 64
    """Units of each of its layers."""
    end_layers: Annotated[int, Meta(ge=1, le=8)] = 4
    """Number of its layers; four see 15 words to either side, five see 31."""
    end_dropout: Share = 0.3
    """Share of its inputs and of the output of each layer that is set to zero."""
    end_splits: Annotated[int, Meta(ge=0, le=8)] = 0
    """If above 0, it also finds tokens that are two words (`its`, `dont`), the second of at most so
    many letters."""
