"""The path of a sentence stays straight."""

import subprocess
import sys

MAX_MODULES, MAX_SWITCHES = 32, 84


def test_parsing_passes_few_modules_in_a_straight_order() -> None:
    command = [sys.executable, "-m", "bench.path"]  # on its own: caches of other tests would help
    printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    first, *steps = printed.splitlines()
    n_modules, _, n_switches, _ = first.split()
    assert int(n_modules) <= MAX_MODULES, printed
    assert int(n_switches) <= MAX_SWITCHES, printed
    assert any(step.startswith("trees.decode") for step in steps)
