import torch
from torch import nn

from headwise.network.recurrent import run_layer


def test_layer_without_dropout_is_an_lstm_and_so_is_its_gradient() -> None:
    torch.manual_seed(2)
    lstm = nn.LSTM(5, 4)
    inputs = torch.randn(6, 2, 5, requires_grad=True)
    weights = torch.randn(6, 2, 4)
    learned = [inputs, *lstm.parameters()]
    states = lstm(inputs)[0]
    projected = inputs @ lstm.weight_ih_l0.T
    bias = (lstm.bias_ih_l0 + lstm.bias_hh_l0)[None]
    ours = run_layer(projected[:, None], bias, lstm.weight_hh_l0.T[None], torch.ones(6, 1, 2, 4))
    torch.testing.assert_close(ours[:, 0], states)
    gradients, expected = (
        torch.autograd.grad((result * weights).sum(), learned) for result in (ours[:, 0], states)
    )
    torch.testing.assert_close(gradients, expected)


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
