"""The command `headwise`, and `python -m headwise`.

Ctrl-C is caught from here on, since the imports of the command take most of a second.
"""

import sys


def run_command() -> None:
    """Import the command and run it."""
    try:
        from headwise.cli.main import main

        main()
    except KeyboardInterrupt:
        sys.stderr.write("\nheadwise: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    run_command()
