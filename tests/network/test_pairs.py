"""The pair scorer against Eq. 6 as it stands, with its gradient and without its memory."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from headwise.network import pairs
from headwise.network.pairs import pair_scores

FIXED = settings(max_examples=50, deadline=None, derandomize=True, database=None)
SIZES = st.tuples(*[st.integers(1, 5)] * 4)


def plain(dependents: Tensor, heads: Tensor, v: Tensor) -> Tensor:
    return torch.tanh(dependents[:, :, None] + heads[:, None]) @ v


def factors(n_sentences: int, n: int, m: int, k: int, dtype: torch.dtype) -> list[Tensor]:
    shapes = ((n_sentences, n, k), (n_sentences, m, k), (k,))
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]


@FIXED
@given(SIZES, st.integers(0, 1000))
def test_scores_and_gradients_are_those_of_autograd(
    sizes: tuple[int, int, int, int], seed: int
) -> None:
    torch.manual_seed(seed)
    given_factors = factors(*sizes, torch.float64)
    weights = torch.randn(sizes[:3], dtype=torch.float64)
    expected = plain(*given_factors)
    by_autograd = torch.autograd.grad((expected * weights).sum(), given_factors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "_BLOCK_BYTES", 8 * sizes[2] * sizes[3] * 2)
        scores = pair_scores(*given_factors)
        ours = torch.autograd.grad((scores * weights).sum(), given_factors)
    torch.testing.assert_close(scores, expected)
    torch.testing.assert_close(ours, by_autograd)


def test_no_array_of_pairs_is_kept() -> None:
    kept: list[int] = []

    def keep(tensor: Tensor) -> Tensor:
        kept.append(tensor.numel())
        return tensor

    dependents, heads, v = factors(2, 30, 30, 16, torch.float32)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        pair_scores(dependents, heads, v).sum()
    assert max(kept) == dependents.numel()


def test_half_precision_comes_out_whole() -> None:
    dependents, heads, v = factors(2, 3, 4, 5, torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        scores = pair_scores(dependents.bfloat16(), heads.bfloat16(), v)
    assert scores.dtype == torch.float32
    torch.testing.assert_close(scores, plain(dependents, heads, v), atol=0.05, rtol=0.05)
    (of_d,) = torch.autograd.grad(scores.sum(), [dependents])
    assert of_d.dtype == torch.float32
