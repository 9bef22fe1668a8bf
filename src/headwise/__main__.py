"""The command `headwise`, and `python -m headwise`.

Ctrl-C and a lack of memory are caught from here on: the imports of the command take most of a
second and most of the memory.
"""

import os
import sys
from typing import NoReturn

from headwise.errors import causes, explain_shortage


def run_command() -> None:
    """Import the command and run it."""
    try:
        from headwise.cli.main import main

        main(prog_name="headwise")  # also as python -m headwise
    except KeyboardInterrupt:
        _end("\nheadwise: interrupted\n", 130)
    except Exception as error:
        # A library that is interrupted while it is imported raises an ImportError.
        if any(isinstance(cause, KeyboardInterrupt) for cause in causes(error)):
            _end("\nheadwise: interrupted\n", 130)
        explained = explain_shortage(error)
        if explained is None:
            raise
        _end(f"headwise: {explained}\n", 1)


def _end(message: str, code: int) -> NoReturn:
    """Exit at once: libraries that are half imported or lack memory may crash as they clean up."""
    sys.stderr.write(message)
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run_command()
