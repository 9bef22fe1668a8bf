from functools import partial

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
    shapes = ((3, 2, 2, 8), (2, 8), (2, 2, 8))
    given = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    keep = nn.functional.dropout(torch.ones(3, 2, 2, 2), 0.5)
    # Gates and cells are float32, whatever the input is.
    steps = {"eps": 1e-2, "atol": 2e-3, "rtol": 2e-2}
    run = partial(run_layer, keep=keep)
    assert torch.autograd.gradcheck(run, given, check_undefined_grad=False, **steps)
