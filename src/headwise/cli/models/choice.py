"""Which model a command uses: by name or by the language of the input, and what to say about it."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import click
from click.shell_completion import CompletionItem

from headwise.cli.streams.inputs import ParseInput
from headwise.errors import ConfigError, escape_controls
from headwise.files import open_file, standard
from headwise.model.bundle import Bundle, Manifest, load_bundle, open_manifest
from headwise.model.card import licence_line
from headwise.model.find import (
    AUTO,
    UNFINISHED,
    find_model,
    how_to_install,
    named_models,
    release_index,
    run_to_export,
)
from headwise.model.languages import language_name
from headwise.settings.about import About
from headwise.settings.choices import Input
from headwise.text.choose import FEWEST_LETTERS, choose_model, installed_languages, other_language
from headwise.text.read import SAMPLE_BYTES, sample_text, take_start

_NOTES = Path("headwise") / "licences"


def open_models(names: Sequence[str], quiet: bool) -> list[Bundle]:
    """Load models by name or folder, and mention what a user should know about them."""
    bundles = [load_bundle(find_or_export(name)) for name in names]
    for name, bundle in zip(names, bundles, strict=True):
        _mention_epoch(name, bundle.manifest, quiet)
        mention_licence(name, bundle.manifest.about, quiet)
    return bundles


def find_or_export(name: str) -> Path:
    """Find a model; if it is a run that was interrupted, make one of its best epoch first."""
    run = run_to_export(name)
    if run is not None:
        from headwise.cli.train import write_best_epoch

        write_best_epoch(run)
    return find_model(name)


def _mention_epoch(name: str, manifest: Manifest, quiet: bool) -> None:
    epoch = manifest.provenance.get(UNFINISHED)
    if epoch is not None and not quiet:
        shown = escape_controls(f"{name}: the training has not finished; this is {epoch}")
        click.echo(f"headwise: {shown}", err=True)


def mention_licences(names: Sequence[str], quiet: bool) -> None:
    """Do so for models that are loaded later."""
    for name in names:
        manifest = open_manifest(find_or_export(name))
        _mention_epoch(name, manifest, quiet)
        mention_licence(name, manifest.about, quiet)


def mention_licence(
    name: str, about: About, quiet: bool, environment: Mapping[str, str] = os.environ
) -> None:
    """Say once on each machine that a model is not for commercial use.

    A file of the user records what was mentioned; if it cannot be written, it is mentioned again.
    """
    if not about.is_non_commercial or quiet:
        return
    note = f"{language_name(about.language)} {about.licence}"
    path = _state_folder(environment) / _NOTES
    with suppress(OSError, UnicodeDecodeError):
        if note in path.read_text(encoding="utf-8").splitlines():
            return
    click.echo(f"headwise: model {escape_controls(name)}: {licence_line(about)}", err=True)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as stream:
            stream.write(f"{note}\n")


def _state_folder(environment: Mapping[str, str]) -> Path:
    """Find where programs of this system keep what they remember."""
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or "~").expanduser()
    folder = environment.get("XDG_STATE_HOME") or ""
    if os.path.isabs(folder):
        return Path(folder)
    return Path(os.path.expanduser("~")) / ".local" / "state"


def choose_by_text(
    names: tuple[str, ...], source: ParseInput, form: Input, quiet: bool, name: str = ""
) -> tuple[tuple[str, ...], str | BinaryIO]:
    """Replace `auto` by the model of the language of the input.

    Gives the models and the source to read on from: a stream that cannot be read twice has its
    start put back. With a `name`, remarks say which input they are about.
    """
    if AUTO not in names:
        return names, source.content
    if len(names) > 1:
        raise ConfigError(
            f"--model {AUTO}: it cannot be combined with other models", "give one of them"
        )
    path: str = source.content
    rest: str | BinaryIO = path
    if not source.is_file:
        text = path
    elif os.path.isfile(path):
        text = sample_text(_peek(path), form)
    else:
        is_stdin = path == "-"
        raw = standard(sys.stdin, "<stdin>").buffer if is_stdin else open_file(path)
        start, rest = take_start(raw, "<stdin>" if is_stdin else path)
        text = sample_text(start, form)
    model = choose_model(text, installed_languages())
    if not quiet:
        click.echo(f"headwise: {_about_input(name)}model {model}", err=True)
    return (model,), rest


def warn_of_language(
    about: About, source: ParseInput, form: Input, quiet: bool, name: str = ""
) -> None:
    """Say so in one line if the input is clearly in another language than the model's."""
    if quiet or not about.language:
        return
    text = sample_text(_peek(source.content), form) if source.is_file else source.content
    if len(text) < FEWEST_LETTERS:
        return
    other = other_language(text, about.language)
    if other is None:
        return
    names = [name for name, language in installed_languages().items() if language == other]
    offers = [name for name, offer in release_index().items() if offer.about.language == other]
    if names:
        advice = f"; try --model {min(names, key=len)}"
    else:
        advice = f"; {how_to_install(min(offers, key=len))}" if offers else ""
    click.echo(
        f"headwise: {_about_input(name)}the text looks {language_name(other)}, "
        f"but the model is for {language_name(about.language)}{advice}",
        err=True,
    )


def complete_models(_: click.Context, __: click.Parameter, start: str) -> list[CompletionItem]:
    """Complete the name of an installed model, or else a folder."""
    names = [name for name in (AUTO, *named_models()) if name.startswith(start)]
    return [CompletionItem(name) for name in names] or [CompletionItem(start, type="dir")]


def _about_input(name: str) -> str:
    return f"{escape_controls(name)}: " if name else ""


def _peek(source: str) -> bytes:
    """Read the start of a file, or what stdin has at once; nothing is lost or waited for twice."""
    with suppress(OSError):
        if source != "-":
            if not os.path.isfile(source):
                return b""
            with open(source, "rb") as stream:
                return stream.read(SAMPLE_BYTES)
        buffer = getattr(sys.stdin, "buffer", None)
        peek = getattr(buffer, "peek", None)
        if peek is not None:
            return bytes(peek(SAMPLE_BYTES)[:SAMPLE_BYTES])
    return b""
