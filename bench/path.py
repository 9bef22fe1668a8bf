"""How straight the path of a sentence through the code is: modules and switches between them.

    python -m bench.path

Runs `headwise parse "Kids love candy."` and lists functions and constructors of headwise in the
order of their first call. Comprehensions, lambdas, module and class bodies, and special methods
other than `__init__` are left out, and so is the package `headwise` itself. A switch is a pair of
neighbours in that list that live in different modules. Version 0.1.0 had 33 modules and 97
switches.
"""

import contextlib
import inspect
import io
import sys
from itertools import pairwise
from types import FrameType
from typing import NamedTuple

from headwise.cli.main import main as headwise

ARGUMENTS = ("parse", "Kids love candy.")


class Step(NamedTuple):
    """A function, at its first call; the constructors of a module count as one."""

    module: str
    function: str


def find_steps() -> list[Step]:
    """Run the command and record the first call of every function of headwise."""
    steps: dict[Step, None] = {}

    def record(frame: FrameType, event: str, _: object) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        name = frame.f_code.co_name
        is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED and not name.startswith("<")
        is_special = name.startswith("__") and name != "__init__"
        if event == "call" and module.startswith("headwise.") and is_function and not is_special:
            steps.setdefault(Step(module.removeprefix("headwise."), name))

    with (
        contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())),
        contextlib.suppress(SystemExit),
    ):
        sys.setprofile(record)
        try:
            headwise(ARGUMENTS)
        finally:
            sys.setprofile(None)
    return list(steps)


def count(steps: list[Step]) -> tuple[int, int]:
    """Count the modules, and the switches between them."""
    modules = [step.module for step in steps]
    return len(set(modules)), sum(one != other for one, other in pairwise(modules))


def main() -> None:
    """Print the two numbers and the steps."""
    steps = find_steps()
    print("{} modules, {} switches".format(*count(steps)))
    module = ""
    for step in steps:
        print(f"{'' if step.module == module else step.module:24} {step.function}")
        module = step.module


if __name__ == "__main__":
    main()
