"""Learn to cut text into sentences and words from a treebank's own text.

`train_segmenter` is a generator: it yields a report after each epoch and can be left at any time.
The epoch with the best dev scores is kept (words count twice, sentences once); `export_segmenter`
makes the two files of it that `headwise.text` reads.
"""

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional

from headwise.errors import DataError
from headwise.learn.export.graphs import trace
from headwise.learn.segment.batches import (
    IGNORED,
    Batch,
    hide_characters,
    make_batches,
    spread_text,
)
from headwise.learn.segment.data import (
    Changes,
    EncodedSentence,
    GoldSentence,
    changed_starts,
    encode_sentence,
    frequent_characters,
    gold_labels,
    gold_sentences,
    gold_text,
    has_paragraphs,
    has_spaces_inside,
    is_spaced_out,
    paragraph_starts,
    with_marks_attached,
)
from headwise.learn.segment.expand import learn_expansions
from headwise.learn.segment.network import SegmentNetwork
from headwise.learn.segment.score import SegmentScores, score_labels
from headwise.settings.training import SegmentConfig
from headwise.text.expand import Expansions
from headwise.text.scan import Alphabet, BoundaryScores, CharacterIds, Scanner, make_alphabet
from headwise.text.segmenter import SEGMENTER_GRAPH, SEGMENTER_SETTINGS, SegmentSettings
from headwise.text.symbols import Symbols
from headwise.treebank.sentence import Sentence

WARM_UP = 100
"""Steps in which the learning rate rises."""
WEIGHT_DECAY = 0.01
CLIP = 1.0
WEIGHTS = (1.0, 0.5, 0.3)
"""What boundaries, sentence ends and expansions count in the loss."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainedSegmenter:
    """A network with all that the runtime needs beside it."""

    network: SegmentNetwork
    alphabet: Alphabet
    spaces_inside: bool
    expansions: Expansions

    def scanner(self) -> Scanner:
        """Make the runtime's scanner with PyTorch behind it."""
        network = _AsScores(self.network)
        return Scanner(network, self.alphabet, self.network.reach, self.spaces_inside)


@dataclass(frozen=True, slots=True, eq=False)
class SegmentReport:
    """Where training stands after an epoch: the mean loss, F1 on dev, and the best so far."""

    epoch: int
    n_epochs: int
    loss: float
    dev: SegmentScores
    best_dev: SegmentScores
    best: TrainedSegmenter


@dataclass(frozen=True, slots=True, eq=False)
class _AsScores:
    """A network of PyTorch as the runtime calls one."""

    network: SegmentNetwork

    def __call__(self, ids: CharacterIds) -> BoundaryScores:
        device = self.network.last.weight.device
        with torch.no_grad():
            scores = self.network(torch.from_numpy(ids).to(device))
        result: BoundaryScores = scores.cpu().numpy()
        return result


@dataclass(frozen=True, slots=True, eq=False)
class _Treebank:
    sentences: list[GoldSentence]
    encoded: list[EncodedSentence]
    attached: list[EncodedSentence]
    """The same with marks at their words, where the treebank has spaces everywhere."""
    has_paragraphs: bool


def _treebank(sentences: Sequence[Sentence], name: str) -> _Treebank:
    gold = gold_sentences(sentences)
    if not gold:
        raise DataError("no sentence with words", name, hint="a segmenter learns from a treebank")
    encoded = [encode_sentence(one) for one in gold]
    attached = encoded
    if is_spaced_out(gold):
        attached = [encode_sentence(with_marks_attached(one)) for one in gold]
    return _Treebank(gold, encoded, attached, has_paragraphs(gold))


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
    train_bank, dev_bank = _treebank(train, "<train>"), _treebank(dev, "<dev>")
    trained = _start(train_bank, config, seed, device)
    network = trained.network
    optimizer = torch.optim.AdamW(
        network.parameters(), config.rate, betas=(0.9, 0.99), weight_decay=WEIGHT_DECAY
    )
    best: tuple[SegmentScores, TrainedSegmenter] | None = None
    for epoch in range(1, config.epochs + 1):
        torch.manual_seed(seed + epoch)  # dropout; whoever shares the process may draw in between
        batches = _epoch_batches(train_bank, trained, config, np.random.default_rng([seed, epoch]))
        network.train()
        losses = [
            _step(network, optimizer, batch, _rate(config, epoch, i / len(batches), i))
            for i, batch in enumerate(batches)
        ]
        network.eval()
        scores = evaluate_segmenter(trained, dev_bank.sentences)
        if best is None or _merit(scores) > _merit(best[0]):
            kept = TrainedSegmenter(
                copy.deepcopy(network), trained.alphabet, trained.spaces_inside, trained.expansions
            )
            best = (scores, kept)
        yield SegmentReport(epoch, config.epochs, float(np.mean(losses)), scores, *best)


def _merit(scores: SegmentScores) -> float:
    """Weigh words against sentences: a word that is wrong costs a parser more."""
    return 2 * scores.words + scores.sentences


def _start(
    treebank: _Treebank, config: SegmentConfig, seed: int, device: torch.device
) -> TrainedSegmenter:
    alphabet = make_alphabet(frequent_characters(treebank.encoded, config.min_count))
    torch.manual_seed(seed)
    network = SegmentNetwork(config, alphabet).to(device)
    expansions = learn_expansions(treebank.sentences)
    return TrainedSegmenter(network, alphabet, has_spaces_inside(treebank.sentences), expansions)


def _epoch_batches(
    treebank: _Treebank,
    trained: TrainedSegmenter,
    config: SegmentConfig,
    random: np.random.Generator,
) -> list[Batch]:
    """Make the text of the treebank, with its changes, as often as an epoch needs it."""
    batches: list[Batch] = []
    while len(batches) < config.steps:
        batches += _text_batches(treebank, trained, config, random)
    return batches


def _text_batches(
    treebank: _Treebank,
    trained: TrainedSegmenter,
    config: SegmentConfig,
    random: np.random.Generator,
) -> Iterator[Batch]:
    changes = Changes(config.join, config.alone, config.bare)
    starts = changed_starts(treebank.encoded, treebank.has_paragraphs, changes, random)
    is_bare = random.random(len(starts)) < changes.bare
    both = zip(treebank.encoded, treebank.attached, random.random(len(starts)), strict=True)
    sentences = [attached if draw < 0.5 else encoded for encoded, attached, draw in both]
    text = gold_text(sentences, starts, is_bare)
    ids, targets = spread_text(text, trained.scanner())
    ids = hide_characters(ids, trained.alphabet, config.character_dropout, random)
    shape = (config.batch_size, config.window)
    return make_batches(ids, targets, trained.network.reach, shape, random)


def _rate(config: SegmentConfig, epoch: int, share: float, step: int) -> float:
    """Let the learning rate rise over the first steps and fall along a cosine."""
    warm = min(1.0, (step + 1) / WARM_UP) if epoch == 1 else 1.0
    done = (epoch - 1 + share) / config.epochs
    return config.rate * warm * (1 + math.cos(math.pi * done)) / 2


def _step(
    network: SegmentNetwork, optimizer: torch.optim.Optimizer, batch: Batch, rate: float
) -> float:
    for group in optimizer.param_groups:
        group["lr"] = rate
    device = network.last.weight.device
    scores = network(torch.from_numpy(batch.ids).to(device))
    loss = segment_loss(scores, torch.from_numpy(batch.targets).to(device))
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(network.parameters(), CLIP)
    optimizer.step()
    return float(loss.detach())


def segment_loss(scores: Tensor, targets: Tensor) -> Tensor:
    """Add up three losses, each the mean over what it does not ignore: [B, W, 5], [B, W, 3]."""
    boundary = functional.cross_entropy(
        scores[..., :3].flatten(0, 1),
        targets[..., 0].flatten(),
        ignore_index=IGNORED,
        reduction="sum",
    ) / (targets[..., 0] != IGNORED).sum().clamp(min=1)
    losses = [boundary]
    for k in (1, 2):
        counts = (targets[..., k] != IGNORED).float()
        wanted = targets[..., k].clamp(min=0).float()
        each = functional.binary_cross_entropy_with_logits(
            scores[..., k + 2], wanted, weight=counts, reduction="sum"
        )
        losses.append(each / counts.sum().clamp(min=1))
    return sum(
        (w * loss for w, loss in zip(WEIGHTS, losses, strict=True)), torch.zeros_like(boundary)
    )


def evaluate_segmenter(
    trained: TrainedSegmenter, sentences: Sequence[GoldSentence]
) -> SegmentScores:
    """Cut the text of gold sentences and score it; blank lines stand where paragraphs begin."""
    encoded = [encode_sentence(sentence) for sentence in sentences]
    text = gold_text(encoded, paragraph_starts(encoded, has_paragraphs(sentences)))
    piece = Symbols(text.codes, np.arange(len(text.codes), dtype=np.int64))
    labels = np.concatenate([part.labels for part in trained.scanner().label([piece])])
    gold, gold_words = gold_labels(text, sentences)
    return score_labels(text.codes, gold, gold_words, labels, trained.expansions)


class _Single(nn.Module):
    """The network for one row of ids, its two tables of vectors added up."""

    def __init__(self, network: SegmentNetwork) -> None:
        super().__init__()
        self.network = copy.deepcopy(network).cpu().eval()
        with torch.no_grad():
            table = self.network.table().clone()
            self.network.own.weight.copy_(table)
            self.network.by_class.weight.zero_()

    def forward(self, ids: Tensor) -> Tensor:
        scores: Tensor = self.network(ids)
        return scores


def export_segmenter(trained: TrainedSegmenter) -> dict[str, bytes]:
    """Give the two files of a segmenter: graph and settings."""
    reach = trained.network.reach
    graph = trace(
        _Single(trained.network),
        {"ids": torch.ones(2 * reach + 7, dtype=torch.int32)},
        {"ids": {0: Dim("ids", min=2 * reach + 1)}},
        ["scores"],
    )
    settings = SegmentSettings(
        characters=trained.alphabet.characters,
        reach=reach,
        spaces_inside=trained.spaces_inside,
        expansions=trained.expansions,
    )
    return {SEGMENTER_GRAPH: graph, SEGMENTER_SETTINGS: msgspec.json.encode(settings)}
