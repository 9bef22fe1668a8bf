"""Launches the kernels of `network.kernels.triton_kernels` on GPUs where they work.

A CUDA build of PyTorch brings Triton. Before kernels are used on a GPU, each runs once there and
its result is compared with PyTorch's. If one does not compile or differs, training warns and goes
on with plain operations, which are slower and give the same results.
"""

import warnings
from functools import cache
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

TOLERANCE = 1e-3
Layer = tuple[Tensor, Tensor, Tensor]
"""h, the gates after their activation, and c, of every step."""


@cache
def kernels_on(device: torch.device) -> ModuleType | None:
    """Give the kernels if this device can run them correctly."""
    if device.type != "cuda":
        return None
    try:
        import headwise.network.kernels.triton_kernels as found

        check(found, device)
    except Exception as error:  # Triton, its compiler and the driver may raise anything
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        warnings.warn(f"training without GPU kernels, which is slower: {reason}", stacklevel=2)
        return None
    return found


def prepare(device: torch.device) -> None:
    """Compile and check the kernels before the first step, which would do it otherwise."""
    kernels_on(torch.empty(0, device=device).device)


def steps_by_kernels(
    found: ModuleType, projected: Tensor, bias: Tensor, recurrent: Tensor, keep: Tensor
) -> Layer:
    """Run a layer as `network.recurrent` does; return h, the gates and c of every step."""
    n_steps, n_directions, n_sentences, _ = projected.shape
    d = recurrent.shape[1]
    hidden = projected.new_empty(n_steps, n_directions, n_sentences, d)
    gates = torch.empty_like(projected, dtype=torch.float32)
    cells = torch.empty_like(hidden, dtype=torch.float32)
    step = found.lstm_step[_layer_grid(found, hidden)]
    for t in range(n_steps):
        step(projected, bias, recurrent, keep, gates, cells, hidden, t, n_sentences, d)
    return hidden, gates, cells


def steps_back_by_kernels(
    found: ModuleType, gradient: Tensor, layer: Layer, recurrent: Tensor, keep: Tensor
) -> Tensor:
    """Give the gradient of W x_t + R h_(t-1), [T, g, B, 4d], for a result of `steps_by_kernels`."""
    hidden, gates, cells = layer
    n_steps, _, n_sentences, d = hidden.shape
    from_cell = torch.zeros_like(cells[0])
    sums = torch.empty_like(gates, dtype=hidden.dtype)
    turned = recurrent.transpose(1, 2).contiguous()  # so that units stand side by side here too
    arrays = (gates, cells, keep, turned, gradient, from_cell, sums)
    step = found.lstm_step_back[_layer_grid(found, hidden)]
    for t in range(n_steps - 1, -1, -1):
        step(*arrays, t, n_steps, n_sentences, d)
    return sums


def pairs_by_kernels(found: ModuleType, dependents: Tensor, heads: Tensor, v: Tensor) -> Tensor:
    """Score every pair, Eq. 6: d [B, n, k], h [B, m, k], v [k] to [B, n, m]."""
    n_sentences, n, k = dependents.shape
    m = heads.shape[1]
    scores = dependents.new_empty(n_sentences, n, m)
    grid = (_blocks(n, found.PAIR_BLOCK), _blocks(m, found.PAIR_BLOCK), n_sentences)
    found.pair_scores[grid](dependents, heads, v, scores, n, m, k)
    return scores


def pairs_back_by_kernels(
    found: ModuleType, dependents: Tensor, heads: Tensor, v: Tensor, gradient: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Give the gradients of d, h and v."""
    n_sentences, n, k = dependents.shape
    m = heads.shape[1]
    of_d, of_h = torch.empty_like(dependents), torch.empty_like(heads)
    n_rows, n_columns, n_units = (_blocks(size, found.PAIR_BLOCK_BACK) for size in (n, m, k))
    parts = v.new_empty(n_sentences * n_rows, k)
    back = found.pair_scores_back
    grid = (n_rows, n_units, n_sentences)
    warps = found.WARPS_BACK
    back[grid](dependents, heads, v, gradient, of_d, parts, n, m, m, 1, k, True, num_warps=warps)
    grid = (n_columns, n_units, n_sentences)
    back[grid](heads, dependents, v, gradient, of_h, parts, m, n, 1, m, k, False, num_warps=warps)
    # A product adds up in the same order each time; a plain sum on a GPU may not.
    return of_d, of_h, torch.mv(parts.T, parts.new_ones(len(parts)))


def check(found: ModuleType, device: torch.device, d: int = 300, k: int = 600) -> None:
    """Compare each kernel with PyTorch, in float32; raise an error if they differ.

    The sizes are the paper's: kernels compiled for them here are not compiled again.
    """
    draw = torch.Generator(device).manual_seed(1)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(shape, generator=draw, device=device)

    exact = torch.autocast(device.type, enabled=False)
    with torch.inference_mode(False), torch.enable_grad(), exact:
        recurrent = drawn(2, d, 4 * d) / d
        _check_layer(found, drawn(3, 2, 5, 4 * d), drawn(2, 4 * d), recurrent, drawn(3, 2, 5, d))
        _check_pairs(found, drawn(2, 18, k), drawn(2, 17, k), drawn(k))


def _check_layer(
    found: ModuleType, projected: Tensor, bias: Tensor, recurrent: Tensor, keep: Tensor
) -> None:
    layer = steps_by_kernels(found, projected, bias, recurrent, keep)
    sums = steps_back_by_kernels(found, torch.ones_like(layer[0]), layer, recurrent, keep)
    hidden = cell = torch.zeros_like(keep[0])
    given = projected.requires_grad_()
    steps = []
    for t in range(len(given)):
        gates = given[t] + bias[:, None] + torch.bmm(hidden, recurrent)
        i, f, g, o = gates.chunk(4, dim=-1)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh() * keep[t]
        hidden = o.sigmoid() * cell.tanh()
        steps.append(hidden)
    expected = torch.stack(steps)
    (of_sums,) = torch.autograd.grad(expected.sum(), [given])
    _compare("lstm_step", layer[0], expected)
    _compare("lstm_step_back", sums, of_sums)


def _check_pairs(found: ModuleType, dependents: Tensor, heads: Tensor, v: Tensor) -> None:
    scores = pairs_by_kernels(found, dependents, heads, v)
    gradient = scores.detach().sin()
    ours = pairs_back_by_kernels(found, dependents, heads, v, gradient)
    factors = [factor.requires_grad_() for factor in (dependents, heads, v)]
    expected = torch.tanh(dependents[:, :, None] + heads[:, None]) @ v
    theirs = torch.autograd.grad(expected, factors, gradient)
    _compare("pair_scores", scores, expected)
    for own, their in zip(ours, theirs, strict=True):
        _compare("pair_scores_back", own, their)


def _compare(name: str, ours: Tensor, expected: Tensor) -> None:
    distance = (ours - expected).abs().max().item()
    if not distance < TOLERANCE * (1 + expected.abs().max().item()):
        raise ArithmeticError(f"{name} is off by {distance:g}")


def _layer_grid(found: ModuleType, hidden: Tensor) -> tuple[int, int, int]:
    _, n_directions, n_sentences, d = hidden.shape
    return _blocks(n_sentences, found.ROW_BLOCK), _blocks(d, found.UNIT_BLOCK), n_directions


def _blocks(size: int, block: Any) -> int:
    """Count blocks; their size is a Triton constant."""
    return -(-size // int(block.value))
