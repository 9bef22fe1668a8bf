"""One step of training: loss, gradient, clipping, optimiser.

On a GPU a step of these networks is hundreds of small kernels, and starting them one by one from
Python takes many times longer than running them. So the whole step is recorded once for each shape
of batch (a CUDA graph) and replayed afterwards with one call. Lengths are rounded up (`rounded`),
so that there are few shapes; the first step of a shape runs unrecorded, which warms up whatever
allocates or compiles on its first call.

Where several processes train together, gradients are summed over them before they are clipped. Only
loss and gradient are recorded then: what one process records must not wait for another.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from headwise.learn.fit.distributed import ALONE, Gradients, Group

LossOf = Callable[[Tensor, int], Tensor]
"""The loss of a batch: sentence numbers [B] of a treebank, and the slots of the longest one.

It is a mean over sentences, so that the parts of a batch can be weighted by their sizes.
"""
ROUND = 4
N_ROUNDS = 8
"""Multiples of a step before it doubles."""


@dataclass(frozen=True, slots=True)
class _Recorded:
    """A recorded step: where its input is read from, and where its loss comes to stand."""

    graph: torch.cuda.CUDAGraph
    chosen: Tensor
    loss: Tensor


class Stepper:
    """Steps of one phase; calling it trains on a batch and gives its loss."""

    def __init__(
        self,
        loss_of: LossOf,
        optimiser: torch.optim.Optimizer,
        parameters: list[nn.Parameter],
        clip: float,
        after: Callable[[], None] = lambda: None,
        group: Group = ALONE,
    ) -> None:
        """Train `parameters` by `optimiser`; `after` runs at the end of each step.

        Where there are several processes, each calls its own with its part of the same batch.
        """
        self._loss_of = loss_of
        self._optimiser = optimiser
        self._parameters = parameters
        self._clip = clip
        self._after = after
        self._gradients = Gradients(parameters, group)
        self._is_shared = group.is_launched
        self._recorded: dict[tuple[int, int], _Recorded | None] = {}
        on_gpu = parameters[0].is_cuda
        self._stream = torch.cuda.Stream() if on_gpu else None  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle() if on_gpu else None

    def never_record(self) -> None:
        """Run every step as it stands.

        What waits for the GPU in the middle of a step, as some transformers do, cannot be recorded.
        """
        self._stream = self._pool = None

    def __call__(self, chosen: Tensor, longest: int, rate: float, share: float = 1.0) -> Tensor:
        """Train on the sentences `chosen` [B], the longest of which has so many slots.

        They are `share` of the batch; the loss is that of the whole batch.
        """
        set_rate(self._optimiser, rate)
        if self._stream is None:
            loss = self._finish(self._run(chosen, longest), share)
            self._after()
            return loss
        current = torch.cuda.current_stream()
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            loss = self._finish(self._replay(chosen, rounded(longest)), share)
            self._after()
        current.wait_stream(self._stream)
        return loss

    def _run(self, chosen: Tensor, longest: int) -> Tensor:
        """Make gradients; go the step as well, unless other processes have to be heard first."""
        self._gradients.clear()
        if not len(chosen):
            return chosen.new_zeros((), dtype=torch.float32)
        loss = self._loss_of(chosen, longest)
        loss.backward()  # type: ignore[no-untyped-call]
        if not self._is_shared:
            self._step()
        return loss.detach()

    def _finish(self, loss: Tensor, share: float) -> Tensor:
        """Hear the other processes and go the step, where there are others."""
        if self._is_shared:
            loss = self._gradients.sum(loss, share)
            self._step()
        return loss

    def _step(self) -> None:
        nn.utils.clip_grad_norm_(self._parameters, self._clip)
        self._optimiser.step()

    def _replay(self, chosen: Tensor, longest: int) -> Tensor:
        shape = (len(chosen), longest)
        if shape not in self._recorded or not len(chosen):
            self._recorded[shape] = None
            return self._run(chosen, longest)
        recorded = self._recorded[shape]
        if recorded is None:
            recorded = self._recorded[shape] = self._record(chosen.clone(), longest)
        recorded.chosen.copy_(chosen)
        recorded.graph.replay()
        return recorded.loss.clone()

    def _record(self, chosen: Tensor, longest: int) -> _Recorded:
        graph = torch.cuda.CUDAGraph()
        # NCCL watches its work from a thread of its own, which a recording must not forbid.
        mode = "thread_local" if self._is_shared else "global"
        with torch.cuda.graph(graph, self._pool, self._stream, capture_error_mode=mode):
            loss = self._run(chosen, longest)
        return _Recorded(graph, chosen, loss)


def rounded(length: int) -> int:
    """Round a length up: to a multiple of 4 as far as 32, of 8 as far as 64, and so on."""
    step = ROUND
    while length > N_ROUNDS * step:
        step *= 2
    return -(-length // step) * step


def set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate; a recorded step reads it from a tensor, which stays the same one.

    A group of parameters with a `scale` has that times the rate.
    """
    for group in optimiser.param_groups:
        own = rate * group.get("scale", 1.0)
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(own)
        else:
            group["lr"] = own


def slow_down(
    parameters: list[nn.Parameter], slow: nn.Module | None, scale: float, rate: float | Tensor
) -> list[dict[str, Any]]:
    """Group parameters for an optimiser: those of `slow` get `scale` times the rate of the others.

    Each group has a tensor of its own where the rate is one.
    """
    if slow is None:
        return [{"params": parameters, "lr": rate}]
    numbers = {id(parameter) for parameter in slow.parameters()}
    own = rate.clone() if isinstance(rate, Tensor) else rate
    return [
        {"params": [p for p in parameters if id(p) not in numbers], "lr": rate},
        {"params": [p for p in parameters if id(p) in numbers], "lr": own, "scale": scale},
    ]


class MovingAverage:
    """An exponential moving average of a network's weights, in a second network.

    The decay rises from a tenth to its full value, so that the average forgets how training began.
    """

    def __init__(self, network: nn.Module, average: nn.Module, decay: float, n_steps: int) -> None:
        """Average `network` into `average`, of which `n_steps` are done; decay 0 does nothing."""
        self._weights = [weight.detach() for weight in network.parameters()]
        self._average = [weight.detach() for weight in average.parameters()]
        self._decay = decay
        self.n_steps = n_steps

    def update(self) -> None:
        """Take a step into account."""
        self.n_steps += 1
        if self._decay:
            decay = min(self._decay, self.n_steps / (self.n_steps + 9))
            torch._foreach_lerp_(self._average, self._weights, 1 - decay)
