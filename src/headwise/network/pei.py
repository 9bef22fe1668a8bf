"""DeNSe-Pei, the ablation of Sec. 4.3: a feed-forward network in place of the LSTM.

The "1-order-atomic" features of Pei, Ge and Chang (2015): words and tags of h-2..h+2 and m-2..m+2,
and the distance. The hidden layer is linear before its activation, so that a pair of words is a
sum of three: A[h] + B[m] + D[distance, direction]. Direction has weights of its own, as in Pei's
code. Departs from Pei: the margin is replaced by Eq. 5 and 7, as the paper says; the distance is a
table of hidden vectors, which is what an embedding times a matrix amounts to; and distances beyond
`MAX_DISTANCE` share a row of it.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

_N_AROUND = 2
"""Words on each side of a window."""
MAX_DISTANCE = 50
"""Larger distances share a row."""
MAX_PAIR_BYTES = 2**30
"""Size of the largest array of word pairs if no gradient is needed."""


class Window(nn.Module):
    """a_i: the input vectors of w_i and of two words on each side."""

    def __init__(self, input_size: int) -> None:
        """Make vectors for the slots before and after a sentence (<BOS>, <EOS>)."""
        super().__init__()
        self.outside = nn.Parameter(torch.zeros(2, input_size))
        self.size = input_size * (2 * _N_AROUND + 1)
        self.dropout = 0.0

    def forward(self, inputs: Tensor, lengths: Tensor | None) -> Tensor:
        """Join five neighbours: x [B, N+1, k] to a [B, N+1, 5k]."""
        n_sentences, n_slots, _ = inputs.shape
        before, after = self.outside[0], self.outside[1]
        if lengths is not None:
            slots = torch.arange(n_slots, device=inputs.device)
            is_word = slots < lengths[:, None]  # [B, N+1]
            inputs = torch.where(is_word[:, :, None], inputs, after)
        left = before.expand(n_sentences, _N_AROUND, -1)
        right = after.expand(n_sentences, _N_AROUND, -1)
        padded = torch.cat([left, inputs, right], dim=1)  # [B, 2 + N+1 + 2, k]
        shifted = [padded[:, i : i + n_slots] for i in range(2 * _N_AROUND + 1)]
        window = torch.cat(shifted, dim=-1)  # [B, N+1, 5k]
        return functional.dropout(window, self.dropout, self.training)


class PeiSelector(nn.Module):
    """g = v_dir . act(A[h] + B[m] + D[distance, dir]), with act(x) = tanh(x^3 + x)."""

    def __init__(self, size: int, hidden_size: int, max_pair_bytes: int = MAX_PAIR_BYTES) -> None:
        """Make A, B, D and v for heads on the left and on the right; `size` is that of a_i."""
        super().__init__()
        self.max_pair_bytes = max_pair_bytes
        self.head = nn.Linear(size, 2 * hidden_size)
        self.dependent = nn.Linear(size, 2 * hidden_size, bias=False)
        self.distance = nn.Parameter(torch.zeros(2, MAX_DISTANCE + 1, hidden_size))
        self.v = nn.Parameter(torch.zeros(2, hidden_size))
        self.dropout = 0.0

    def project(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Give A and B of every word, left and right side by side: [B, N+1, 2h] each."""
        return self.head(states), self.dependent(states)

    def forward(self, dependents: Tensor, heads: Tensor, rows: Tensor) -> Tensor:
        """Score `dependents` [B, n, 2h], standing in `rows` [n], with all `heads`: [B, n, N+1]."""
        columns = torch.arange(heads.shape[1], device=heads.device)
        offset = columns - rows[:, None]  # [n, N+1]
        distance = offset.abs().clamp(max=MAX_DISTANCE)
        left, right = (
            self._score_side(side, dependents, heads, distance) for side in (0, 1)
        )  # [B, n, N+1]
        return torch.where(offset < 0, left, right)

    def score(self, dependents: Tensor, heads: Tensor, rows: Tensor) -> Tensor:
        """Score as `forward` does, in blocks of rows if no gradient is needed."""
        if torch.is_grad_enabled():
            return self(dependents, heads, rows)  # type: ignore[no-any-return]
        n_rows = max(1, self.max_pair_bytes // (4 * heads.numel()))
        blocks = [slice(start, start + n_rows) for start in range(0, len(rows), n_rows)]
        return torch.cat([self(dependents[:, b], heads, rows[b]) for b in blocks], dim=1)

    def divide_scores(self, temperature: float) -> None:
        """Divide all scores by a temperature, by changing weights."""
        with torch.no_grad():
            self.v.div_(temperature)

    def _score_side(self, side: int, dependents: Tensor, heads: Tensor, distance: Tensor) -> Tensor:
        size = self.v.shape[1]
        own = slice(side * size, (side + 1) * size)
        pairs = dependents[:, :, None, own] + heads[:, None, :, own]  # [B, n, N+1, h]
        pairs = pairs + self.distance[side][distance]
        hidden = torch.tanh(pairs * pairs * pairs + pairs)
        hidden = functional.dropout(hidden, self.dropout, self.training)
        return hidden @ self.v[side]
