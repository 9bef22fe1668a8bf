"""Learn from the words around where sentences end: the second network of a segmenter.

The network is convolutions over rows, one for each token (`text.ends`), and never sees what the
first network makes of the text. So the two make different mistakes, and the mean of their scores is
better than either.

With `end_splits`, a second stack of layers over the same vectors learns which tokens are two words
(`its`, `dont`).

Each epoch has a new text, as for the first network. The last epoch is kept.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional

from headwise.learn.export.graphs import TracedFunction, trace
from headwise.learn.fit.step import TrainingStep, cosine_rate
from headwise.learn.segment.data import IGNORED, GoldSentence, Targets, segment_batches
from headwise.settings.training import SegmentConfig
from headwise.text.ends import (
    ENDING,
    FIRST_KNOWN,
    MAX_KNOWN,
    N_FEATURES,
    UNKNOWN,
    EndFinder,
    EndScores,
    RowFeatures,
    RowMaker,
    Rows,
    outline,
    shape_of,
)
from headwise.text.scan import EXPANDS, SENTENCE_END, WORD_END, Labels, is_break
from headwise.text.segmenter import EndSettings
from headwise.text.symbols import Codes, to_codes

_MIN_COUNT = 2
"""Words, shapes and endings that are seen fewer times in training are unknown."""
_MAX_SHAPES, _MAX_ENDINGS = 600, 2_500
_SHAPE_SIZE, _ENDING_SIZE, _SPACE_SIZE = 16, 16, 4
"""Lengths of the vectors of shapes, endings and spaces."""
_HIDDEN = 0.1
"""Share of the words that are hidden in training."""
_BATCH_SIZE, _WIDTH = 6, 192
"""Pieces in a batch, and rows in a piece."""
_WARM_UP = 100
_WEIGHT_DECAY = 0.01
_CLIP = 1.0
_SPLIT_LAYERS = 3
"""Layers that find the ends of words; three see 7 tokens to either side."""
_SPLIT_CHANNELS = 32
"""Units of each of them."""
_SPLIT_SHARE = 0.25
"""The weight of the first network in the scores of words. It has learned the forms of the training
text by heart, so its scores are high."""
_SPLIT_BIAS = 1.0
"""Added to the scores of words, since the first network splits too little."""

EpochText = Callable[[np.random.Generator], tuple[Codes, Labels]]
"""Draws the text of an epoch: symbols and labels."""


def learn_lists(sentences: Sequence[GoldSentence], config: SegmentConfig) -> EndSettings:
    """List the frequent words, shapes and endings of a treebank."""
    forms = Counter(token.form for sentence in sentences for token in sentence.tokens)
    words, shapes, endings = Counter[str](), Counter[str](), Counter[str]()
    for form, count in forms.items():
        lower = form.lower()
        words[lower] += count
        shapes[shape_of(outline(to_codes(form)))] += count
        endings[lower[-ENDING:]] += count
    return EndSettings(
        words=_most_frequent(words, config.end_words),
        shapes=_most_frequent(shapes, _MAX_SHAPES),
        endings=_most_frequent(endings, _MAX_ENDINGS),
        reach=(1 << config.end_layers) - 1,
        splits=config.end_splits,
    )


def _most_frequent(counts: Counter[str], n: int) -> tuple[str, ...]:
    """Return the most frequent values that may be listed; ties in sorted order."""
    known = sorted(
        (-count, value)
        for value, count in counts.items()
        if count >= _MIN_COUNT and len(value) <= MAX_KNOWN
    )
    return tuple(value for _, value in known[:n])


class EndNetwork(nn.Module):
    """Features [..., K + 2 reach, 4] -> scores [..., K, 1 + splits], see `text.ends.EndScores`.

    A token is not split if its scores but the first are below 0.
    """

    def __init__(self, config: SegmentConfig, lists: EndSettings) -> None:
        """Start with small random weights."""
        super().__init__()
        sizes = (config.end_size, _SHAPE_SIZE, _ENDING_SIZE, _SPACE_SIZE)
        lengths = (len(lists.words), len(lists.shapes), len(lists.endings), 1)
        self.tables = nn.ModuleList(
            nn.Embedding(FIRST_KNOWN + length, size)
            for length, size in zip(lengths, sizes, strict=True)
        )
        for table in self.tables:
            nn.init.normal_(table.get_parameter("weight"), std=0.1)
        channels = config.end_channels
        self.first = nn.Linear(3 * sum(sizes), channels)
        self.layers = nn.ModuleList(
            nn.Linear(3 * channels, channels) for _ in range(config.end_layers - 1)
        )
        self.last = nn.Linear(channels, 1)
        self.dropout = nn.Dropout(config.end_dropout)
        self.splits = lists.splits
        if self.splits:
            n_layers = min(_SPLIT_LAYERS, config.end_layers)
            self.split_first = nn.Linear(3 * sum(sizes), _SPLIT_CHANNELS)
            self.split_layers = nn.ModuleList(
                nn.Linear(3 * _SPLIT_CHANNELS, _SPLIT_CHANNELS) for _ in range(n_layers - 1)
            )
            self.split_last = nn.Linear(_SPLIT_CHANNELS, self.splits)

    def forward(self, features: Tensor) -> Tensor:
        """Score each row that has `reach` others on either side."""
        vectors = [table(features[..., i]) for i, table in enumerate(self.tables)]
        near = _with_neighbours(self.dropout(torch.cat(vectors, dim=-1)), 1)
        ends: Tensor = self.last(self._run(self.first, self.layers, near))
        if not self.splits:
            return ends
        x = self._run(self.split_first, self.split_layers, near)
        more = (x.shape[-2] - ends.shape[-2]) // 2  # these layers may see less far
        splits = self.split_last(x[..., more : x.shape[-2] - more, :])
        return torch.cat([ends, splits], dim=-1)

    def _run(self, first: nn.Module, layers: nn.ModuleList, near: Tensor) -> Tensor:
        x = functional.relu(first(near))
        for i, layer in enumerate(layers):
            d = 2 << i
            x = x[..., d:-d, :] + self.dropout(functional.relu(layer(_with_neighbours(x, d))))
        return x


def _with_neighbours(x: Tensor, d: int) -> Tensor:
    """Join each vector [..., K, c] with those d places before and after: [..., K - 2 d, 3 c]."""
    return torch.cat([x[..., : -2 * d, :], x[..., d:-d, :], x[..., 2 * d :, :]], dim=-1)


def put_together(network: EndNetwork, features: Tensor, given: Tensor) -> Tensor:
    """Join the network's scores and those of the first one: [K, 1 + splits], or [K] without splits.

    Of the ends of sentences, take the mean.
    """
    scores: Tensor = network(features)
    if not network.splits:
        return (scores[:, 0] + given) / 2
    splits = torch.lerp(scores[:, 1:], given[:, 1:], _SPLIT_SHARE) + _SPLIT_BIAS
    return torch.cat([(scores[:, :1] + given[:, :1]) / 2, splits], dim=1)


def train_ends(
    network: EndNetwork, maker: RowMaker, text: EpochText, config: SegmentConfig, seed: int
) -> Iterator[float]:
    """Train a network, and yield the mean loss of each epoch."""
    optimizer = torch.optim.AdamW(
        network.parameters(), config.rate, betas=(0.9, 0.99), weight_decay=_WEIGHT_DECAY
    )
    step = TrainingStep(optimizer, list(network.parameters()), _CLIP)
    for epoch in range(1, config.end_epochs + 1):
        torch.manual_seed(seed + epoch)
        random = np.random.default_rng([seed, epoch])
        features, targets = _to_learn(*text(random), maker, network.splits, random)
        batches = list(segment_batches(features, targets, maker.reach, _BATCH_SIZE, _WIDTH, random))
        network.train()
        losses = []
        for i, batch in enumerate(batches):
            warmed_up = (i + 1) / _WARM_UP if epoch == 1 else 1.0
            done = (epoch - 1 + i / len(batches)) / config.end_epochs
            rate = cosine_rate(config.rate, warmed_up, done)
            losses.append(step(partial(_batch_loss, network, *batch), rate).item())
        network.eval()
        yield float(np.mean(losses))


def _to_learn(
    codes: Codes, labels: Labels, maker: RowMaker, splits: int, random: np.random.Generator
) -> tuple[RowFeatures, Targets]:
    """Return the rows of a text [K, 4] and their targets [K, 2], some of the words hidden.

    The targets are whether a sentence ends, and how many letters the last word of a token has, 0 if
    the token is one word. No end is learned where a break decides.
    """
    rows = maker.make(codes, labels)
    is_learned = rows.is_token & ~is_break(codes[rows.symbols + 1])
    ends = (labels[rows.symbols] & SENTENCE_END > 0).astype(np.int64)
    features = rows.features.copy()
    is_hidden = rows.is_token & (random.random(len(features)) < _HIDDEN)
    features[is_hidden, 0] = UNKNOWN
    targets = [np.where(is_learned, ends, IGNORED), _last_words(labels, rows, splits)]
    return features, np.stack(targets, axis=1)


def _last_words(labels: Labels, rows: Rows, splits: int) -> NDArray[np.int64]:
    """Return how many letters the last word of each token has [K]; 0 if the token is one word.

    Ignored are tokens that expand or are not made of letters, and those with another split.
    """
    n_ends = np.cumsum(labels & WORD_END, dtype=np.int64)
    last = rows.symbols
    first = last - np.maximum(rows.letters, 1) + 1
    n_inside = n_ends[last] - n_ends[first] + (labels[first] & WORD_END)
    lengths = np.zeros(len(last), np.int64)
    for k in range(1, splits + 1):
        some = rows.letters > k
        lengths[some] += k * (labels[last[some] - k] & WORD_END)
    may_split = (rows.letters > 1) & (labels[last] & EXPANDS == 0)
    is_learned = may_split & ((n_inside == 0) | ((n_inside == 1) & (lengths > 0)))
    return np.where(is_learned, lengths, IGNORED)


def _batch_loss(network: EndNetwork, features: RowFeatures, targets: Targets) -> Tensor:
    device = network.last.weight.device
    scores = network(torch.from_numpy(features).to(device))  # [B, W, 1 + splits]
    gold, lengths = torch.from_numpy(targets).to(device).unbind(dim=-1)
    is_learned = (gold != IGNORED).float()
    total = functional.binary_cross_entropy_with_logits(
        scores[..., 0], gold.clamp(min=0).float(), weight=is_learned, reduction="sum"
    )
    loss = total / is_learned.sum().clamp(min=1)
    if network.splits:
        choices = functional.pad(scores[..., 1:], (1, 0)).flatten(0, 1)  # 0 for one word
        total = functional.cross_entropy(
            choices, lengths.flatten(), ignore_index=IGNORED, reduction="sum"
        )
        loss = loss + total / (lengths != IGNORED).sum().clamp(min=1)
    return loss


def make_finder(network: EndNetwork, maker: RowMaker) -> EndFinder:
    """Make the runtime's finder with PyTorch behind it."""
    device = network.last.weight.device

    def score(features: RowFeatures, given: EndScores) -> EndScores:
        given = given if network.splits else given[:, 0]
        with torch.no_grad():
            both = (torch.from_numpy(array).to(device) for array in (features, given))
            result: EndScores = put_together(network, *both).cpu().numpy()
        return result.reshape(len(given), -1)

    return EndFinder(score, maker, network.splits)


def export_ends(network: EndNetwork, reach: int) -> bytes:
    """Return the graph of a network, together with the scores of the first one."""
    n = Dim("n", min=1)
    return trace(
        TracedFunction(put_together, network=network.cpu()),
        {
            "features": torch.ones(2 * reach + 7, N_FEATURES, dtype=torch.int32),
            "given": torch.zeros(7, 1 + network.splits) if network.splits else torch.zeros(7),
        },
        {"features": {0: n + 2 * reach}, "given": {0: n}},
        ["scores"],
    )
