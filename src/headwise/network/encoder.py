"""A pre-trained transformer as an input of each word, beside those of Eq. 3.

It comes from a Hugging Face folder on disk and is fine-tuned with the rest of the network. Its last
states are read at the first subword of each word; ROOT has the state of [CLS].
`vocabulary.subwords` cuts a sentence into windows of subwords, `learn.fit.pretrained` reads the
folder. Training, and parsing on a GPU, need `transformers`, which builds the network from settings
that the run and the model keep, so that neither needs the folder again.
"""

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
from headwise.vocabulary.subwords import EncoderSettings, Windows, join_windows

PLAIN_KINDS = ("bert", "camembert", "distilbert", "electra", "roberta", "xlm-roberta")
"""Transformers that take an additive attention mask and never wait for the GPU."""
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
        try:
            # Plain attention adds up in the same order each time, and is simple to export.
            self.model = transformers.AutoModel.from_config(config, attn_implementation="eager")
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(
                f"transformers {transformers.__version__} cannot build the encoder: {error}",
                "choose BERT or a similar model, or another release of transformers",
            ) from error
        self.model.float()
        self.model.pooler = None
        self.size = settings.size
        self.is_plain = config.model_type in PLAIN_KINDS

    def forward(self, windows: WindowIds) -> Tensor:
        """Read windows: float [B, N+1, size], the state of each word's first subword."""
        states = self.states(windows.ids, windows.mask).flatten(0, 1)  # [V * L, size]
        read = states.index_select(0, windows.reads.flatten())
        return read.view(*windows.reads.shape, -1)  # [B, N+1, size]

    def states(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Give the last states [V, L, size] of ids [V, L]; mask as in `WindowIds`."""
        if mask is not None and self.is_plain:
            lowest = torch.finfo(torch.float32).min
            mask = torch.where(mask, 0.0, lowest)[:, None, None]  # [V, 1, 1, L]
        elif mask is not None:
            mask = mask.long()
        last: Tensor = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        return last


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
    are where a word is read. `shapes[n]` has the largest W and L of sentences of at most n slots:
    so the shape of a selection depends on its number of slots alone.
    """

    ids: Tensor
    lengths: Tensor
    windows: Tensor
    positions: Tensor
    shapes: list[tuple[int, int]]

    def select(self, chosen: Tensor, longest: int) -> WindowIds:
        """Select the windows of the sentences `chosen` [B], of at most `longest` slots each."""
        n_windows, width = self.shapes[min(longest, len(self.shapes) - 1)]
        ids = self.ids[chosen, :n_windows, :width].flatten(0, 1)  # [V, L]
        lengths = self.lengths[chosen, :n_windows].flatten()
        mask = torch.arange(width, device=ids.device) < lengths[:, None]
        firsts = torch.arange(len(chosen), device=ids.device)[:, None] * n_windows
        windows, positions = self.windows[chosen, :longest], self.positions[chosen, :longest]
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
    shapes = [
        (int(counts[fit].max(initial=1)), int(widths[fit].max(initial=1)))
        for fit in (n_slots <= n for n in range(n_slots.max() + 1))
    ]
    there = partial(to_device, device=device)
    return StoredWindows(there(ids), there(lengths), there(windows), there(positions), shapes)


def put_windows(sentences: Sequence[Windows], n_slots: int, device: torch.device) -> WindowIds:
    """Put the windows of sentences of at most `n_slots` slots side by side on the device."""
    batch = join_windows(sentences, n_slots)
    mask = torch.from_numpy(batch.mask).to(device)
    return WindowIds(to_device(batch.ids, device), mask, to_device(batch.reads, device))
