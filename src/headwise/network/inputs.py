"""x_i, the input of a word, Eq. 3: its parts side by side.

The paper has two parts, a word vector and a tag vector. More are optional: the marks of the word
(`vocabulary.vocab`), its spelling as n-grams (`vocabulary.ngrams`) or letter by letter
(`network.letters`), what training has seen for its form and ending (`vocabulary.lexicon`), a
pre-trained vector that does not change, also for words that training never saw, and the state of a
pre-trained transformer (`network.encoder`). In training, whole parts of a word can be dropped, each
independently, so that the network learns to do without any one of them.
"""

import torch
from torch import Tensor, nn

from headwise.arrays import NumberArray
from headwise.network.letters import LetterReader
from headwise.settings.model import ModelConfig
from headwise.vocabulary.encode import WordIds
from headwise.vocabulary.vocab import N_SPECIALS, PAD, UNK, Vocab


class VectorBag(nn.Module):
    """The sum or the mean of several vectors of a word: those of its marks, or of its n-grams."""

    def __init__(self, n_ids: int, size: int, takes_mean: bool) -> None:
        """Make a table with one row for each id; id 0 is padding."""
        super().__init__()
        self.table = nn.Embedding(n_ids, size)
        self.takes_mean = takes_mean

    def forward(self, ids: Tensor) -> Tensor:
        """Look up ids [B, N+1, k]: float [B, N+1, size]."""
        is_given = (ids != PAD).to(torch.float32)[..., None]  # [B, N+1, k, 1]
        total: Tensor = (self.table(ids) * is_given).sum(dim=-2)  # [B, N+1, size]
        return total / is_given.sum(dim=-2).clamp(min=1.0) if self.takes_mean else total


class PriorReader(nn.Module):
    """A vector made of what the lexicon knows of a word; its values are between -1 and 1."""

    def __init__(self, prior_size: int, size: int) -> None:
        """Make two layers; `prior_size` is that of the lexicon."""
        super().__init__()
        self.n_values = prior_size
        self.hidden = nn.Linear(prior_size, size)
        self.out = nn.Linear(size, size)

    def forward(self, prior: Tensor) -> Tensor:
        """Read shares and counts [B, N+1, k]: float [B, N+1, size]."""
        return torch.tanh(self.out(torch.relu(self.hidden(prior))))


class Inputs(nn.Module):
    """x_i = [W_e e(w_i); W_t e(t_i)], Eq. 3, and further parts that the config names."""

    def __init__(self, config: ModelConfig, vocab: Vocab) -> None:
        """Make the tables, one row for each id; `build_network` fills the pre-trained one."""
        super().__init__()
        self.word = nn.Embedding(len(vocab.words), config.word_size)
        self.part_sizes = {"word": config.word_size}
        self.tag = self.mark = self.spelling = self.letters = self.prior = self.vector = None
        if config.tag_column != "none":
            self.tag = nn.Embedding(len(vocab.tags), config.tag_size)
            self.part_sizes["tag"] = config.tag_size
        if config.marks:
            self.mark = VectorBag(len(vocab.marks), config.mark_size, takes_mean=False)
            self.part_sizes["mark"] = config.mark_size
        if config.pieces:
            self.spelling = VectorBag(len(vocab.ngrams), config.piece_size, takes_mean=True)
            self.part_sizes["spelling"] = config.piece_size
        if vocab.alphabet.letters:
            size = config.letters_size
            self.letters = LetterReader(
                len(vocab.alphabet), config.letter_size, config.letters, size
            )
            self.part_sizes["letters"] = size
        if config.prior_size and vocab.lexicon is not None:
            self.prior = PriorReader(vocab.lexicon.prior_size, config.prior_size)
            self.part_sizes["prior"] = config.prior_size
        if config.vector_words:
            self.vector = nn.Embedding(len(vocab.vectors), config.vector_size)
            self.vector.weight.requires_grad_(False)
            self.part_sizes["vector"] = config.vector_size
        if vocab.subwords is not None:
            self.part_sizes["encoder"] = vocab.subwords.settings.size
        self.size = sum(self.part_sizes.values())
        self.dropout = 0.0
        self.word_dropout = 0.0

    def forward(self, ids: WordIds[Tensor], in_context: Tensor | None = None) -> Tensor:
        """Look up ids: float [B, N+1, s+q+...]; `in_context` is a transformer's [B, N+1, .]."""
        words = ids.words
        if self.training and self.word_dropout:
            dropped = torch.rand(words.shape, device=words.device) < self.word_dropout
            words = torch.where(dropped & (words >= N_SPECIALS), UNK, words)
        others = (
            (self.tag, ids.tags),
            (self.mark, ids.marks),
            (self.spelling, ids.ngrams),
            (self.letters, ids.letters),
            (self.prior, ids.prior),
            (self.vector, ids.vectors),
        )
        parts = [self.word(words), *(table(of_word) for table, of_word in others if table)]
        if in_context is not None:
            parts.append(in_context)
        if self.training and self.dropout:
            parts = drop_parts(parts, self.dropout)
        return torch.cat(parts, dim=-1)


def to_device(array: NumberArray, device: torch.device) -> Tensor:
    """Move ids to a device as int64; numbers that are not ids stay float32."""
    there = torch.from_numpy(array).to(device)
    return there if there.is_floating_point() else there.long()


def drop_parts(parts: list[Tensor], share: float) -> list[Tensor]:
    """Drop whole parts [B, N+1, .] of a word independently; scale up the rest of the word."""
    shape = (*parts[0].shape[:2], len(parts))
    kept = (torch.rand(shape, device=parts[0].device) >= share).float()  # [B, N+1, parts]
    scale = kept * len(parts) / kept.sum(dim=-1, keepdim=True).clamp(min=1.0)
    return [part * scale[..., i : i + 1] for i, part in enumerate(parts)]
