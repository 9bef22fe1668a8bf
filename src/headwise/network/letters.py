"""The spelling of a word, read letter by letter in both directions.

A BiLSTM reads the letters; the largest value of each unit over all letters, and its last state in
each direction, make up one vector. Its values are between -1 and 1, so that int8 knows its range.
"""

import torch
from torch import Tensor, nn

from headwise.network.represent import reverse
from headwise.vocabulary.letters import PAD_LETTER

_N_GROUPS = 4
"""Groups of words of similar length: most words are far shorter than the longest of a batch."""


class LetterReader(nn.Module):
    """Letters of words in, a vector for each word out."""

    def __init__(self, n_letters: int, letter_size: int, units: int, size: int) -> None:
        """Make a table of letters, one LSTM for each direction, and a layer on top."""
        super().__init__()
        self.table = nn.Embedding(n_letters, letter_size)
        self.ahead = nn.LSTM(letter_size, units, batch_first=True)
        self.back = nn.LSTM(letter_size, units, batch_first=True)
        self.out = nn.Linear(4 * units, size)

    def forward(self, ids: Tensor) -> Tensor:
        """Read letters [B, N+1, k]: float [B, N+1, size].

        A word that stands in a batch several times is read once, and words of similar length are
        read together; except on a GPU, where reading all at once is faster than sorting them.
        """
        flat = ids.flatten(0, 1)  # [B * (N+1), k]
        if ids.is_cuda:
            return self.read(flat).view(*ids.shape[:2], -1)
        distinct, where = torch.unique(flat, dim=0, return_inverse=True)
        lengths = (distinct != PAD_LETTER).sum(dim=1).clamp(min=1)
        order = lengths.argsort(stable=True)
        parts = [
            self.read(distinct[rows, : int(lengths[rows[-1]])]) for rows in order.chunk(_N_GROUPS)
        ]
        return torch.cat(parts)[order.argsort()[where]].view(*ids.shape[:2], -1)

    def read(self, ids: Tensor) -> Tensor:
        """Read words [n, k], padded at the end: float [n, size]."""
        with torch.autocast(ids.device.type, enabled=False):
            is_letter = (ids != PAD_LETTER)[:, :, None]  # [n, k, 1]
            lengths = is_letter.sum(dim=1)[:, 0].clamp(min=1)  # [n]
            letters = self.table(ids)  # [n, k, letter_size]
            last = (lengths - 1)[:, None, None]  # [n, 1, 1]
            ends, tops = [], []
            for lstm, read in ((self.ahead, letters), (self.back, reverse(letters, lengths))):
                states = lstm(read)[0]  # [n, k, units]
                ends.append(states.take_along_dim(last, dim=1)[:, 0])
                tops.append(states.masked_fill(~is_letter, -1.0).amax(dim=1))
            return torch.tanh(self.out(torch.cat([*tops, *ends], dim=-1)))
