"""A treebank on the device as a whole, so that a batch is a selection and not a transfer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from headwise.arrays import IntArray
from headwise.learn.data.treebanks import Examples
from headwise.learn.scorer import TorchBatch
from headwise.network.encoder import StoredWindows, store_windows
from headwise.network.inputs import to_device
from headwise.vocabulary.encode import WordIds, pad, stack_ids
from headwise.vocabulary.ngrams import PAD_NGRAM


@dataclass(frozen=True, slots=True)
class Treebank:
    """Ids and gold of S sentences, [S, N+1] for the longest; `lengths` [S] count ROOT.

    The n-grams of a word are stored once for each spelling: in `ids` they are row numbers of
    `ngrams` [spellings, k]. So are marks, of `marks` [sets of marks, k]. Heads are -1 for ROOT and
    padding. `host_lengths` are the lengths as plain numbers.
    """

    ids: WordIds[Tensor]
    ngrams: Tensor
    marks: Tensor
    heads: Tensor
    labels: Tensor
    gold_tags: tuple[Tensor, ...]
    lengths: Tensor
    host_lengths: list[int]
    windows: StoredWindows | None = None

    def batch(self, chosen: Tensor, longest: int) -> TorchBatch:
        """Select what the network reads of the sentences `chosen` [B], up to the longest one."""
        ids = self.ids.map(lambda part: part[chosen, :longest])
        ids = replace(ids, ngrams=self.ngrams[ids.ngrams], marks=self.marks[ids.marks])
        windows = None if self.windows is None else self.windows.select(chosen, longest)
        return ids, self.lengths[chosen], windows


def put_on_device(examples: Examples, device: torch.device) -> Treebank:
    """Move a treebank to the device."""
    there = partial(to_device, device=device)
    encoded, gold = examples.encoded, examples.gold
    ngrams, spellings = _distinct([sentence.ids.ngrams for sentence in encoded])
    marks, marked = _distinct([sentence.ids.marks for sentence in encoded])
    rows = [
        replace(sentence.ids, ngrams=spelling, marks=mark)
        for sentence, spelling, mark in zip(encoded, spellings, marked, strict=True)
    ]
    heads = pad([tree.heads for tree in gold], -1)
    heads[:, 0] = -1
    columns = zip(*(tree.tags for tree in gold), strict=True)
    lengths = [len(sentence) for sentence in encoded]
    windows = [sentence.windows for sentence in encoded if sentence.windows is not None]
    return Treebank(
        stack_ids(rows).map(there),
        there(ngrams),
        there(marks),
        there(heads),
        there(pad([tree.labels for tree in gold])),
        tuple(there(pad(column)) for column in columns),
        torch.tensor(lengths, device=device),
        lengths,
        store_windows(windows, device) if windows else None,
    )


def _distinct(blocks: Sequence[IntArray]) -> tuple[IntArray, list[IntArray]]:
    """Find the distinct rows in blocks [N+1, k]: a table of them, and row numbers [N+1].

    The rows are spellings or sets of marks, both padded with 0. Row 0 of the table is empty, for
    padding.
    """
    numbers: dict[bytes, int] = {b"": 0}
    rows = [
        np.array(
            [numbers.setdefault(row[row != PAD_NGRAM].tobytes(), len(numbers)) for row in block],
            np.int32,
        )
        for block in blocks
    ]
    table = pad([np.frombuffer(spelling, np.int32) for spelling in numbers], PAD_NGRAM)
    return table, rows
