"""A step of training; what is recorded on a GPU must be what runs without recording."""

import pytest
import torch
from torch import Tensor, nn

from headwise.learn.compute import make_deterministic
from headwise.learn.fit.step import (
    MovingAverage,
    RecordedStep,
    TrainingStep,
    rounded,
    set_rate,
    slow_down,
)

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="records on a GPU only")


def train(device: str, n_steps: int, record: bool = True) -> tuple[list[float], Tensor, int]:
    """Fit a line by Adam, in batches of two shapes; give losses, weights and calls of `after`."""
    torch.manual_seed(1)
    inputs, targets = torch.randn(8, 6, 3), torch.randn(8, 6, 1)
    inputs, targets = inputs.to(device), targets.to(device)
    layer = nn.Linear(3, 1).to(device)
    rate = torch.tensor(0.5, device=device) if device == "cuda" else 0.5
    optimiser = torch.optim.Adam(layer.parameters(), lr=rate, capturable=device == "cuda")
    calls = torch.zeros(1, device=device)

    def loss_of(chosen: Tensor, longest: int) -> Tensor:
        difference = layer(inputs[chosen, :longest]) - targets[chosen, :longest]
        loss: Tensor = (difference**2).mean()
        return loss

    step = RecordedStep(
        TrainingStep(optimiser, list(layer.parameters()), 1.0),
        loss_of,
        lambda: calls.add_(1) and None,
        can_record=record,
    )
    losses = []
    for i in range(n_steps):
        chosen = torch.tensor([0, 1, 2] if i % 2 else [3, 4], device=device)
        losses.append(step(chosen, 4, 0.1 if i < n_steps / 2 else 0.01))
    return [loss.item() for loss in losses], layer.weight.detach().cpu(), int(calls.item())


def test_step_lowers_the_loss_and_calls_what_comes_after() -> None:
    losses, _, calls = train("cpu", 40)
    assert losses[-1] < losses[1]
    assert losses[-2] < losses[0]
    assert calls == 40


@pytest.mark.parametrize(("clip", "norm"), [(1.0, 0.5), (None, 50 * 2**0.5)])
def test_step_goes_as_far_as_its_rate_and_clip(clip: float | None, norm: float) -> None:
    weight = nn.Parameter(torch.zeros(2))
    optimiser = torch.optim.SGD([weight], lr=7.0)
    loss = TrainingStep(optimiser, [weight], clip)(lambda: 100 * weight.sum(), 0.5)
    assert loss.item() == 0
    assert weight.detach().norm().item() == pytest.approx(norm, rel=1e-4)


def test_a_part_without_sentences_has_no_loss() -> None:
    weight = nn.Parameter(torch.zeros(1))
    step = TrainingStep(torch.optim.SGD([weight], lr=1.0), [weight])
    assert step(lambda: 1 / weight.sum(), 1.0, share=0.0).item() == 0
    assert weight.item() == 0


def test_lengths_are_rounded_to_few_of_which_little_is_padding() -> None:
    lengths = range(1, 121)
    assert len({rounded(length) for length in lengths}) == 16
    assert all(0 <= rounded(n) - n < max(4, n / 4) for n in lengths)
    assert [rounded(length) for length in (4, 5, 32, 33, 100)] == [4, 8, 32, 40, 112]


def test_slow_parameters_have_their_share_of_the_rate() -> None:
    fast, slow = nn.Linear(2, 1), nn.Linear(3, 1)
    parameters = [*slow.parameters(), *fast.parameters()]
    scales = {slow.weight: 0.1, slow.bias: 0.2}
    for rate in (1.0, torch.tensor(1.0)):
        groups = slow_down(parameters, scales, rate)
        optimiser = torch.optim.Adam(groups)
        before = [group["lr"] for group in optimiser.param_groups]
        set_rate(optimiser, 0.5)
        after = [group["lr"] for group in optimiser.param_groups]
        assert [float(one) for one in after] == pytest.approx([0.5, 0.05, 0.1])
        is_same = [one is other for one, other in zip(before, after, strict=True)]
        assert is_same == [isinstance(rate, Tensor)] * 3  # a recorded step reads the same tensor
        members = [{id(p) for p in group["params"]} for group in optimiser.param_groups]
        others = {id(p) for p in fast.parameters()}
        assert members == [others, {id(slow.weight)}, {id(slow.bias)}]
    (alone,) = slow_down(parameters, {}, 1.0)
    assert alone["params"] == parameters


def test_average_follows_the_weights_and_forgets_how_training_began() -> None:
    network, average = nn.Linear(2, 1), nn.Linear(2, 1)
    moving = MovingAverage(network, average, 0.5, 0)
    expected = average.weight.detach().clone()
    for n in range(1, 30):
        with torch.no_grad():
            network.weight.fill_(float(n))
        moving.update()
        decay = min(0.5, n / (n + 9))
        expected = decay * expected + (1 - decay) * n
        torch.testing.assert_close(average.weight.detach(), expected)
    assert moving.n_steps == 29
    assert 27 < average.weight.mean().item() < 29
    assert average.weight.requires_grad


@needs_gpu
def test_recorded_steps_are_the_unrecorded_ones() -> None:  # pragma: no cover
    recorded, unrecorded = train("cuda", 40), train("cuda", 40, record=False)
    assert recorded[0] == unrecorded[0]
    torch.testing.assert_close(recorded[1], unrecorded[1])
    assert recorded[2] == 40


def test_a_gpu_sums_in_one_order_and_fills_nothing_first() -> None:
    before = torch.are_deterministic_algorithms_enabled()
    try:
        make_deterministic(torch.device("cpu"))
        assert torch.are_deterministic_algorithms_enabled() is before
        make_deterministic(torch.device("cuda"))
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.is_deterministic_algorithms_warn_only_enabled()
        assert not torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    finally:
        torch.use_deterministic_algorithms(before)
        torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
