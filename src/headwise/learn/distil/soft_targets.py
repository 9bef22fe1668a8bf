"""What teachers say of every training sentence, and how a student learns from it.

Every word has a distribution over heads (Eq. 5), so a student can learn from another parser's
doubts as well as from the gold tree: the loss of a word is (1 - w) times that of Eq. 7, plus w
times the cross-entropy with the teachers' distribution. Labels of the gold arcs and tags likewise.
The distributions lie on the device as they are, without padding, in float16; a batch gathers its
own. `learn.distil.teach` makes them.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is said of a batch: heads [B, N+1, N+1], labels [B, N+1, R], tags [B, N+1, .] each.

    A row of zeros teaches nothing, nor does None: a column of tags that no teacher predicts.
    """

    heads: Tensor | None = None
    labels: Tensor | None = None
    tags: tuple[Tensor | None, ...] = ()
    weight: float = 0.0
    temperature: float = 1.0

    def tag(self, column: int) -> Tensor | None:
        """Give the distributions of a column of tags, if there are any."""
        return self.tags[column] if self.tags else None

    def mix(self, gold: Tensor, log_probs: Tensor, targets: Tensor | None) -> Tensor:
        """Weigh the loss of the gold against what is taught; both are divided by sentences.

        `log_probs` and `targets` are [B, N+1, .].
        """
        if targets is None:
            return gold
        taught = cross_entropy(log_probs, targets, self.temperature) / len(targets)
        return (1 - self.weight) * gold + self.weight * taught


NO_LESSON = Lesson()


@dataclass(frozen=True, slots=True)
class Lessons:
    """Distributions of W words in S sentences, float16, on the device.

    `heads` [sum of N (N+1)] are rows of words one after the other; `labels` are [W, R], and `tags`
    [W, tags] for each column that the student predicts. `first_heads` and `first_words` [S] say
    where a sentence begins, `lengths` [S] count its slots. `key` is a checksum of all of it.
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

    def of(self, chosen: Tensor, longest: int) -> Lesson:
        """Gather what is said of the sentences `chosen` [B], up to the longest of them."""
        slots = torch.arange(longest, device=chosen.device)
        n = self.lengths[chosen][:, None]  # [B, 1]
        is_word = (slots >= 1) & (slots < n)  # [B, N+1]
        words = torch.where(is_word, self.first_words[chosen][:, None] + slots - 1, 0)
        row = self.first_heads[chosen][:, None] + (slots - 1) * n  # [B, N+1]
        is_pair = is_word[:, :, None] & (slots < n)[:, None]  # [B, N+1, N+1]
        pairs = torch.where(is_pair, row[:, :, None] + slots, 0)
        known = is_word[..., None]
        return Lesson(
            self.heads[pairs].float() * is_pair,
            self.labels[words].float() * known,
            tuple(None if tags is None else tags[words].float() * known for tags in self.tags),
            self.weight,
            self.temperature,
        )


def cross_entropy(log_probs: Tensor, targets: Tensor, temperature: float) -> Tensor:
    """Sum the cross-entropy of distributions [..., k] with `targets`, made at this temperature.

    What comes out is multiplied by its square, so that gradients are as large at any temperature.
    """
    if temperature != 1.0:
        log_probs = functional.log_softmax(log_probs / temperature, dim=-1)
    # The logarithm of padding is -inf, and 0 times that is no number.
    kept = log_probs.masked_fill(targets == 0, 0.0)
    return -(targets * kept).sum() * temperature**2
