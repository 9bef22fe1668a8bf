"""The whole network: inputs (Eq. 3), representation (Eq. 1-4), selection (Eq. 5-6), labels."""

import torch
from torch import Tensor, nn

from headwise.arrays import BoolArray, FloatArray
from headwise.network.encoder import Encoder, WindowIds
from headwise.network.inputs import Inputs
from headwise.network.label import Labeller, Tagger
from headwise.network.pei import PeiSelector, Window
from headwise.network.represent import BiLstm
from headwise.network.select import AdditiveSelector, head_distribution
from headwise.settings.model import ModelConfig
from headwise.settings.training import LabelConfig, TrainConfig
from headwise.vocabulary.encode import WordIds
from headwise.vocabulary.vocab import Vocab


class Network(nn.Module):
    """Words and tags in; head distributions and label distributions out."""

    def __init__(self, config: ModelConfig, vocab: Vocab) -> None:
        """Build the parts that the config names."""
        super().__init__()
        self.encoder = None if vocab.subwords is None else Encoder(vocab.subwords.settings)
        self.inputs = Inputs(config, vocab)
        self.represent: BiLstm | Window
        self.select: AdditiveSelector | PeiSelector
        if config.representation == "bilstm":
            self.represent = BiLstm(config, self.inputs.size)
            pair_size = config.selector_size or self.represent.size
            self.select = AdditiveSelector(self.represent.size, pair_size)
        else:
            self.represent = Window(self.inputs.size)
            self.select = PeiSelector(self.represent.size, config.hidden_size)
        feature_size = self.represent.size + self.inputs.size
        self.label = Labeller(feature_size, config.label_size, len(vocab.labels))
        self.tag = Tagger(feature_size, config.column_size, vocab)

    def forward(
        self, ids: WordIds[Tensor], lengths: Tensor | None, windows: WindowIds | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Select heads for a batch of ids; `windows` are for the transformer, if there is one.

        Returns log P_head [B, N+1, N+1], the states a [B, N+1, 2d] and the inputs x [B, N+1, s+q].
        """
        states, inputs = self.represent_words(ids, lengths, windows)
        heads, dependents = self.select.project(states)
        rows = torch.arange(ids.words.shape[1], device=ids.words.device)
        scores = self.select.score(dependents, heads, rows)
        return head_distribution(scores, lengths), states, inputs

    def represent_words(
        self, ids: WordIds[Tensor], lengths: Tensor | None, windows: WindowIds | None = None
    ) -> tuple[Tensor, Tensor]:
        """Give the states a [B, N+1, 2d] and the inputs x [B, N+1, s+q] alone, Eq. 1-4."""
        in_context = None if self.encoder is None else self.encoder(windows)
        inputs = self.inputs(ids, in_context)
        return self.represent(inputs, lengths), inputs

    def set_dropout(self, train: TrainConfig, label: LabelConfig) -> None:
        """Set the shares that are dropped in training; parsing drops nothing."""
        self.inputs.dropout = train.input_dropout
        self.inputs.word_dropout = train.word_dropout
        self.represent.dropout = train.dropout
        if isinstance(self.represent, BiLstm):
            self.represent.recurrent_dropout = train.recurrent_dropout
            self.represent.locked = train.locked
        if isinstance(self.select, PeiSelector):
            self.select.dropout = train.recurrent_dropout
        self.label.input_dropout = label.input_dropout
        self.label.hidden_dropout = label.hidden_dropout
        self.tag.dropout = train.dropout

    def parameters_of(self, part: str) -> list[nn.Parameter]:
        """Name the parameters that a phase trains: `heads` (Eq. 7), `labels` or `all`."""
        return [
            parameter
            for name, parameter in self.named_parameters()
            if parameter.requires_grad
            and (part == "all" or name.startswith("label.") == (part == "labels"))
        ]


def build_network(
    config: ModelConfig,
    vocab: Vocab,
    train: TrainConfig,
    label: LabelConfig,
    device: torch.device,
    vectors: FloatArray | None = None,
    word_vectors: tuple[FloatArray, BoolArray] | None = None,
) -> Network:
    """Build a network that is ready to train.

    `vectors` [ids, size] are an input of their own. `word_vectors` go into W_e: a table, and which
    of its rows are filled. Both are pre-trained and stay as they are.
    """
    network = Network(config, vocab)
    initialise(network, train.init, train.seed)
    network.set_dropout(train, label)
    network.to(device)
    if vectors is not None:
        assert network.inputs.vector is not None
        network.inputs.vector.weight.data.copy_(torch.from_numpy(vectors))
    if word_vectors is not None:
        # In the paper the vectors initialise W_e; the authors' code keeps them fixed, and so do we.
        table, found = (torch.from_numpy(part).to(device) for part in word_vectors)
        weight = network.inputs.word.weight
        weight.data[found] = table[found]
        learned = (~found)[:, None].to(weight.dtype)
        weight.register_hook(lambda gradient: gradient * learned)  # type: ignore[no-untyped-call]
    return network


def initialise(network: Network, scale: float, seed: int) -> None:
    """Draw every parameter uniformly from [-scale, scale], the same on every device.

    Those of an encoder stay: they are pre-trained.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if not parameter.requires_grad or name.startswith("encoder."):
                continue
            drawn = torch.rand(parameter.shape, generator=generator)
            parameter.copy_((2 * drawn - 1) * scale)
