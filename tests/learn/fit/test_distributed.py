"""Several processes train one network; they are real ones here, and meet over a real socket."""

import os
import socket
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import headwise
from headwise.errors import ConfigError
from headwise.learn.data.on_device import put_on_device
from headwise.learn.data.treebanks import load_data
from headwise.learn.fit.checkpoint import load_checkpoint
from headwise.learn.fit.distributed import ALONE, Group, Launch, meet
from headwise.learn.fit.loop import seed_epoch, train_heads
from headwise.model.find import CHECKPOINT
from headwise.settings.recipe import Recipe

LAUNCHED = Path(__file__).parent / "launched.py"
RECIPE = """
[model]
word_size = 16
tag_size = 8
hidden_size = 16
label_size = 16
min_count = 1
predicted_tags = ["upos"]
[train]
max_length = 21
adam_epochs = {epochs}
adam_rate = {rate}
sgd_epochs = 1
patience = 9
batch_size = {batch_size}
average = 0.5
dropout = 0.0
recurrent_dropout = 0.0
[label]
joint = true
epochs = 2
batch_size = 49
input_dropout = 0.0
hidden_dropout = 0.0
"""
SEGMENT = "[segment]\nembedding_size = 4\nchannels = 4\nlayers = 1\nepochs = 1\nsteps = 2\n"
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node"]


def environment(**more: object) -> dict[str, str]:
    return (
        os.environ | {"OMP_NUM_THREADS": "1"} | {name: str(value) for name, value in more.items()}
    )


def written(
    folder: Path,
    treebank: Path,
    epochs: int = 4,
    rate: float = 0.01,
    batch_size: int = 4,
    more: str = "",
) -> list[str]:
    """Write a recipe; give the command that trains by it, but for its folder."""
    recipe = folder / "recipe.toml"
    recipe.write_text(RECIPE.format(epochs=epochs, rate=rate, batch_size=batch_size) + more)
    return ["train", str(recipe), "--train", str(treebank), "--dev", str(treebank)]


def finish(*command: object, returns: int = 0, **more: object) -> str:
    """Run a command to its end and give what it said."""
    done = subprocess.run(
        [str(part) for part in command],
        env=environment(**more), capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == returns, done.stderr
    assert done.stdout == ""
    return done.stderr


def start_without_launcher(*arguments: list[str], **more: object) -> list[tuple[int, str]]:
    """Run processes as a cluster's scheduler does; give how each ended and what it said."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": len(arguments)}
    processes = [
        subprocess.Popen(
            [sys.executable, str(LAUNCHED), *own],
            env=environment(**place, RANK=rank, **more), stderr=subprocess.PIPE, text=True,
        )
        for rank, own in enumerate(arguments)
    ]  # fmt: skip
    said = [process.communicate(timeout=240)[1] for process in processes]
    return [(process.returncode, text) for process, text in zip(processes, said, strict=True)]


def distance(first: Path, second: Path) -> float:
    """Give the largest difference of a weight between two runs, averages and best ones included."""
    one, other = (safetensors.torch.load_file(folder / CHECKPOINT) for folder in (first, second))
    assert one.keys() == other.keys()
    return max((one[name].double() - other[name].double()).abs().max().item() for name in one)


def scores(folder: Path) -> list[tuple[str, int, float, float | None, float, bool]]:
    checkpoint = load_checkpoint(folder)
    assert checkpoint is not None
    return [
        (r.phase, r.epoch, r.dev_uas, r.dev_las, r.tree_rate, r.is_best)
        for r in checkpoint.progress.history
    ]


def test_two_processes_train_one_model(tiny_treebank: Path, tmp_path: Path) -> None:
    train = written(tmp_path, tiny_treebank, 2, 0.001, 8, SEGMENT)
    two = tmp_path / "two"
    said = finish(*TORCHRUN, 2, "-m", "headwise", *train, "--out", two)
    assert {path.name for path in two.iterdir()} == {
        CHECKPOINT, "log.txt", "metrics.json", "model", "recipe.json",
        "segment.json", "segment.onnx", "vocabulary",
    }  # fmt: skip
    own = [line for line in said.splitlines() if "torch/distributed" not in line]
    assert ", 2 processes in " in own[0]
    begun = [line for line in own[2:] if line[0].isdigit()]
    assert begun == [
        "1/5 heads and labels", "2/5 heads, by SGD", "3/5 labels", "4/5 words in text",
        "5/5 graphs of the model",
    ]  # fmt: skip
    assert [line.split()[0] for line in own[2:] if line not in begun] == [
        "adam", "adam", "sgd", "label", "label", "words", "model:",
    ]  # fmt: skip
    parser = headwise.load(two)
    assert len(list(parser.annotate(headwise.read_sentences(tiny_treebank)))) == 40
    assert parser.segmenter is not None


def test_killed_run_of_two_processes_resumes_with_one(tiny_treebank: Path, tmp_path: Path) -> None:
    """The run ends with the weights of one that had one process all the time."""
    train = written(tmp_path, tiny_treebank)
    whole, two = tmp_path / "whole", tmp_path / "two"
    said = finish(
        sys.executable, LAUNCHED, *train, "--out", whole, WATCHED=whole, DOUBLE=1, NO_MODEL=1
    )
    # One is left for the last batch, of sentences as of words: a process has nothing to do then.
    assert "33 sentences, 442 words" in said
    watched = {"WATCHED": two, "DOUBLE": 1, "NO_MODEL": 1}
    launched = [*TORCHRUN, 2, LAUNCHED, *train, "--out", two]
    finish(*launched, returns=1, KILL_AT=3, KILLED="1,0", **watched)
    checkpoint = load_checkpoint(two)
    assert checkpoint is not None
    assert (checkpoint.progress.phase, checkpoint.progress.epoch) == ("adam", 2)
    finish(sys.executable, LAUNCHED, *train, "--out", two, **watched)
    assert distance(whole, two) < 1e-9
    assert scores(whole) == scores(two)


def test_error_is_said_once(tiny_treebank: Path, tmp_path: Path) -> None:
    train = [*written(tmp_path, tiny_treebank), "--out", str(tmp_path / "run")]
    other = tmp_path / "other.conllu"
    other.write_text(tiny_treebank.read_text(encoding="utf-8").replace("nsubj", "obj"))
    ends = start_without_launcher(train, [*train, "--train", str(other)], WATCHED=tmp_path / "run")
    assert [code for code, _ in ends] == [1, 1]
    said = "".join(text for _, text in ends)
    # The recipe names the treebank, too.
    assert said.count("hint:") == said.count("do not have the same recipe") == 1
    assert "Traceback" not in said
    assert not (tmp_path / "run").exists()


def test_process_that_is_lost_ends_the_run(tiny_treebank: Path, tmp_path: Path) -> None:
    train = [*written(tmp_path, tiny_treebank), "--out", str(tmp_path / "run")]
    first, second = start_without_launcher(
        train, train, WATCHED=tmp_path / "run", KILL_AT=2, KILLED="1"
    )
    assert second == (-9, "")
    assert first[0] == 1
    assert first[1].count("headwise: lost another process of this run") == 1
    assert "Traceback" not in first[1]
    checkpoint = load_checkpoint(tmp_path / "run")
    assert checkpoint is not None
    assert checkpoint.progress.epoch == 2


def test_launch_that_lacks_its_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(ConfigError, match="cannot connect to the other processes"), meet(0, 1):
        pass


@given(st.integers(1, 9), st.lists(st.integers()))
@settings(derandomize=True, database=None)
def test_parts_are_the_whole_and_of_nearly_one_size(size: int, items: list[int]) -> None:
    parts = [items[Group(rank, size).own] for rank in range(size)]
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    again = [parts[i % size][i // size] for i in range(len(items))]
    assert again == items


@pytest.mark.parametrize("size", [2, 3, 7])
def test_processes_share_the_batches_of_one(size: int, tiny_recipe: Recipe) -> None:
    data = load_data(tiny_recipe.data, tiny_recipe.model, tiny_recipe.train)
    treebank = put_on_device(data.train, torch.device("cpu"))

    def calls(group: Group) -> list[tuple[list[int], int, float, float]]:
        seen = []

        def step(chosen: Tensor, longest: int, rate: float, share: float) -> Tensor:
            seen.append((chosen.tolist(), longest, rate, share))
            return torch.zeros(())

        list(train_heads(step, treebank, tiny_recipe.train, "adam", 3, 9, float, group))  # type: ignore[arg-type]
        return seen

    whole = calls(ALONE)
    parts = [calls(Group(rank, size)) for rank in range(size)]
    for batch, *shares in zip(whole, *parts, strict=True):
        assert sorted(i for chosen, *_ in shares for i in chosen) == sorted(batch[0])
        assert max(longest for _, longest, _, _ in shares) == batch[1]
        assert {rate for _, _, rate, _ in shares} == {batch[2]}
        assert sum(share for *_, share in shares) == pytest.approx(1)
        assert [share for *_, share in shares] == [len(s[0]) / len(batch[0]) for s in shares]


def test_processes_draw_one_order_and_dropout_of_their_own() -> None:
    orders, masks = set(), set()
    for rank in range(3):
        orders.add(tuple(seed_epoch(1, "sgd", 2, rank).permutation(9).tolist()))
        masks.add(tuple(torch.rand(9).tolist()))
    assert (len(orders), len(masks)) == (1, 3)
    seed_epoch(1, "sgd", 2)
    assert tuple(torch.rand(9).tolist()) in masks


@pytest.mark.parametrize("size", [1, 2])
def test_gpus_reach_the_weights_of_one(
    size: int, tiny_treebank: Path, tmp_path: Path
) -> None:  # pragma: no cover
    if torch.cuda.device_count() < size:
        pytest.skip(f"needs {size} GPUs")
    # Three epochs meet each shape of batch often enough to record and to replay it.
    train = [*written(tmp_path, tiny_treebank, 3, 0.001, 8), "--device", "cuda"]
    one, more = tmp_path / "one", tmp_path / "more"
    finish(sys.executable, "-m", "headwise", *train, "--out", one)
    finish(*TORCHRUN, size, "-m", "headwise", *train, "--out", more)
    assert distance(one, more) < 1e-3


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
