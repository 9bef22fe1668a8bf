import torch
from torch import nn

from headwise.network.recurrent import run_layer


def test_layer_without_dropout_is_an_lstm() -> None:
    torch.manual_seed(1)
    lstm = nn.LSTM(5, 4)
    inputs = torch.randn(7, 3, 5)
    projected = inputs @ lstm.weight_ih_l0.T
    bias = (lstm.bias_ih_l0 + lstm.bias_hh_l0)[None]
    recurrent = lstm.weight_hh_l0.T[None]
    ours = run_layer(projected[:, None], bias, recurrent, torch.ones(7, 1, 3, 4))
    torch.testing.assert_close(ours[:, 0], lstm(inputs)[0])


def test_gradient_agrees_with_the_lstm() -> None:
    torch.manual_seed(2)
    lstm = nn.LSTM(5, 4)
    inputs = torch.randn(6, 2, 5, requires_grad=True)
    weights = torch.randn(6, 2, 4)
    (lstm(inputs)[0] * weights).sum().backward()
    expected = [inputs.grad, *(p.grad for p in lstm.parameters())]
    inputs.grad = None
    lstm.zero_grad()
    projected = inputs @ lstm.weight_ih_l0.T
    bias = (lstm.bias_ih_l0 + lstm.bias_hh_l0)[None]
    ours = run_layer(projected[:, None], bias, lstm.weight_hh_l0.T[None], torch.ones(6, 1, 2, 4))
    (ours[:, 0] * weights).sum().backward()
    for mine, theirs in zip(
        [inputs.grad, *(p.grad for p in lstm.parameters())], expected, strict=True
    ):
        torch.testing.assert_close(mine, theirs)


def test_gradient_with_dropout_agrees_with_finite_differences() -> None:
    torch.manual_seed(3)
    projected = torch.randn(3, 2, 2, 8, requires_grad=True)
    bias = torch.randn(2, 8, requires_grad=True)
    recurrent = torch.randn(2, 2, 8, requires_grad=True)
    keep = torch.nn.functional.dropout(torch.ones(3, 2, 2, 2), 0.5)
    weights = torch.randn(3, 2, 2, 2)

    def total(p: torch.Tensor, b: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
        return (run_layer(p, b, r, keep) * weights).sum()

    total(projected, bias, recurrent).backward()
    for which, tensor in enumerate((projected, bias, recurrent)):
        assert tensor.grad is not None
        for index in [(0,) * tensor.dim(), tuple(n - 1 for n in tensor.shape)]:
            step = torch.zeros_like(tensor)
            step[index] = 1e-2
            given = [projected.detach(), bias.detach(), recurrent.detach()]
            up, down = list(given), list(given)
            up[which], down[which] = given[which] + step, given[which] - step
            slope = (total(*up) - total(*down)) / 2e-2
            torch.testing.assert_close(tensor.grad[index], slope, rtol=2e-2, atol=2e-3)
