"""A treebank on the device as a whole, so that a batch is a selection and not a transfer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headwise.learn.data.treebanks import Examples
from headwise.network.encoder import StoredWindows, store_windows
from headwise.network.inputs import Ids
from headwise.vocabulary.encode import IntArray, pad
from headwise.vocabulary.ngrams import PAD_PIECE
from headwise.vocabulary.vocab import PAD


@dataclass(frozen=True, slots=True)
class Treebank:
    """Ids and gold of S sentences, [S, N+1] for the longest; `lengths` [S] count ROOT.

    Spellings are rows of `pieces` [distinct spellings, k]; `marked` are rows of `marks` [distinct
    sets of marks, k] likewise. Heads are -1 for ROOT and padding.
    `host_lengths` are the lengths as plain numbers.
    """

    words: Tensor
    tags: Tensor
    vectors: Tensor
    spellings: Tensor
    pieces: Tensor
    marked: Tensor
    marks: Tensor
    heads: Tensor
    labels: Tensor
    gold_tags: tuple[Tensor, ...]
    lengths: Tensor
    host_lengths: list[int]
    windows: StoredWindows | None = None

    def ids(self, chosen: Tensor, longest: int) -> Ids:
        """Select the ids of the sentences `chosen` [B], up to the longest of them."""
        whole = (self.words, self.tags, self.vectors, self.spellings, self.marked)
        words, tags, vectors, spellings, marked = (part[chosen, :longest] for part in whole)
        windows = None if self.windows is None else self.windows.select(chosen, longest)
        return Ids(words, tags, self.pieces[spellings], vectors, self.marks[marked], windows)


def put_on_device(examples: Examples, device: torch.device) -> Treebank:
    """Move a treebank to the device."""
    encoded, gold = examples.encoded, examples.gold
    pieces, spellings = _distinct([sentence.pieces for sentence in encoded])
    marks, marked = _distinct([sentence.marks for sentence in encoded])
    heads = pad([tree.heads for tree in gold], -1)
    heads[:, 0] = -1
    columns = zip(*(tree.tags for tree in gold), strict=True)
    words, tags, vectors, rows, table, mark_rows, mark_table, heads_there, labels = to_device(
        device,
        pad([sentence.words for sentence in encoded]),
        pad([sentence.tags for sentence in encoded]),
        pad([sentence.vectors for sentence in encoded]),
        pad(spellings, 0),
        pieces,
        pad(marked, 0),
        marks,
        heads,
        pad([tree.labels for tree in gold]),
    )
    lengths = [len(sentence) for sentence in encoded]
    windows = [sentence.windows for sentence in encoded if sentence.windows is not None]
    return Treebank(
        words,
        tags,
        vectors,
        rows,
        table,
        mark_rows,
        mark_table,
        heads_there,
        labels,
        tuple(to_device(device, *(pad(column, PAD) for column in columns))),
        torch.tensor(lengths, device=device),
        lengths,
        store_windows(windows, device) if windows else None,
    )


def _distinct(blocks: Sequence[IntArray]) -> tuple[IntArray, list[IntArray]]:
    """Find the distinct rows in blocks [N+1, k]: a table of them, and their numbers [N+1].

    They are spellings or sets of marks; the padding of both is 0.

    Row 0 of the table is empty, for padding.
    """
    numbers: dict[bytes, int] = {b"": 0}
    rows = [
        np.array(
            [numbers.setdefault(row[row != PAD_PIECE].tobytes(), len(numbers)) for row in block],
            np.int32,
        )
        for block in blocks
    ]
    table = pad([np.frombuffer(spelling, np.int32) for spelling in numbers], PAD_PIECE)
    return table, rows


def to_device(device: torch.device, *arrays: IntArray) -> list[Tensor]:
    """Move arrays to a device as int64 tensors."""
    return [torch.from_numpy(array).to(device).long() for array in arrays]
