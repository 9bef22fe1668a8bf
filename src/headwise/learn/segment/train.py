"""Learn to cut text into sentences and words from the text of a treebank.

The network is convolutions over characters. Each layer sees its own position and one on either
side, twice as far apart as in the layer below: five layers see 33 characters to the left and to the
right. There is no recurrence, so a text of any length can be cut into windows that overlap by that
much without changing the scores.

Several networks (`networks`) are trained one after the other; their scores are averaged.

`train_segmenter` is a generator that yields a report after each epoch and can be stopped at any
time. The epoch with the best dev scores is kept (words count twice, sentences once). With
`end_epochs`, a second network then learns where sentences end (`ends`). `export_segmenter` makes
the files that `headwise.text` reads.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import msgspec
import numpy as np
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional

from headwise.errors import DataError
from headwise.learn.export.graphs import trace
from headwise.learn.fit.reports import SegmentReport
from headwise.learn.fit.step import TrainingStep, cosine_rate
from headwise.learn.segment.data import (
    IGNORED,
    GoldSentence,
    SegmentBatch,
    draw_paragraph_starts,
    encode_sentence,
    frequent_characters,
    gold_sentences,
    gold_text,
    has_paragraphs,
    has_space_everywhere,
    has_spaces_inside,
    hide_characters,
    make_targets,
    paragraph_starts,
    segment_batches,
    with_marks_attached,
)
from headwise.learn.segment.ends import (
    EndNetwork,
    export_ends,
    learn_lists,
    make_finder,
    train_ends,
)
from headwise.learn.segment.expand import learn_expansions
from headwise.learn.segment.score import SegmentScores, score_segmentation
from headwise.learn.segment.vary import vary_sentence
from headwise.settings.training import SegmentConfig
from headwise.text.expand import Expansions
from headwise.text.scan import (
    N_SCORES,
    TOKEN_END,
    Alphabet,
    BoundaryScores,
    CharacterIds,
    Labels,
    Scanner,
    make_alphabet,
)
from headwise.text.segmenter import (
    ENDS_GRAPH,
    SEGMENTER_GRAPH,
    SEGMENTER_SETTINGS,
    EndSettings,
    SegmentSettings,
)
from headwise.text.symbols import Codes, Symbols
from headwise.treebank.sentence import Sentence

_FIRST_REACH = 2
_WARM_UP = 100
"""Steps in which the learning rate rises."""
_WEIGHT_DECAY = 0.01
_CLIP = 1.0
_LOSS_WEIGHTS = (1.0, 0.5, 0.3)
"""The weights of boundaries, sentence ends and expansions in the loss."""


class SegmentNetwork(nn.Module):
    """Ids [..., T + 2 reach] -> scores [..., T, 5], those of `text.scan.N_SCORES`."""

    def __init__(self, config: SegmentConfig, alphabet: Alphabet) -> None:
        """Start with small random weights."""
        super().__init__()
        size, channels = config.embedding_size, config.channels
        self.by_character = nn.Embedding(alphabet.size, size)
        self.by_class = nn.Embedding(alphabet.size, size)
        self.register_buffer("classes", torch.from_numpy(alphabet.classes).long())
        nn.init.normal_(self.by_character.weight, std=0.1)
        nn.init.normal_(self.by_class.weight, std=0.3)
        self.first = nn.Linear((2 * _FIRST_REACH + 1) * size, channels)
        self.layers = nn.ModuleList(nn.Linear(3 * channels, channels) for _ in range(config.layers))
        self.last = nn.Linear(channels, N_SCORES)
        self.dropout = nn.Dropout(config.dropout)

    @property
    def reach(self) -> int:
        """How many characters on either side a score depends on."""
        return _FIRST_REACH + (1 << len(self.layers)) - 1

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.last.weight.device

    def forward(self, ids: Tensor) -> Tensor:
        """Score each character that has `reach` others on either side."""
        # The vector of an id is that of the character plus that of its class.
        table = self.by_character.weight + self.by_class(self.get_buffer("classes"))
        x = functional.embedding(ids, table)  # [..., T + 2 reach, e]
        n = x.shape[-2] - 2 * _FIRST_REACH
        near = [x[..., i : i + n, :] for i in range(2 * _FIRST_REACH + 1)]
        x = functional.relu(self.first(torch.cat(near, dim=-1)))
        for i, layer in enumerate(self.layers):
            d = 2**i
            middle = x[..., d:-d, :]
            around = torch.cat([x[..., : -2 * d, :], middle, x[..., 2 * d :, :]], dim=-1)
            x = middle + self.dropout(functional.relu(layer(around)))
        scores: Tensor = self.last(x)
        return scores


class NetworkMean(nn.Module):
    """The mean of the scores of several networks of the same size."""

    def __init__(self, networks: Sequence[SegmentNetwork]) -> None:
        """Take the networks as they are."""
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.reach, self.device = networks[0].reach, networks[0].device

    def forward(self, ids: Tensor) -> Tensor:
        """Score each character."""
        mean: Tensor = torch.stack([network(ids) for network in self.networks]).mean(dim=0)
        return mean


@dataclass(frozen=True, slots=True, eq=False)
class TrainedSegmenter:
    """A network with everything else that the runtime needs."""

    network: SegmentNetwork | NetworkMean
    alphabet: Alphabet
    spaces_inside: bool
    expansions: Expansions
    lists: EndSettings | None = None
    end_network: EndNetwork | None = None

    def label(self, symbols: Symbols) -> Labels:
        """Label the symbols of a text as the runtime does."""
        stream = self.scanner().label([symbols])
        if self.lists and self.end_network:
            stream = make_finder(self.end_network, self.lists.maker()).find(stream)
        return np.concatenate([part.labels for part in stream])

    def scanner(self) -> Scanner:
        """Make the runtime's scanner with PyTorch behind it."""

        def score(ids: CharacterIds) -> BoundaryScores:
            with torch.no_grad():
                scores = self.network(torch.from_numpy(ids).to(self.network.device))
            result: BoundaryScores = scores.cpu().numpy()
            return result

        return Scanner(score, self.alphabet, self.network.reach, self.spaces_inside)


def train_segmenter(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    config: SegmentConfig,
    seed: int,
    device: torch.device,
) -> Iterator[SegmentReport]:
    """Train for all epochs; every report holds the best segmenter so far.

    The same seed gives the same segmenter; on a CPU bit for bit, with the same number of threads.
    """
    gold, gold_dev = gold_sentences(train), gold_sentences(dev)
    for name, sentences in (("<train>", gold), ("<dev>", gold_dev)):
        if not sentences:
            hint = "a segmenter learns from a treebank"
            raise DataError("no sentence with words", name, hint=hint)
    encoded = [encode_sentence(sentence) for sentence in gold]
    alphabet = make_alphabet(frequent_characters(encoded, config.min_count))
    spaces_inside, expansions = has_spaces_inside(gold), learn_expansions(gold)
    kept: list[SegmentNetwork] = []
    for n_before in range(0, config.networks * config.epochs, config.epochs):
        torch.manual_seed(seed + n_before)
        network = SegmentNetwork(config, alphabet).to(device)
        joined = NetworkMean([*kept, network]) if kept else network
        trained = TrainedSegmenter(joined, alphabet, spaces_inside, expansions)
        for report in _train_words(network, trained, gold, gold_dev, config, seed, n_before):
            yield report
        kept.append(_last_network(report.best))
    if config.end_epochs:
        yield from _train_ends(gold, gold_dev, report.best, config, seed)


def _train_words(
    network: SegmentNetwork,
    trained: TrainedSegmenter,
    gold: Sequence[GoldSentence],
    gold_dev: Sequence[GoldSentence],
    config: SegmentConfig,
    seed: int,
    n_before: int,
) -> Iterator[SegmentReport]:
    """Train one network, and score it together with those before it.

    There were `n_before` epochs for the networks before it, which stay as they are.
    """
    optimizer = torch.optim.AdamW(
        network.parameters(), config.rate, betas=(0.9, 0.99), weight_decay=_WEIGHT_DECAY
    )
    step = TrainingStep(optimizer, list(network.parameters()), _CLIP)
    n_epochs = config.networks * config.epochs
    best: tuple[SegmentScores, TrainedSegmenter] | None = None
    for epoch in range(n_before + 1, n_before + config.epochs + 1):
        torch.manual_seed(seed + epoch)  # dropout; the process may draw numbers between epochs
        random = np.random.default_rng([seed, epoch])
        batches = _epoch_batches(gold, trained, config, random)
        network.train()
        losses = []
        for i, batch in enumerate(batches):
            warmed_up = (i + 1) / _WARM_UP if epoch == n_before + 1 else 1.0
            done = (epoch - n_before - 1 + i / len(batches)) / config.epochs
            rate = cosine_rate(config.rate, warmed_up, done)
            losses.append(step(partial(_batch_loss, network, batch), rate).item())
        network.eval()
        scores = evaluate_segmenter(trained, gold_dev)
        if best is None or _merit(scores) > _merit(best[0]):
            best = (scores, replace(trained, network=copy.deepcopy(trained.network)))
        yield SegmentReport(epoch, n_epochs, float(np.mean(losses)), scores, *best)


def _last_network(trained: TrainedSegmenter) -> SegmentNetwork:
    """Return the network that was trained last."""
    network = trained.network
    last = network.networks[-1] if isinstance(network, NetworkMean) else network
    assert isinstance(last, SegmentNetwork)
    return last


def _train_ends(
    gold: Sequence[GoldSentence],
    gold_dev: Sequence[GoldSentence],
    trained: TrainedSegmenter,
    config: SegmentConfig,
    seed: int,
) -> Iterator[SegmentReport]:
    """Train the second network, and score it together with the first."""
    lists = learn_lists(gold, config)
    torch.manual_seed(seed)
    network = EndNetwork(config, lists).to(trained.network.device)
    both = replace(trained, lists=lists, end_network=network)
    losses = train_ends(network, lists.maker(), partial(_epoch_text, gold, config), config, seed)
    for epoch, loss in enumerate(losses, 1):
        scores = evaluate_segmenter(both, gold_dev)
        yield SegmentReport(epoch, config.end_epochs, loss, scores, scores, both, "sentence ends")


def _merit(scores: SegmentScores) -> float:
    """Weigh words against sentences: a wrong word costs a parser more."""
    return 2 * scores.words + scores.sentences


def _epoch_text(
    gold: Sequence[GoldSentence], config: SegmentConfig, random: np.random.Generator
) -> tuple[Codes, Labels]:
    """Make the text of the sentences, changed anew each time.

    If a space follows every token, half of the sentences lose the spaces before marks.
    """
    attached = has_space_everywhere(gold) & (random.random(len(gold)) < 0.5)
    chosen = [with_marks_attached(s) if a else s for s, a in zip(gold, attached, strict=True)]
    sentences = [encode_sentence(vary_sentence(s, config, random)) for s in chosen]
    starts = draw_paragraph_starts(sentences, has_paragraphs(gold), config, random)
    is_bare = random.random(len(starts)) < config.bare
    return gold_text(sentences, starts, is_bare)


def _epoch_batches(
    gold: Sequence[GoldSentence],
    trained: TrainedSegmenter,
    config: SegmentConfig,
    random: np.random.Generator,
) -> list[SegmentBatch]:
    """Make texts of the sentences until there are enough batches."""
    batches: list[SegmentBatch] = []
    while len(batches) < config.steps:
        codes, labels = _epoch_text(gold, config, random)
        ids, is_first = trained.scanner().to_ids(codes)  # padded between paragraphs
        targets = np.full((len(ids), 3), IGNORED, np.int64)
        targets[is_first] = make_targets(codes, labels)
        ids = hide_characters(ids, trained.alphabet, config.character_dropout, random)
        reach = trained.network.reach
        batches += segment_batches(ids, targets, reach, config.batch_size, config.window, random)
    return batches


def _batch_loss(network: SegmentNetwork, batch: SegmentBatch) -> Tensor:
    ids, targets = (torch.from_numpy(part).to(network.device) for part in batch)
    return segment_loss(network(ids), targets)


def segment_loss(scores: Tensor, targets: Tensor) -> Tensor:
    """Add three losses, each a mean over targets that are not ignored: [B, W, 5], [B, W, 3]."""
    counts = (targets != IGNORED).float()
    boundaries, gold = scores[..., :3].flatten(0, 1), targets[..., 0].flatten()
    totals = [functional.cross_entropy(boundaries, gold, ignore_index=IGNORED, reduction="sum")]
    for k in (1, 2):
        wanted = targets[..., k].clamp(min=0).float()
        total = functional.binary_cross_entropy_with_logits(
            scores[..., k + 2], wanted, weight=counts[..., k], reduction="sum"
        )
        totals.append(total)
    means = torch.stack(totals) / counts.sum((0, 1)).clamp(min=1)
    return (means * means.new_tensor(_LOSS_WEIGHTS)).sum()


def evaluate_segmenter(
    trained: TrainedSegmenter, sentences: Sequence[GoldSentence]
) -> SegmentScores:
    """Segment the text of gold sentences, blank lines between paragraphs, and score the result."""
    encoded = [encode_sentence(sentence) for sentence in sentences]
    codes, gold = gold_text(encoded, paragraph_starts(encoded, has_paragraphs(sentences)))
    symbols = Symbols(codes, np.arange(len(codes), dtype=np.int64))
    labels = trained.label(symbols)
    tokens = [token for sentence in sentences for token in sentence.tokens]
    ends = np.flatnonzero(gold & TOKEN_END).tolist()
    gold_words = {e: token.words for e, token in zip(ends, tokens, strict=True) if token.expands}
    return score_segmentation(codes, gold, gold_words, labels, trained.expansions)


def export_segmenter(trained: TrainedSegmenter) -> dict[str, bytes]:
    """Return the files of a segmenter: graphs, and last the settings."""
    reach = trained.network.reach
    graph = trace(
        copy.deepcopy(trained.network).cpu(),
        {"ids": torch.ones(2 * reach + 7, dtype=torch.int32)},
        {"ids": {0: Dim("ids", min=2 * reach + 1)}},
        ["scores"],
    )
    settings = SegmentSettings(
        characters=trained.alphabet.characters,
        reach=reach,
        spaces_inside=trained.spaces_inside,
        expansions=trained.expansions,
        ends=trained.lists,
    )
    files = {SEGMENTER_GRAPH: graph}
    if trained.lists and trained.end_network:
        network = copy.deepcopy(trained.end_network)
        files[ENDS_GRAPH] = export_ends(network, trained.lists.reach)
    return files | {SEGMENTER_SETTINGS: msgspec.json.encode(settings)}
