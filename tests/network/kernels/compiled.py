"""Compile the kernels for GPUs that need not be here, given by compute capability: 80, 90."""

import inspect
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from headwise.network.kernels import triton_kernels as kernels

HALF = {
    "lstm_step": ("projected", "bias", "recurrent", "hidden"),
    "lstm_step_back": ("recurrent", "from_above", "sums"),
}
"""What is in the precision of training; everything else is float32."""
WHOLE = {"t", "n_steps", "n_sentences", "n", "m", "row_stride", "column_stride"}


def build(name: str, target: int, kind: str, constants: dict[str, object]) -> None:
    kernel = getattr(kernels, name)
    half = dict.fromkeys(HALF.get(name, ()), f"*{kind}") | dict.fromkeys(WHOLE, "i32")
    names = inspect.signature(kernel.fn).parameters
    signature = {n: "constexpr" if n in constants else half.get(n, "*fp32") for n in names}
    source = ASTSource(kernel, signature, constexprs=constants)
    triton.compile(source, target=GPUTarget("cuda", target, 32))


n_built = 0
for target in map(int, sys.argv[1:]):
    for name in ("lstm_step", "lstm_step_back"):
        for kind in ("fp32", "bf16"):
            build(name, target, kind, {"D": 300})
    build("pair_scores", target, "fp32", {"K": 600})
    for with_v in (True, False):
        build("pair_scores_back", target, "fp32", {"K": 600, "WITH_V": with_v})
    n_built += 7
sys.stdout.write(f"{n_built} kernels\n")
