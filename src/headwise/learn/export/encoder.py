"""The transformer of a network as an ONNX graph of its own, and the files that belong to it.

    encoder     subwords [L] -> states [L, size]

One window at a time, so that memory is bounded however long a sentence is, and without a mask, as
no window has padding. Its table of subwords is half of a small transformer; in int8 each row has a
scale, as the tables of `learn.export.model` have.
"""

import copy

import torch
from torch import Tensor, nn
from torch.export import Dim

from headwise.learn.export.graphs import quantise, trace
from headwise.learn.export.model import Int8Embedding
from headwise.network.encoder import Encoder
from headwise.network.network import Network
from headwise.vocabulary.subwords import subword_files
from headwise.vocabulary.vocab import Vocab


class _Window(nn.Module):
    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, subwords: Tensor) -> Tensor:
        return self.encoder.states(subwords[None].long())[0]


def export_encoder(network: Network, vocab: Vocab) -> dict[str, bytes]:
    """Give the files of a network's transformer; none where it has none."""
    if network.encoder is None or vocab.subwords is None:
        return {}
    network.eval()
    window, slim = vocab.subwords.settings.window, _with_int8_table(network.encoder)
    return {
        **subword_files(vocab.subwords),
        "encoder.float32.onnx": _trace(network.encoder, window),
        "encoder.int8.onnx": quantise(_trace(slim, window)),
    }


def _trace(encoder: Encoder, window: int) -> bytes:
    length = Dim("length", min=3, max=window)
    example = {"subwords": torch.ones(min(9, window), dtype=torch.int32)}
    return trace(_Window(encoder), example, {"subwords": {0: length}}, ["states"])


def _with_int8_table(encoder: Encoder) -> Encoder:
    copied = copy.deepcopy(encoder)
    table = copied.model.get_input_embeddings()
    if type(table) is nn.Embedding:
        copied.model.set_input_embeddings(Int8Embedding(table))
    return copied
