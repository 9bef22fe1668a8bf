"""A step of training; what is recorded on a GPU must be what runs without recording."""

import pytest
import torch
from torch import Tensor, nn

from headwise.learn.step import Stepper

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="records on a GPU only")


def train(device: str, n_steps: int, record: bool = True) -> tuple[list[float], Tensor, int]:
    """Fit a line by Adam, in batches of two shapes; give losses, weights and calls of `after`."""
    torch.manual_seed(1)
    inputs, targets = torch.randn(8, 6, 3), torch.randn(8, 6, 1)
    inputs, targets = inputs.to(device), targets.to(device)
    layer = nn.Linear(3, 1).to(device)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.1, capturable=device == "cuda")
    calls = torch.zeros(1, device=device)

    def loss_of(chosen: Tensor, longest: int) -> Tensor:
        difference = layer(inputs[chosen, :longest]) - targets[chosen, :longest]
        loss: Tensor = (difference**2).mean()
        return loss

    parameters = list(layer.parameters())
    stepper = Stepper(loss_of, optimiser, parameters, 1.0, lambda: calls.add_(1) and None)
    if not record:
        stepper._stream = None
    losses = []
    for i in range(n_steps):
        chosen = torch.tensor([0, 1, 2] if i % 2 else [3, 4], device=device)
        losses.append(stepper(chosen, 4))
    return [loss.item() for loss in losses], layer.weight.detach().cpu(), int(calls.item())


def test_step_lowers_the_loss_and_calls_what_comes_after() -> None:
    losses, _, calls = train("cpu", 40)
    assert losses[-1] < losses[1]
    assert losses[-2] < losses[0]
    assert calls == 40


def test_step_clips_the_gradient() -> None:
    weight = nn.Parameter(torch.zeros(2))
    optimiser = torch.optim.SGD([weight], lr=1.0)
    stepper = Stepper(lambda chosen, _: 100 * weight.sum(), optimiser, [weight], 1.0)
    stepper(torch.tensor([0]), 1)
    assert weight.detach().norm().item() == pytest.approx(1.0, rel=1e-4)


@needs_gpu
def test_recorded_steps_are_the_unrecorded_ones() -> None:  # pragma: no cover
    recorded, unrecorded = train("cuda", 40), train("cuda", 40, record=False)
    assert recorded[0] == unrecorded[0]
    torch.testing.assert_close(recorded[1], unrecorded[1])
    assert recorded[2] == 40
