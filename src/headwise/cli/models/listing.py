"""`headwise models`."""

from pathlib import Path
from typing import Literal

import click
import msgspec

from headwise.cli.terminal import help_examples, put
from headwise.errors import ConfigError, ModelError, escape_controls
from headwise.model.find import (
    MODELS_FOLDER,
    Offer,
    describe_model,
    how_to_install,
    named_models,
    packages_in,
    release_index,
)
from headwise.model.languages import language_name

_COLUMNS = ("name", "language", "licence", "MB", "UPOS", "LAS", "")
Status = Literal["inside", "installed", "available"]
_WHERE: dict[Status, str] = {"inside": "inside headwise", "installed": "installed", "available": ""}


class Listed(msgspec.Struct, frozen=True):
    """A model and where it is."""

    status: Status
    offer: Offer


@click.command(
    "models",
    short_help="List models.",
    epilog=help_examples(
        "headwise models",
        "headwise models --json",
        "headwise models --folder models --json > src/headwise/models/index.json",
    ),
)
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="List the packages in this folder instead, such as models/ of a clone.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a list of JSON objects.")
def list_models(folder: Path | None, as_json: bool) -> None:
    """List the installed models, and the others that this release offers.

    UPOS and LAS are scores on dev, from gold words, as measured in training. NC marks models that
    may not be used commercially.
    """
    if folder is not None:
        offers = [describe_model(name, path) for name, path in packages_in(folder).items()]
        listed = [Listed("available", offer) for offer in offers]
        if not listed:
            what = f"{folder}: there are no model packages in this folder"
            raise ConfigError(what, "headwise package writes one: --out FOLDER/NAME")
    else:
        listed = _known_models()
    if as_json:
        rows = [_as_json(one, with_status=folder is None) for one in listed]
        put(msgspec.json.format(msgspec.json.encode(rows), indent=1))
    else:
        put(_table(listed))


def _known_models() -> list[Listed]:
    """List what is installed, then what is not."""
    listed = []
    for name, path in named_models().items():
        status: Status = "inside" if path.parent == MODELS_FOLDER else "installed"
        try:
            listed.append(Listed(status, describe_model(name, path)))
        except ModelError as error:
            click.echo(f"headwise: {error}", err=True)
    here = {one.offer.name for one in listed}
    others = [offer for name, offer in release_index().items() if name not in here]
    listed.sort(key=lambda one: one.offer.name)
    return [*listed, *(Listed("available", offer) for offer in others)]


def _as_json(listed: Listed, with_status: bool) -> dict[str, object]:
    """Write what the index has, and for users what follows from it."""
    offer = listed.offer
    row: dict[str, object] = msgspec.to_builtins(offer)
    if with_status:
        row["status"] = listed.status
        row["language"] = language_name(offer.about.language)
        row["package"] = "headwise" if listed.status == "inside" else offer.package
        row["is_non_commercial"] = offer.about.is_non_commercial
    return row


def _table(listed: list[Listed]) -> str:
    rows = [_COLUMNS, *(_row(one) for one in listed)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_COLUMNS))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if column in ("MB", "UPOS", "LAS") else cell.ljust(width)
            for cell, width, column in zip(row, widths, _COLUMNS, strict=True)
        ]
        lines.append(escape_controls("  ".join(cells).rstrip()))
    notes = []
    if any(one.offer.about.is_non_commercial for one in listed):
        notes.append("NC: not for commercial use")
    if any(one.status == "available" for one in listed):
        notes.append(f"To install one: {how_to_install('NAME')}")
    return "\n".join([*lines, "", *notes]).rstrip()


def _row(listed: Listed) -> tuple[str, ...]:
    offer = listed.offer
    about, scores = offer.about, offer.scores
    licence = (about.licence or "not stated") + (" NC" if about.is_non_commercial else "")
    return (
        offer.name,
        language_name(about.language),
        licence,
        f"{offer.size / 1e6:.1f}",
        *(f"{scores[key]:.1f}" if key in scores else "" for key in ("dev_upos", "dev_las")),
        _WHERE[listed.status],
    )
