"""`headwise completion`: the Tab key completes commands, flags, files and names of models.

The scripts are those of click. They ask headwise for completions, so they never become outdated.
"""

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from headwise.cli.terminal import help_examples, put
from headwise.errors import ConfigError, DataError
from headwise.files import make_folder, open_target

SHELLS = ("bash", "zsh", "fish")
_BEFORE_ZSH = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n"
"""The script needs zsh's own completion, which a short .zshrc may not have started."""


@click.command(
    short_help="Complete commands, files and models with Tab.",
    epilog=help_examples(
        "headwise completion --install",
        "headwise completion zsh --install",
        "headwise completion bash > headwise.bash",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@click.option("--install", is_flag=True, help="Install it for this user.")
def completion(shell: str | None, install: bool) -> None:
    """Print or install the script that completes headwise commands with the Tab key.

    The shell is bash, zsh or fish; by default the one in the variable SHELL. --install saves the
    script in a folder of headwise and, for bash and zsh, adds a line that loads it to .bashrc or
    .zshrc.
    """
    shell = shell or _shell_of_user()
    script = _script(shell)
    if not install:
        put(script)
        return
    path = _script_path(shell)
    make_folder(path.parent)
    with open_target(path) as stream:
        stream.write(script.encode())
    click.echo(f"headwise: wrote {path}", err=True)
    if shell != "fish":
        folder = os.environ.get("ZDOTDIR") if shell == "zsh" else None
        _add_line(Path(folder or Path.home()) / f".{shell}rc", f'source "{path}"')
    click.echo("headwise: open a new shell to use it", err=True)


def _shell_of_user() -> str:
    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        what = f"completion: the shell {shell!r} is not known" if shell else "completion: no shell"
        raise ConfigError(what, f"choose one: headwise completion {'|'.join(SHELLS)}")
    return shell


def _script(shell: str) -> str:
    from headwise.cli.main import main

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(main, {}, "headwise", "_HEADWISE_COMPLETE").source()
    # `#compdef` has to be the first line where zsh loads the script as a function.
    first, _, rest = script.lstrip().partition("\n")
    return f"{first}\n{_BEFORE_ZSH if shell == 'zsh' else ''}{rest.rstrip()}\n"


def _script_path(shell: str) -> Path:
    if shell == "fish":
        config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        return Path(config) / "fish" / "completions" / "headwise.fish"
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "headwise" / f"completion.{shell}"


def _add_line(path: Path, line: str) -> None:
    """Add a line to a file at its end, unless it is there."""
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if line in before.splitlines():
            return
        with path.open("a", encoding="utf-8") as stream:
            stream.write("\n" * (before[-1:] not in ("", "\n")) + line + "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(str(error), str(path), hint=f"add this line to it: {line}") from error
    click.echo(f"headwise: added to {path}: {line}", err=True)
