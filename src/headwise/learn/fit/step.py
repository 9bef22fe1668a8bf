"""One step of training: loss, gradient, sum over processes, clipping, optimiser.

Everything that is trained goes through `TrainingStep`: heads, labels and the segmenter. If several
processes train together, their gradients are summed before they are clipped.

On a GPU a step on heads is hundreds of small kernels, and launching them one by one from Python
takes many times longer than running them. `RecordedStep` records the step once for each shape of
batch (a CUDA graph) and replays it with one call. Sizes are rounded up (`rounded`), so that there
are few shapes. The first step of a shape is not recorded: it warms up whatever allocates or
compiles on its first call. With several processes only loss and gradient are recorded, because a
recorded step must not wait for another process.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from headwise.learn.fit.distributed import ALONE, Gradients, Group

LossOf = Callable[[Tensor, int], Tensor]
"""The loss of a batch, given sentence numbers [B] of a treebank and the size of the largest one.

It is a mean over sentences, so that the parts of a batch can be weighted by their sizes.
"""


class TrainingStep:
    """Trains some parameters by one optimiser, a batch at a time."""

    def __init__(
        self,
        optimiser: torch.optim.Optimizer,
        parameters: list[nn.Parameter],
        clip: float | None = None,
        group: Group = ALONE,
    ) -> None:
        """Scale gradients down to the norm `clip`, if given.

        In a group each process has a step of its own and calls it with its part of each batch.
        """
        self.optimiser = optimiser
        self.parameters = parameters
        self.is_shared = group.is_launched
        self._clip = clip
        self._gradients = Gradients(parameters, group)

    def __call__(self, loss_of: Callable[[], Tensor], rate: float, share: float = 1.0) -> Tensor:
        """Train on this process's part of a batch and return the loss of the whole batch.

        `loss_of` gives the mean over the part, which is `share` of the batch. It is not called if
        that is 0.
        """
        set_rate(self.optimiser, rate)
        return self.finish(self.begin(loss_of, share), share)

    def begin(self, loss_of: Callable[[], Tensor], share: float = 1.0) -> Tensor:
        """Compute gradients; update the parameters too, unless other processes have gradients."""
        self._gradients.clear()
        if not share:
            return torch.zeros((), device=self.parameters[0].device)
        loss = loss_of()
        loss.backward()  # type: ignore[no-untyped-call]
        if not self.is_shared:
            self._update()
        return loss.detach()

    def finish(self, loss: Tensor, share: float) -> Tensor:
        """Sum the gradients of all processes and update the parameters, if there are others."""
        if self.is_shared:
            loss = self._gradients.sum(loss, share)
            self._update()
        return loss

    def _update(self) -> None:
        if self._clip is not None:
            nn.utils.clip_grad_norm_(self.parameters, self._clip)
        self.optimiser.step()


@dataclass(frozen=True, slots=True)
class _Recording:
    """A recorded step: the tensor that it reads its batch from, and the one that gets its loss."""

    graph: torch.cuda.CUDAGraph
    chosen: Tensor
    loss: Tensor


class RecordedStep:
    """Steps on batches of a treebank; on a GPU they are recorded and replayed."""

    def __init__(
        self,
        step: TrainingStep,
        loss_of: LossOf,
        after: Callable[[], None] = lambda: None,
        can_record: bool = True,
    ) -> None:
        """Call `after` at the end of each step.

        A step that waits for the GPU halfway, as those of some transformers do, cannot be recorded.
        """
        self._step = step
        self._loss_of = loss_of
        self._after = after
        self._recordings: dict[tuple[int, int], _Recording | None] = {}
        records = can_record and step.parameters[0].is_cuda
        self._stream = torch.cuda.Stream() if records else None  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle() if records else None

    def __call__(self, chosen: Tensor, size: int, rate: float, share: float = 1.0) -> Tensor:
        """Train on the sentences `chosen` [B], the largest of which has that size.

        They are `share` of the batch; the loss is that of the whole batch.
        """
        if self._stream is None:
            loss = self._step(partial(self._loss_of, chosen, size), rate, share)
            self._after()
            return loss
        set_rate(self._step.optimiser, rate)
        current = torch.cuda.current_stream()
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            loss = self._step.finish(self._replay(chosen, rounded(size), share), share)
            self._after()
        current.wait_stream(self._stream)
        return loss

    def _replay(self, chosen: Tensor, size: int, share: float) -> Tensor:
        shape = (len(chosen), size)
        if shape not in self._recordings or not share:
            self._recordings[shape] = None
            return self._step.begin(partial(self._loss_of, chosen, size), share)
        recording = self._recordings[shape]
        if recording is None:
            recording = self._recordings[shape] = self._record(chosen.clone(), size)
        recording.chosen.copy_(chosen)
        recording.graph.replay()
        return recording.loss.clone()

    def _record(self, chosen: Tensor, size: int) -> _Recording:
        graph = torch.cuda.CUDAGraph()
        # NCCL watches its work from a thread of its own, which a recording must not forbid.
        mode = "thread_local" if self._step.is_shared else "global"
        with torch.cuda.graph(graph, self._pool, self._stream, capture_error_mode=mode):
            loss = self._step.begin(partial(self._loss_of, chosen, size))
        return _Recording(graph, chosen, loss)


def rounded(size: int) -> int:
    """Round a size up: to a multiple of 4 up to 32, of 8 up to 64, and so on."""
    step = 4
    while size > 8 * step:
        step *= 2
    return -(-size // step) * step


def cosine_rate(rate: float, warmed_up: float, done: float) -> float:
    """Let a learning rate rise to `rate` during the warm-up, and fall to zero along a cosine.

    `warmed_up` is the share of the warm-up that is over, `done` that of the whole training.
    """
    falling = 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
    return rate * min(1.0, warmed_up) * falling


def set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate, or `scale` times the rate for parameters that are grouped with one.

    A recorded step reads the rate from a tensor; the tensor stays the same one.
    """
    for group in optimiser.param_groups:
        scaled = rate * group.get("scale", 1.0)
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(scaled)
        else:
            group["lr"] = scaled


def slow_down(
    parameters: list[nn.Parameter], scales: Mapping[nn.Parameter, float], rate: float | Tensor
) -> list[dict[str, Any]]:
    """Group parameters for an optimiser: `scales` multiply the rate of their parameters.

    If the rate is a tensor, each group has one of its own.
    """
    groups: dict[float, list[nn.Parameter]] = {1.0: []}
    for parameter in parameters:
        groups.setdefault(scales.get(parameter, 1.0), []).append(parameter)
    return [
        {
            "params": members,
            "lr": rate.clone() if isinstance(rate, Tensor) else rate,
            "scale": scale,
        }
        for scale, members in groups.items()
    ]


class MovingAverage:
    """An exponential moving average of a network's weights, in a second network.

    The decay rises from a tenth to its full value, so that the average forgets how training began.
    """

    def __init__(self, network: nn.Module, average: nn.Module, decay: float, n_steps: int) -> None:
        """Go on averaging `network` into `average` after `n_steps`; decay 0 averages nothing."""
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
