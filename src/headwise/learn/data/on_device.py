"""A treebank on the device as a whole, so that a batch is a selection and not a transfer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from headwise.arrays import IntArray, NumberArray
from headwise.learn.data.treebanks import Examples
from headwise.learn.scorer import TorchBatch
from headwise.network.encoder import StoredWindows, store_windows
from headwise.network.inputs import to_device
from headwise.vocabulary.encode import WordIds, pad, stack_ids
from headwise.vocabulary.vocab import PAD


@dataclass(frozen=True, slots=True)
class Treebank:
    """Ids and gold of S sentences, [S, N+1] for the longest; `lengths` [S] count ROOT.

    What several words share is stored once: in `ids` there are row numbers of `ngrams` [spellings,
    k], of `marks` [sets of marks, k], of `letters` [spellings, k] and of `prior`. Heads are -1 for
    ROOT and padding. `sizes` are what the work on a sentence grows with: its subwords, if a
    transformer reads it, and its slots otherwise.
    """

    ids: WordIds[Tensor]
    ngrams: Tensor
    marks: Tensor
    letters: Tensor
    prior: Tensor
    heads: Tensor
    labels: Tensor
    gold_tags: tuple[Tensor, ...]
    lengths: Tensor
    sizes: list[int]
    windows: StoredWindows | None = None

    def n_slots(self, size: int) -> int:
        """Give the most slots of sentences of at most that size, which may be rounded up."""
        if self.windows is not None:
            return self.windows.shape_of(size)[2]
        return min(size, self.heads.shape[1])

    def batch(self, chosen: Tensor, size: int) -> TorchBatch:
        """Select what the network reads of the sentences `chosen` [B], of at most that size."""
        n_slots = self.n_slots(size)
        ids = self.ids.map(lambda part: part[chosen, :n_slots])
        ids = replace(
            ids,
            ngrams=self.ngrams[ids.ngrams],
            marks=self.marks[ids.marks],
            letters=self.letters[ids.letters],
            prior=self.prior[ids.prior].float(),
        )
        windows = None if self.windows is None else self.windows.select(chosen, size)
        return ids, self.lengths[chosen], windows


def put_on_device(examples: Examples, device: torch.device) -> Treebank:
    """Move a treebank to the device."""
    there = partial(to_device, device=device)
    encoded, gold = examples.encoded, examples.gold
    names = ("ngrams", "marks", "letters", "prior")
    tables, rows_of = zip(
        *(_distinct([getattr(sentence.ids, name) for sentence in encoded]) for name in names),
        strict=True,
    )
    rows = [
        replace(sentence.ids, **dict(zip(names, numbers, strict=True)))
        for sentence, *numbers in zip(encoded, *rows_of, strict=True)
    ]
    ngrams, marks, letters, prior = map(there, tables)
    heads = pad([tree.heads for tree in gold], -1)
    heads[:, 0] = -1
    columns = zip(*(tree.tags for tree in gold), strict=True)
    lengths = [len(sentence) for sentence in encoded]
    laid = [sentence.windows for sentence in encoded if sentence.windows is not None]
    windows = store_windows(laid, device) if laid else None
    return Treebank(
        stack_ids(rows).map(there),
        ngrams,
        marks,
        letters,
        prior.half() if device.type == "cuda" else prior,
        there(heads),
        there(pad([tree.labels for tree in gold])),
        tuple(there(pad(column)) for column in columns),
        torch.tensor(lengths, device=device),
        lengths if windows is None else windows.sizes,
        windows,
    )


def _distinct(blocks: Sequence[NumberArray]) -> tuple[NumberArray, list[IntArray]]:
    """Find the distinct rows in blocks [N+1, k]: a table of them, and row numbers [N+1].

    Rows of ids are padded with 0. Row 0 of the table is empty, for padding.
    """
    kind = blocks[0].dtype
    is_ids = kind == np.int32
    empty = b"" if is_ids else bytes(blocks[0].shape[1] * kind.itemsize)
    numbers: dict[bytes, int] = {empty: 0}
    rows = [
        np.array(
            [
                numbers.setdefault((row[row != PAD] if is_ids else row).tobytes(), len(numbers))
                for row in block
            ],
            np.int32,
        )
        for block in blocks
    ]
    return pad([np.frombuffer(row, kind) for row in numbers]), rows
