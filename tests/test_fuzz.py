"""A short run of all fuzzers, and every input that once broke something."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KEPT = sorted((ROOT / "tests" / "fixtures" / "fuzz").iterdir())


def fuzz(*arguments: str) -> str:
    command = [sys.executable, "-m", "fuzz", *arguments]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stdout[-5_000:] + run.stderr[-2_000:]
    return run.stdout


@pytest.mark.slow
def test_all_fuzzers_run_and_find_nothing(tmp_path: Path) -> None:
    counts = fuzz("--seconds", "20", "--seed", "1", "--crashes", str(tmp_path))
    for target in ("conll", "text", "model", "body", "server"):
        assert f" {target}" in counts


@pytest.mark.slow
@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_inputs_that_once_failed(path: Path) -> None:
    fuzz("--replay", str(path))
