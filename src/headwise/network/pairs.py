"""The pair scorer of Eq. 6 without an array of word pairs, forward and backward.

    s_ij = v . t_ij,  t_ij = tanh(d_i + h_j),  for a dependent i and a head j

Left to autograd, t is kept for the gradient: [B, N, N, k], gigabytes for long sentences. Here only
d, h and v are kept, and t is computed again on the way back, where g_ij is the gradient of s_ij:

    of d_i: sum_j g_ij v (1 - t_ij^2)    of h_j: sum_i g_ij v (1 - t_ij^2)    of v: sum_ij g_ij t_ij

So memory grows with N^2. On a GPU our kernels (`network.kernels.launch`) add up without storing t;
elsewhere t is computed in blocks of rows that fit into the cache.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from headwise.network.kernels.launch import kernels_on, pairs_back_by_kernels, pairs_by_kernels

_BLOCK_BYTES = 2**23
"""Size of the largest array of pairs without kernels."""


def pair_scores(dependents: Tensor, heads: Tensor, v: Tensor) -> Tensor:
    """Score every pair: d [B, n, k], h [B, m, k], v [k] to [B, n, m], in the precision of v."""
    with torch.autocast(v.device.type, enabled=False):
        factors = (dependents.to(v.dtype), heads.to(v.dtype), v)
        scores: Tensor = _Pairs.apply(*factors)  # type: ignore[no-untyped-call]
    return scores


class _Pairs(torch.autograd.Function):
    """`pair_scores` and its gradient."""

    @staticmethod
    def forward(ctx: Any, dependents: Tensor, heads: Tensor, v: Tensor) -> Tensor:
        """Keep only the factors."""
        factors = (dependents.contiguous(), heads.contiguous(), v.contiguous())
        ctx.save_for_backward(*factors)
        kernels = kernels_on(v.device)
        if kernels:
            return pairs_by_kernels(kernels, *factors)
        rows = [_tanh(dependents, heads, block) @ v for block in _blocks(dependents, heads)]
        return torch.cat(rows, dim=1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        """Compute t again, and add up."""
        dependents, heads, v = ctx.saved_tensors
        gradient = gradients[0].contiguous()
        kernels = kernels_on(v.device)
        if kernels:
            return pairs_back_by_kernels(kernels, dependents, heads, v, gradient)
        of_d = torch.empty_like(dependents)
        of_h, of_v = torch.zeros_like(heads), torch.zeros_like(v)
        for rows in _blocks(dependents, heads):
            t = _tanh(dependents, heads, rows)  # [B, rows, m, k]
            of_v += gradient[:, rows].flatten() @ t.flatten(0, 2)
            of_sums = t.square_().neg_().add_(1).mul_(gradient[:, rows, :, None]).mul_(v)
            of_d[:, rows] = of_sums.sum(dim=2)
            of_h += of_sums.sum(dim=1)
        return of_d, of_h, of_v


def _blocks(dependents: Tensor, heads: Tensor) -> Iterator[slice]:
    n_rows = max(1, _BLOCK_BYTES // (heads.element_size() * max(1, heads.numel())))
    for start in range(0, dependents.shape[1], n_rows):
        yield slice(start, start + n_rows)


def _tanh(dependents: Tensor, heads: Tensor, rows: slice) -> Tensor:
    return (dependents[:, rows, None] + heads[:, None, :]).tanh_()
