"""What a process knows of its launch, without starting any."""

from itertools import count

import pytest
import torch

from headwise.errors import ConfigError
from headwise.learn.fit.distributed import Launch


def launch(local_rank: int, local_size: int) -> Launch:
    return Launch(torch.distributed.HashStore(), local_rank, local_size, local_rank, local_size)


def test_each_process_has_a_device_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    n_gpus = count(0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: next(n_gpus))
    assert launch(1, 2).own_device("auto") == "cpu"
    with pytest.raises(ConfigError, match="2 processes on a machine with 1 GPUs"):
        launch(1, 2).own_device("cuda")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert [launch(rank, 2).own_device("auto") for rank in (0, 1)] == ["cuda:0", "cuda:1"]
    assert launch(1, 2).own_device("cpu") == "cpu"
    assert launch(0, 1).own_device("cuda:1") == "cuda:1"
    with pytest.raises(ConfigError, match="--device cuda:1 is one device, for 2 processes"):
        launch(1, 2).own_device("cuda:1")


def test_only_the_first_to_fail_speaks() -> None:
    both = launch(0, 2)
    assert both.is_first_to_fail()
    assert not both.is_first_to_fail()
