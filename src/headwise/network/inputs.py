"""x_i, the input of a word, Eq. 3: its parts side by side.

The paper has two parts, a word vector and a tag vector. Four more are optional: the marks of the
word (`vocabulary.marks`), its spelling (`vocabulary.ngrams`), a pre-trained vector that does not
change, also for words that training never saw, and the state of a pre-trained transformer
(`network.encoder`). In training, whole parts of a word can be dropped, each independently, so that
the network learns to do without any one of them.
"""

import torch
from torch import Tensor, nn

from headwise.arrays import IntArray
from headwise.settings.model import ModelConfig
from headwise.vocabulary.encode import WordIds
from headwise.vocabulary.ngrams import PAD_NGRAM
from headwise.vocabulary.vocab import N_SPECIALS, PAD, UNK, Vocab


class Marks(nn.Module):
    """The sum of the vectors of a word's marks."""

    def __init__(self, n_marks: int, size: int) -> None:
        """Make a table with one row for each mark."""
        super().__init__()
        self.table = nn.Embedding(n_marks, size)

    def forward(self, marks: Tensor) -> Tensor:
        """Look up marks [B, N+1, k]: float [B, N+1, size]."""
        is_mark = (marks != PAD).to(torch.float32)[..., None]  # [B, N+1, k, 1]
        total: Tensor = (self.table(marks) * is_mark).sum(dim=-2)  # [B, N+1, size]
        return total


class Spelling(nn.Module):
    """The mean of the vectors of a word's n-grams."""

    def __init__(self, n_ids: int, size: int) -> None:
        """Make a table with one row for each bucket."""
        super().__init__()
        self.table = nn.Embedding(n_ids, size)

    def forward(self, ngrams: Tensor) -> Tensor:
        """Look up n-grams [B, N+1, k]: float [B, N+1, size]."""
        is_ngram = (ngrams != PAD_NGRAM).to(torch.float32)[..., None]  # [B, N+1, k, 1]
        total = (self.table(ngrams) * is_ngram).sum(dim=-2)  # [B, N+1, size]
        mean: Tensor = total / is_ngram.sum(dim=-2).clamp(min=1.0)
        return mean


class Inputs(nn.Module):
    """x_i = [W_e e(w_i); W_t e(t_i)], Eq. 3, and further parts that the config names."""

    def __init__(self, config: ModelConfig, vocab: Vocab) -> None:
        """Make the tables, one row for each id; `set_vectors` fills the pre-trained one."""
        super().__init__()
        self.word = nn.Embedding(len(vocab.words), config.word_size)
        sizes = [config.word_size]
        self.tag = self.mark = self.spelling = self.vector = None
        if config.tag_column != "none":
            self.tag = nn.Embedding(len(vocab.tags), config.tag_size)
            sizes.append(config.tag_size)
        if config.marks:
            self.mark = Marks(len(vocab.marks), config.mark_size)
            sizes.append(config.mark_size)
        if config.pieces:
            self.spelling = Spelling(len(vocab.ngrams), config.piece_size)
            sizes.append(config.piece_size)
        if config.vector_words:
            self.vector = nn.Embedding(len(vocab.vectors), config.vector_size)
            self.vector.weight.requires_grad_(False)
            sizes.append(config.vector_size)
        if vocab.subwords is not None:
            sizes.append(vocab.subwords.settings.size)
        self.size = sum(sizes)
        self.dropout = 0.0
        self.word_dropout = 0.0

    def forward(self, ids: WordIds[Tensor], in_context: Tensor | None = None) -> Tensor:
        """Look up ids: float [B, N+1, s+q+...]; `in_context` is a transformer's [B, N+1, .]."""
        words = ids.words
        if self.training and self.word_dropout:
            dropped = torch.rand(words.shape, device=words.device) < self.word_dropout
            words = torch.where(dropped & (words >= N_SPECIALS), UNK, words)
        parts: list[Tensor] = [self.word(words)]
        if self.tag is not None:
            parts.append(self.tag(ids.tags))
        if self.mark is not None:
            parts.append(self.mark(ids.marks))
        if self.spelling is not None:
            parts.append(self.spelling(ids.ngrams))
        if self.vector is not None:
            parts.append(self.vector(ids.vectors))
        if in_context is not None:
            parts.append(in_context)
        if self.training and self.dropout:
            parts = drop_parts(parts, self.dropout)
        return torch.cat(parts, dim=-1)


def to_device(array: IntArray, device: torch.device) -> Tensor:
    """Move ids to a device as int64."""
    return torch.from_numpy(array).to(device).long()


def drop_parts(parts: list[Tensor], share: float) -> list[Tensor]:
    """Drop whole parts [B, N+1, .] of a word independently; scale up the rest of the word."""
    shape = (*parts[0].shape[:2], len(parts))
    kept = (torch.rand(shape, device=parts[0].device) >= share).float()  # [B, N+1, parts]
    scale = kept * len(parts) / kept.sum(dim=-1, keepdim=True).clamp(min=1.0)
    return [part * scale[..., i : i + 1] for i, part in enumerate(parts)]
