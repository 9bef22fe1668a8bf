from pathlib import Path

import pytest
import torch

import headwise
from headwise import ConfigError, Sentence
from headwise.learn.compute import describe_device, find_device
from headwise.learn.scorer import PAIRS_PER_BATCH, batches_by_length


def test_torch_parser_gives_the_parses_of_the_light_one(
    tiny_run: Path, ewt_sentences: list[Sentence]
) -> None:
    light = headwise.load(tiny_run, precision="float32").parse(ewt_sentences)
    parser = headwise.load(tiny_run, device="cpu:0")
    heavy = parser.parse(ewt_sentences)
    assert [(p.heads, p.labels, p.how) for p in light] == [
        (p.heads, p.labels, p.how) for p in heavy
    ]


def test_batches_hold_every_sentence_once_under_the_budget() -> None:
    lengths = [5, 900, 30, 2, 30, 700, 10_000, *range(1, 300)]
    batches = list(batches_by_length(lengths))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[i] for i in batch)
        assert len(batch) == 1 or len(batch) * longest**2 <= PAIRS_PER_BATCH
    assert list(batches_by_length([])) == []


def test_devices_are_picked_or_refused() -> None:
    assert find_device("cpu") == torch.device("cpu")
    assert find_device("auto").type in ("cpu", "cuda")
    assert describe_device(torch.device("cpu")).startswith("cpu, PyTorch")
    with pytest.raises(ConfigError, match="device warp"):
        find_device("warp")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_gpu_that_is_not_there_is_a_clear_error(tiny_run: Path) -> None:
    with pytest.raises(ConfigError, match="device cuda"):
        headwise.load(tiny_run, device="cuda")
