"""The network that finds where words, tokens and sentences end: convolutions over characters.

Each layer sees its own position and one on either side, twice as far apart as in the layer below:
five layers see 33 characters to the left and to the right. There is no recurrence, so a text of any
length can be cut into windows that overlap by that much without changing the scores.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from headwise.settings.training import SegmentConfig
from headwise.text.scan import N_SCORES, Alphabet

_FIRST_REACH = 2


class SegmentNetwork(nn.Module):
    """Ids [..., T + 2 reach] -> scores [..., T, 5], those of `text.scan.N_SCORES`."""

    def __init__(self, config: SegmentConfig, alphabet: Alphabet) -> None:
        """Start with small random weights."""
        super().__init__()
        size, channels = config.embedding_size, config.channels
        self.by_character = nn.Embedding(alphabet.size, size)
        self.by_class = nn.Embedding(alphabet.size, size)
        self.register_buffer("classes", torch.from_numpy(alphabet.classes).long())
        nn.init.normal_(self.by_character.weight, std=0.1)
        nn.init.normal_(self.by_class.weight, std=0.3)
        self.first = nn.Linear((2 * _FIRST_REACH + 1) * size, channels)
        self.layers = nn.ModuleList(nn.Linear(3 * channels, channels) for _ in range(config.layers))
        self.last = nn.Linear(channels, N_SCORES)
        self.dropout = nn.Dropout(config.dropout)

    @property
    def reach(self) -> int:
        """How many characters on either side a score depends on."""
        return _FIRST_REACH + (1 << len(self.layers)) - 1

    def embeddings(self) -> Tensor:
        """Return the vector of each id: that of the character plus that of its class."""
        table: Tensor = self.by_character.weight + self.by_class(self.get_buffer("classes"))
        return table

    def forward(self, ids: Tensor) -> Tensor:
        """Score each character that has `reach` others on either side."""
        x = functional.embedding(ids, self.embeddings())  # [..., T + 2 reach, e]
        n = x.shape[-2] - 2 * _FIRST_REACH
        near = [x[..., i : i + n, :] for i in range(2 * _FIRST_REACH + 1)]
        x = functional.relu(self.first(torch.cat(near, dim=-1)))
        for i, layer in enumerate(self.layers):
            d = 2**i
            middle = x[..., d:-d, :]
            around = torch.cat([x[..., : -2 * d, :], middle, x[..., 2 * d :, :]], dim=-1)
            x = middle + self.dropout(functional.relu(layer(around)))
        scores: Tensor = self.last(x)
        return scores
