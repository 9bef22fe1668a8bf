"""Kernels for a GPU, run block by block on a CPU, and compiled for GPUs that are not here.

With TRITON_INTERPRET=0 they run on the GPU of this machine instead.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from headwise.network import pairs, recurrent, represent
from headwise.network.kernels import launch as gpu
from headwise.network.pairs import pair_scores
from headwise.network.recurrent import run_layer
from headwise.network.represent import BiLstm
from headwise.settings.model import ModelConfig

kernels = pytest.importorskip("headwise.network.kernels.triton_kernels", reason="needs Triton")
DEVICE = torch.device("cuda" if os.environ["TRITON_INTERPRET"] == "0" else "cpu")
FEW = settings(max_examples=5, deadline=None, derandomize=True, database=None)
COMPILE = Path(__file__).parent / "compiled.py"


@pytest.fixture(autouse=True, scope="module")
def where_kernels_run() -> Iterator[None]:
    with DEVICE:  # tensors are made there
        yield


def with_gradients(run: Any, given: list[Tensor], weights: Tensor) -> list[Tensor]:
    result = run(*given)
    learned = [tensor for tensor in given if tensor.requires_grad]
    return [result, *torch.autograd.grad(result, learned, weights.to(result.dtype))]


def by_both(run: Any, given: list[Tensor], weights: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Give result and gradients by plain operations, and by kernels."""
    plain = with_gradients(run, given, weights)
    with pytest.MonkeyPatch.context() as patch:
        for module in (pairs, recurrent):
            patch.setattr(module, "kernels_on", lambda _: kernels)
        return plain, with_gradients(run, given, weights)


def layer(sizes: tuple[int, int, int, int], dtype: torch.dtype = torch.float32) -> list[Tensor]:
    n_steps, n_directions, n_sentences, d = sizes
    ones = torch.ones(n_steps, n_directions, n_sentences, d)
    shapes = ((n_steps, n_directions, n_sentences, 4 * d), (n_directions, 4 * d))
    projected, bias = (torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes)
    turned = (torch.randn(n_directions, 4 * d, d) / d).to(dtype).requires_grad_()
    # As in the network: R comes transposed, so that it is not in one piece.
    return [projected, bias, turned.transpose(1, 2), functional.dropout(ones, 0.3)]


@FEW
@given(
    st.tuples(st.integers(1, 4), st.integers(1, 2), st.integers(1, 20), st.integers(1, 40)),
    st.integers(0, 99),
)
def test_an_lstm_by_kernels_is_the_plain_one(sizes: tuple[int, int, int, int], seed: int) -> None:
    torch.manual_seed(seed)
    plain, ours = by_both(run_layer, layer(sizes), torch.randn(*sizes))
    torch.testing.assert_close(ours, plain, atol=1e-5, rtol=1e-4)


def test_an_lstm_in_half_precision_stays_near() -> None:
    torch.manual_seed(1)
    sizes = (4, 2, 5, 70)
    given = layer(sizes, torch.float16)  # Triton has no product of bfloat16 on a CPU
    weights = torch.randn(*sizes)
    plain, ours = by_both(run_layer, given, weights)
    assert [tensor.dtype for tensor in ours] == [tensor.dtype for tensor in plain]
    torch.testing.assert_close(ours, plain, atol=0.02, rtol=0.02)


def test_a_network_learns_the_same_by_kernels() -> None:
    torch.manual_seed(1)
    bilstm = BiLstm(ModelConfig(hidden_size=9, layers=2), 7)
    bilstm.train()
    inputs, lengths = torch.randn(3, 5, 7), torch.tensor([5, 4, 1])
    results = []
    for found in (None, kernels):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.backends.cudnn, "allow_tf32", False)  # as exact as the kernels are
            for module in (represent, recurrent):
                patch.setattr(module, "kernels_on", lambda _, found=found: found)
            states = bilstm(inputs, lengths)
            gradients = torch.autograd.grad(states.sin().sum(), list(bilstm.parameters()))
            results.append([states, *gradients])
    torch.testing.assert_close(*results, atol=1e-5, rtol=1e-4)


@FEW
@given(st.tuples(*[st.integers(1, 35)] * 3), st.integers(1, 2), st.integers(0, 99))
def test_pairs_by_kernels_are_the_plain_ones(
    sizes: tuple[int, int, int], n_sentences: int, seed: int
) -> None:
    torch.manual_seed(seed)
    n, m, k = sizes
    shapes = ((n_sentences, n, k), (n_sentences, m, k), (k,))
    factors = [torch.randn(shape, requires_grad=True) for shape in shapes]
    weights = torch.randn(n_sentences, m, n).transpose(1, 2)  # not in one piece
    plain, ours = by_both(pair_scores, factors, weights)
    torch.testing.assert_close(ours, plain, atol=1e-4, rtol=1e-4)


def test_kernels_are_held_to_pytorch_before_they_are_used() -> None:
    with torch.inference_mode():
        gpu.check(kernels, DEVICE, 20, 20)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("lstm_step", [4, 5, 6]),
        ("lstm_step_back", [6]),
        ("pair_scores", [3]),
        ("pair_scores_back", [4, 5]),
    ],
)
def test_a_kernel_that_is_wrong_is_found(name: str, written: list[int]) -> None:
    class Idle:
        def __getitem__(self, grid: object) -> Any:
            return lambda *arrays, **_: [arrays[number].zero_() for number in written]

    wrong = SimpleNamespace(**(vars(kernels) | {name: Idle()}))
    with pytest.raises(ArithmeticError, match=f"{name} is off by"):
        gpu.check(wrong, DEVICE, 20, 20)  # type: ignore[arg-type]


def test_without_kernels_training_says_so_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no such architecture\nand much more")

    monkeypatch.setattr(gpu, "check", broken)
    gpu.kernels_on.cache_clear()
    with pytest.warns(UserWarning, match=r"slower: RuntimeError: no such architecture$"):
        assert gpu.kernels_on(torch.device("cuda", 7)) is None
    assert gpu.kernels_on(torch.device("cuda", 7)) is None  # and says it once
    monkeypatch.setattr(gpu, "check", lambda *_: None)
    gpu.kernels_on.cache_clear()
    assert gpu.kernels_on(torch.device("cuda", 7)) is kernels
    assert gpu.kernels_on(torch.device("cpu")) is None
    gpu.kernels_on.cache_clear()


def test_every_kernel_compiles_for_the_gpus_of_today(tmp_path: Path) -> None:
    environment = os.environ | {"TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(COMPILE), "80", "90"],
        env=environment, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["14", "kernels"]
