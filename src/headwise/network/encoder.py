"""A pre-trained transformer as an input of each word, besides those of Eq. 3.

It comes from a Hugging Face folder on disk and is fine-tuned with the rest of the network. Its last
states are read at the first subword of each word; ROOT has the state of [CLS].
`vocabulary.subwords` cuts a sentence into windows of subwords, `learn.fit.pretrained` reads the
folder. Training, and parsing on a GPU, need `transformers`, which builds the network from settings
that the run and the model keep, so that neither needs the folder again.
"""

import copy
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from headwise.errors import ConfigError, HeadwiseError, ModelError, install
from headwise.network.inputs import to_device
from headwise.network.mpnet import distance_buckets, read_mpnet
from headwise.vocabulary.subwords import EncoderSettings, Windows, join_windows

MPNET = "mpnet"
PLAIN_KINDS = ("bert", "camembert", "distilbert", "electra", MPNET, "roberta", "xlm-roberta")
"""Transformers that take subword vectors and an additive mask, and never wait for the GPU.

Their attention is fused, except in graphs of ONNX.
"""
_LAYER = re.compile(r"\.layers?\.(\d+)\.")
WIDTH_STEP = 8
"""Windows in training are padded to a multiple of it, which fused attention needs."""
ENCODER_HINT = "--set model.encoder=FOLDER, a folder as transformers' save_pretrained writes it"


class WindowIds(NamedTuple):
    """The input of a transformer: ids and mask [V, L]; `reads` [B, N+1] in the flattened ids."""

    ids: Tensor
    mask: Tensor
    reads: Tensor


class Encoder(nn.Module):
    """The transformer, without the heads of the task that it was trained for."""

    def __init__(self, settings: EncoderSettings) -> None:
        """Build the network with random weights."""
        super().__init__()
        transformers = import_transformers()
        config = read_network(settings.network)
        if (config.vocab_size, config.hidden_size) != (settings.n_ids, settings.size):
            raise ModelError("the settings of the encoder do not match its network")
        self.is_plain = config.model_type in PLAIN_KINDS
        self.is_mpnet = config.model_type == MPNET
        self.fused = self.is_plain
        kind = "sdpa" if self.fused and not self.is_mpnet else "eager"
        try:
            self.model = transformers.AutoModel.from_config(config, attn_implementation=kind)
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(
                f"transformers {transformers.__version__} cannot build the encoder: {error}",
                "choose BERT or a similar model, or another release of transformers",
            ) from error
        self.model.float()
        self.model.pooler = None
        self.size = settings.size
        if self.is_mpnet:
            buckets = distance_buckets(config.max_position_embeddings)
            self.register_buffer("buckets", buckets, persistent=False)

    def forward(self, windows: WindowIds) -> Tensor:
        """Read windows: float [B, N+1, size], the state of each word's first subword."""
        states = self.states(windows.ids, windows.mask).flatten(0, 1)  # [V * L, size]
        read = states.index_select(0, windows.reads.flatten())
        return read.view(*windows.reads.shape, -1)  # [B, N+1, size]

    def states(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Give the last states [V, L, size] of ids [V, L]; mask as in `WindowIds`."""
        if self.is_plain:
            return self.read(self.embed(ids), mask)
        mask = None if mask is None else mask.long()
        last: Tensor = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        return last

    def embed(self, ids: Tensor) -> Tensor:
        """Look up the vectors of subwords [V, L]: float [V, L, k]."""
        vectors: Tensor = self.model.get_input_embeddings()(ids)
        return vectors

    def read(self, embedded: Tensor, mask: Tensor | None = None) -> Tensor:
        """Do the rest, for a plain kind: from vectors [V, L, k] to the last states."""
        added = None
        if mask is not None:
            lowest = torch.finfo(torch.float32).min
            added = torch.where(mask, 0.0, lowest)[:, None, None]  # [V, 1, 1, L]
        if self.is_mpnet:
            return read_mpnet(self.model, embedded, added, self.get_buffer("buckets"), self.fused)
        last: Tensor = self.model(inputs_embeds=embedded, attention_mask=added).last_hidden_state
        return last

    def depths(self) -> dict[nn.Parameter, int]:
        """Count the layers above each weight: 0 for the last layer; tables are below all layers."""
        numbers = {
            weight: int(found[1]) if (found := _LAYER.search(name)) else -1
            for name, weight in self.named_parameters()
        }
        last = max(numbers.values())
        return {weight: last - number for weight, number in numbers.items()}

    def for_export(self) -> "Encoder":
        """Copy the network with the plain formula of attention, which ONNX Runtime runs well."""
        copied = copy.deepcopy(self)
        if self.fused and not self.is_mpnet:
            copied.model.set_attn_implementation("eager")
        copied.fused = False
        return copied


def import_transformers() -> Any:
    """Import the package, or raise an error that says how to install it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the package itself
            import transformers
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"an encoder in training, or on a GPU, needs {error.name}, which is not installed",
            install("train-encoder"),
        ) from error
    return transformers


def without_code(network: dict[str, Any]) -> dict[str, Any]:
    """Leave out references to code, and where and how the weights were stored."""
    left_out = ("auto_map", "_name_or_path", "dtype", "torch_dtype")
    return {key: value for key, value in network.items() if key not in left_out}


_MAX_SIZES = {
    "num_hidden_layers": 256,
    "hidden_size": 16_384,
    "intermediate_size": 65_536,
    "vocab_size": 10_000_000,
    "max_position_embeddings": 1_000_000,
}
"""Larger transformers are refused: a model folder may come from anywhere."""


def read_network(network: dict[str, Any]) -> Any:
    """Turn the content of `config.json` into a configuration of transformers, within bounds."""
    try:
        config = import_transformers().AutoConfig.for_model(**without_code(network))
        sizes = {name: getattr(config, name, None) or 0 for name in _MAX_SIZES}
        too_large = [name for name, size in sizes.items() if size > _MAX_SIZES[name]]
    except HeadwiseError:
        raise
    except Exception as error:  # every release raises different ones
        raise ConfigError(
            f"not the configuration of a transformer: {error}", ENCODER_HINT
        ) from error
    if too_large:
        raise ConfigError(f"not the configuration of a transformer: {too_large[0]} is too large")
    return config


@dataclass(frozen=True, slots=True)
class StoredWindows:
    """The windows of a treebank of S sentences on the device; W is the most of one sentence.

    `ids` [S, W, L]; `lengths` [S, W] count the ids of a window; `windows` and `positions` [S, N+1]
    are where a word is read. The size of a sentence is the number of ids in its windows: `sizes`.
    `shapes[n]` has the largest W, L and N+1 of sentences of at most that size: so the shape of a
    selection depends on its largest size alone.
    """

    ids: Tensor
    lengths: Tensor
    windows: Tensor
    positions: Tensor
    sizes: list[int]
    shapes: list[tuple[int, int, int]]

    def shape_of(self, size: int) -> tuple[int, int, int]:
        """Give W, L and N+1 of sentences of at most that size, which may be rounded up."""
        return self.shapes[min(size, len(self.shapes) - 1)]

    def select(self, chosen: Tensor, size: int) -> WindowIds:
        """Select the windows of the sentences `chosen` [B], of at most that size each."""
        n_windows, width, n_slots = self.shape_of(size)
        ids = self.ids[chosen, :n_windows, :width].flatten(0, 1)  # [V, L]
        lengths = self.lengths[chosen, :n_windows].flatten()
        mask = torch.arange(width, device=ids.device) < lengths[:, None]
        firsts = torch.arange(len(chosen), device=ids.device)[:, None] * n_windows
        windows, positions = self.windows[chosen, :n_slots], self.positions[chosen, :n_slots]
        return WindowIds(ids, mask, (firsts + windows) * width + positions)


def store_windows(sentences: Sequence[Windows], device: torch.device) -> StoredWindows:
    """Move the windows of a treebank to the device."""
    counts, widths = (np.array([s.ids.shape[axis] for s in sentences]) for axis in (0, 1))
    n_slots = np.array([len(s.reads) for s in sentences])
    ids = np.zeros((len(sentences), counts.max(), widths.max()), np.int32)
    # A missing window has one id, or its softmax would be over nothing.
    lengths = np.ones(ids.shape[:2], np.int32)
    windows, positions = (np.zeros((len(sentences), n_slots.max()), np.int32) for _ in range(2))
    for i, sentence in enumerate(sentences):
        count, width = sentence.ids.shape
        ids[i, :count, :width] = sentence.ids
        lengths[i, :count] = width
        windows[i, : n_slots[i]], positions[i, : n_slots[i]] = np.divmod(sentence.reads, width)
    sizes = counts * widths
    padded = np.minimum(-(-widths // WIDTH_STEP) * WIDTH_STEP, widths.max())
    shapes = np.ones((sizes.max() + 1, 3), np.int64)
    np.maximum.at(shapes, sizes, np.stack([counts, padded, n_slots], axis=1))
    there = partial(to_device, device=device)
    return StoredWindows(
        there(ids),
        there(lengths),
        there(windows),
        there(positions),
        sizes.tolist(),
        [tuple(shape) for shape in np.maximum.accumulate(shapes).tolist()],
    )


def put_windows(sentences: Sequence[Windows], n_slots: int, device: torch.device) -> WindowIds:
    """Put the windows of sentences of at most `n_slots` slots side by side on the device."""
    batch = join_windows(sentences, n_slots)
    mask = torch.from_numpy(batch.mask).to(device)
    return WindowIds(to_device(batch.ids, device), mask, to_device(batch.reads, device))
