"""Several processes that train one network: the part of each, and sums over all of them.

A launcher (`torchrun`) starts the processes; each holds the whole network and takes its part of
every batch and of dev. Only this module imports `torch.distributed`.

Gradients are summed by one `all_reduce` of a flat buffer instead of `DistributedDataParallel`. That
one sums during the backward pass, which is recorded on a GPU here (`learn.fit.step`), and it
averages over processes as if their parts had one size, while the last batch of an epoch may leave a
process without any sentence. Overlapping communication with the backward pass, as it does, gains
little for networks of a few MB.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import Tensor, distributed, nn
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from headwise.errors import ConfigError, HeadwiseError

_LONGEST_WAIT = timedelta(minutes=30)
"""How long a process waits for the others, which may be reading a large treebank."""


@dataclass(frozen=True, slots=True)
class Group:
    """The processes of a run, seen from one of them; `ALONE` if there was no launcher."""

    rank: int = 0
    size: int = 1
    is_launched: bool = False

    @property
    def leads(self) -> bool:
        """Return whether this is the process that writes files and reports."""
        return self.rank == 0

    @property
    def own(self) -> slice:
        """Give this process's part of any sequence; all parts have nearly the same size."""
        return slice(self.rank, None, self.size)

    def total(self, *counts: int) -> list[int]:
        """Add up the counts of all processes."""
        if not self.is_launched:
            return list(counts)
        totals = torch.tensor(counts)
        _reduce(totals)
        return [int(total) for total in totals.tolist()]

    def require_same(self, **things: bytes) -> None:
        """Refuse to go on if a thing is not the same in all processes."""
        if not self.is_launched:
            return
        digests = [hashlib.sha256(thing).digest()[:7] for thing in things.values()]
        numbers = torch.tensor([int.from_bytes(digest) for digest in digests])
        both = torch.stack([numbers, -numbers])
        _reduce(both, distributed.ReduceOp.MAX)  # the largest, and the smallest negated
        for name, differs in zip(things, (both[0] != -both[1]).tolist(), strict=True):
            if differs:
                raise ConfigError(
                    f"the processes of this run do not have the same {name}",
                    "give all of them the same command and files, and a folder that they share",
                )

    def leave(self) -> None:
        """End the work of the group; each process may go on by itself."""
        if self.is_launched and distributed.is_initialized():
            self.total(0)  # wait for the others, which may still be receiving
            distributed.destroy_process_group()


ALONE = Group()


class Gradients:
    """The gradients of some parameters, in one buffer if they are summed over processes."""

    def __init__(self, parameters: list[nn.Parameter], group: Group) -> None:
        """Allocate the gradients, followed by a loss."""
        self._parameters = parameters
        self._flat: Tensor | None = None
        if group.is_launched:
            sizes = [parameter.numel() for parameter in parameters]
            self._flat = parameters[0].new_zeros(sum(sizes) + 1, requires_grad=False)
            views = torch.split(self._flat[:-1], sizes)
            for parameter, view in zip(parameters, views, strict=True):
                parameter.grad = view.view_as(parameter)

    def clear(self) -> None:
        """Forget the last step; a backward pass adds to existing gradients."""
        if self._flat is not None:
            self._flat.zero_()
            return
        for parameter in self._parameters:
            parameter.grad = None

    def sum(self, loss: Tensor, share: float) -> Tensor:
        """Sum gradients over all processes and return the loss of the whole batch.

        `loss` is the mean over this process's part, which is `share` of the batch.
        """
        assert self._flat is not None
        self._flat[-1] = loss
        self._flat *= share
        _reduce(self._flat)
        return self._flat[-1].clone()


def _reduce(
    values: Tensor, operation: distributed.ReduceOp.RedOpType = distributed.ReduceOp.SUM
) -> None:
    """Reduce values over all processes, in place."""
    try:
        distributed.all_reduce(values, operation)
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise HeadwiseError(
            f"lost another process of this run: {reason}",
            "the same command resumes from the last checkpoint, with any number of processes",
        ) from error


@dataclass(frozen=True, slots=True)
class Launch:
    """A launched process: its rank among all processes, and among those on its machine."""

    store: Store
    rank: int
    size: int
    local_rank: int
    local_size: int

    def own_device(self, name: str) -> str:
        """Name the device of this process: a GPU of its own, if GPUs are asked for or present."""
        n_gpus = torch.cuda.device_count()
        if name == "cpu" or (name == "auto" and not n_gpus):
            return "cpu"
        if name not in {"auto", "cuda"}:
            if self.local_size > 1:
                raise ConfigError(
                    f"--device {name} is one device, for {self.local_size} processes",
                    "--device cuda gives each process a GPU of its own",
                )
            return name
        if self.local_rank >= n_gpus:
            raise ConfigError(
                f"{self.local_size} processes on a machine with {n_gpus} GPUs",
                f"torchrun --nproc-per-node {n_gpus}" if n_gpus else "--device cpu",
            )
        return f"cuda:{self.local_rank}"

    def join(self, device: torch.device) -> Group:
        """Join the others; NCCL sums numbers on a GPU, Gloo those on a CPU."""
        # PyTorch imports this when it makes an optimiser, and its functions keep the group of that
        # moment as a default. Such a group never ends its threads, which sometimes crash a process
        # that is about to exit.
        import torch.distributed.nn.functional

        on_gpu = device.type == "cuda"
        if on_gpu:
            torch.cuda.set_device(device)
        distributed.init_process_group(
            "cpu:gloo,cuda:nccl" if on_gpu else "gloo",
            store=PrefixStore("group", self.store),
            rank=self.rank,
            world_size=self.size,
            timeout=_LONGEST_WAIT,
            device_id=device if on_gpu else None,
        )
        return Group(self.rank, self.size, is_launched=True)

    def is_first_to_fail(self) -> bool:
        """Return whether no other process has failed before."""
        try:
            return bool(self.store.add("failed", 1) == 1)
        except RuntimeError:  # the process that kept the store is gone
            return True


@contextmanager
def meet(local_rank: int, local_size: int) -> Iterator[Launch]:
    """Find the other processes through the environment variables of the launcher.

    An error in one process usually makes the others fail too. It is raised in the process that
    failed first; the others exit silently.
    """
    try:
        store, rank, size = next(iter(rendezvous("env://")))
    except (ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f"cannot connect to the other processes: {reason}",
            "torchrun sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; one process needs none",
        ) from error
    launch = Launch(store, rank, size, local_rank, local_size)
    try:
        yield launch
    except (Exception, KeyboardInterrupt) as error:
        is_first = launch.is_first_to_fail()
        on_gpu = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        if distributed.is_initialized() and not on_gpu:  # NCCL would wait for the others
            distributed.destroy_process_group()
        if is_first or not isinstance(error, HeadwiseError | KeyboardInterrupt):
            raise
        raise SystemExit(1) from None
