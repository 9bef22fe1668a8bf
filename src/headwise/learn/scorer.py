"""The network itself as a scorer, in batches on a GPU or a CPU; training scores dev with it.

Sentences are sorted by length and cut into batches under a budget of word pairs, so that memory is
bounded and little is padding. Results are in the order of the sentences.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from headwise.arrays import FloatArray, IntArray
from headwise.errors import ModelError
from headwise.grouping import batches
from headwise.learn.compute import find_device
from headwise.model.bundle import WEIGHTS, Bundle
from headwise.network.encoder import WindowIds, put_windows
from headwise.network.inputs import to_device
from headwise.network.label import arc_features
from headwise.network.network import Network
from headwise.runtime.scorer import Selection
from headwise.treebank.sentence import Sentence
from headwise.vocabulary.encode import Encoded, WordIds, encode, stack_ids
from headwise.vocabulary.vocab import Vocab

PAIRS_PER_BATCH = 400_000
"""Word pairs in a batch, padding included; a longer sentence is a batch of its own."""
TorchBatch = tuple[WordIds[Tensor], Tensor, WindowIds | None]
"""What the network reads of a batch: ids, lengths [B], and windows for the transformer, if any."""


class TorchScorer:
    """`Scorer` on a device of PyTorch's."""

    def __init__(
        self, network: Network, vocab: Vocab, device: torch.device, with_tag_scores: bool = False
    ) -> None:
        """Take a network that is on `device` already; an ensemble asks for the scores of tags."""
        self.vocab = vocab
        self._network = network
        self._with_tag_scores = with_tag_scores
        self._device = device

    def in_treebank(self, name: str) -> "TorchScorer":
        """Share the network, and read sentences as that treebank's if the model knows it."""
        vocab = self.vocab.as_in(name) if name in self.vocab.treebanks else self.vocab
        return TorchScorer(self._network, vocab, self._device, self._with_tag_scores)

    def select(self, sentences: Sequence[Sentence]) -> list[Selection]:
        """Give each word of each sentence its distribution over heads."""
        return self.select_encoded([encode(sentence, self.vocab) for sentence in sentences])

    def select_encoded(self, sentences: Sequence[Encoded]) -> list[Selection]:
        """Do the same for sentences that are encoded already."""
        self._network.eval()
        selections: dict[int, Selection] = {}
        with torch.inference_mode():
            for numbers in batches_by_length([len(s) for s in sentences]):
                batch = [sentences[i] for i in numbers]
                selections |= zip(numbers, self._select_batch(batch), strict=True)
        return [selections[i] for i in range(len(sentences))]

    def label(self, selections: Sequence[Selection], heads: Sequence[IntArray]) -> list[FloatArray]:
        """Give each arc its distribution over labels: float32 [N, R] for heads int32 [N+1]."""
        self._network.eval()
        if not selections:
            return []
        with torch.inference_mode():
            states, inputs = (
                torch.cat([selection.features[part] for selection in selections]) for part in (0, 1)
            )
            features = arc_features(states, inputs, *arc_slots(heads, self._device))
            log_probs = self._network.label(features).cpu().numpy()
        ends = np.cumsum([len(chosen) - 1 for chosen in heads])
        return np.split(log_probs, ends[:-1])

    def _select_batch(self, sentences: Sequence[Encoded]) -> Iterator[Selection]:
        log_probs, states, inputs = self._network(*put_batch(sentences, self._device))
        scored = self._network.tag(states, inputs)
        tags = [scores.argmax(dim=-1).cpu().numpy() for scores in scored]
        tag_scores = [s.cpu().numpy() for s in scored] if self._with_tag_scores else []
        rows = log_probs.float().cpu().numpy()
        for k, n in enumerate(map(len, sentences)):
            features = (states[k, :n].float(), inputs[k, :n].float())
            chosen = tuple(column[k, :n].astype(np.int32) for column in tags)
            scores = tuple(column[k, :n] for column in tag_scores)
            yield Selection(rows[k, :n, :n], features, chosen, scores)


def put_batch(sentences: Sequence[Encoded], device: torch.device) -> TorchBatch:
    """Put sentences side by side on the device."""
    lengths = [len(sentence) for sentence in sentences]
    ids = stack_ids([sentence.ids for sentence in sentences]).map(partial(to_device, device=device))
    windows = [sentence.windows for sentence in sentences if sentence.windows is not None]
    joined = put_windows(windows, max(lengths), device) if windows else None
    return ids, torch.tensor(lengths, device=device), joined


def arc_slots(heads: Sequence[IntArray], device: torch.device) -> tuple[Tensor, Tensor]:
    """Give the dependents and the heads of all arcs as slots, counted through all sentences."""
    lengths = np.array([len(chosen) for chosen in heads])
    starts = np.cumsum(lengths) - lengths
    dependents = [start + np.arange(1, n) for start, n in zip(starts, lengths, strict=True)]
    chosen = [start + column[1:] for start, column in zip(starts, heads, strict=True)]
    return (
        to_device(np.concatenate(dependents), device),
        to_device(np.concatenate(chosen), device),
    )


def batches_by_length(
    lengths: Sequence[int], max_pairs: int = PAIRS_PER_BATCH
) -> Iterator[list[int]]:
    """Cut sentence numbers into batches of similar length under a budget of word pairs."""
    return batches(lengths, lambda n, longest: n * longest**2, max_pairs, max_growth=math.inf)


def load_network(bundle: Bundle, device: torch.device) -> Network:
    """Read the weights of a model folder, strictly."""
    if bundle.vocab.subwords is not None:
        bundle.vocab.subwords.open()
    network = Network(bundle.manifest.model, bundle.vocab)
    try:
        network.load_state_dict(safetensors.torch.load(bundle.read(WEIGHTS)))
    except (RuntimeError, safetensors.SafetensorError) as error:
        raise ModelError(f"{bundle.path / WEIGHTS}: {error}") from error
    return network.to(device).eval()


def load_torch_scorer(bundle: Bundle, device: str) -> TorchScorer:
    """Load the network of a model folder onto a device of PyTorch's."""
    chosen = find_device(device)
    return TorchScorer(load_network(bundle, chosen), bundle.vocab, chosen, with_tag_scores=True)
