"""Soft targets: the distributions of trained models (teachers) that a student learns from.

Every word has a distribution over heads (Eq. 5), so a student can learn from another parser's
doubts as well as from the gold tree: the loss of a word is (1 - w) times that of Eq. 7, plus w
times the cross-entropy with the teachers' distribution. The same holds for the labels of gold arcs
and for tags. The distributions are stored on the device without padding, in float16; a batch
gathers those of its words. `learn.distil.teachers` makes them.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class BatchTargets:
    """Soft targets of a batch: heads [B, N+1, N+1], labels [B, N+1, R], tags [B, N+1, .] each.

    A row of zeros teaches nothing. Neither does None: a column of tags that no teacher predicts,
    and FEATS and LEMMA, which are learned from gold, or from what the teachers wrote.
    """

    heads: Tensor | None = None
    labels: Tensor | None = None
    tags: tuple[Tensor | None, ...] = ()
    weight: float = 0.0
    temperature: float = 1.0

    def tag(self, column: int) -> Tensor | None:
        """Give the distributions of a column of tags, if there are any."""
        return self.tags[column] if column < len(self.tags) else None

    def mix(self, gold_loss: Tensor, log_probs: Tensor, targets: Tensor | None) -> Tensor:
        """Mix the loss of the gold with that of the targets; both are divided by sentences.

        `log_probs` and `targets` are [B, N+1, .].
        """
        if targets is None:
            return gold_loss
        soft_loss = cross_entropy(log_probs, targets, self.temperature) / len(targets)
        return (1 - self.weight) * gold_loss + self.weight * soft_loss


NO_TARGETS = BatchTargets()


@dataclass(frozen=True, slots=True)
class SoftTargets:
    """Distributions of W words in S sentences, float16, on the device.

    `heads` [sum of N (N+1)] has the rows of all words one after the other; `labels` are [W, R], and
    `tags` [W, tags], or None, for each column that the student predicts. `first_heads` and
    `first_words` [S] are where a sentence begins, `lengths` [S] count its slots. `key` is a
    checksum of it all.
    """

    heads: Tensor
    labels: Tensor
    tags: tuple[Tensor | None, ...]
    first_heads: Tensor
    first_words: Tensor
    lengths: Tensor
    weight: float
    temperature: float
    key: str

    def batch(self, chosen: Tensor, longest: int) -> BatchTargets:
        """Gather the targets of the sentences `chosen` [B], up to the longest of them."""
        slots = torch.arange(longest, device=chosen.device)
        n = self.lengths[chosen][:, None]  # [B, 1]
        is_word = (slots >= 1) & (slots < n)  # [B, N+1]
        words = torch.where(is_word, self.first_words[chosen][:, None] + slots - 1, 0)
        row = self.first_heads[chosen][:, None] + (slots - 1) * n  # [B, N+1]
        is_pair = is_word[:, :, None] & (slots < n)[:, None]  # [B, N+1, N+1]
        pairs = torch.where(is_pair, row[:, :, None] + slots, 0)
        known = is_word[..., None]
        return BatchTargets(
            self.heads[pairs].float() * is_pair,
            self.labels[words].float() * known,
            tuple(None if tags is None else tags[words].float() * known for tags in self.tags),
            self.weight,
            self.temperature,
        )


def cross_entropy(log_probs: Tensor, targets: Tensor, temperature: float) -> Tensor:
    """Sum the cross-entropy of distributions [..., k] with `targets`, made at this temperature.

    The result is multiplied by its square, so that gradients are as large at any temperature.
    """
    if temperature != 1.0:
        log_probs = functional.log_softmax(log_probs / temperature, dim=-1)
    # The logarithm of padding is -inf, and 0 times that is not a number.
    kept = log_probs.masked_fill(targets == 0, 0.0)
    return -(targets * kept).sum() * temperature**2
