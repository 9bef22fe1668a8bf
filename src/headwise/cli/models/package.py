"""`headwise package`."""

import re
from pathlib import Path

import click
import msgspec

from headwise.cli.models.choice import find_or_export
from headwise.cli.terminal import help_examples
from headwise.errors import ConfigError
from headwise.model.bundle import load_bundle
from headwise.model.find import MODELS_FOLDER, find_model
from headwise.model.languages import language_code
from headwise.model.package import write_package
from headwise.settings.about import About, DataSource, read_about
from headwise.settings.recipe import to_struct
from headwise.version import VERSION


@click.command(
    short_help="Make a package that pip installs.",
    epilog=help_examples(
        "headwise package runs/fr --name fr --out models/fr --about fr.toml",
        "headwise package runs/fr --name fr --out fr --licence CC-BY-SA-4.0 "
        "--source 'UD_French-Sequoia 2.16'",
        "pip install ./models/fr && headwise parse --model fr livre.txt",
    ),
)
@click.argument("run", type=click.Path())
@click.option("--name", required=True, help="Name of the model for --model: fr, fr-speech.")
@click.option(
    "--out", "target", required=True, type=click.Path(path_type=Path), help="Folder to write."
)
@click.option(
    "--about",
    "about_path",
    type=click.Path(path_type=Path),
    help="TOML file with language, licence, sources, limits and notes. The flags below add to it.",
)
@click.option("--language", help="Name or code.  [default: the start of --name]")
@click.option("--licence", help="SPDX expression, such as CC-BY-SA-4.0.")
@click.option("--source", "sources", multiple=True, help="Treebank and release. Repeatable.")
@click.option("--attribution", help="Who made the treebanks that --source names.")
@click.option("--limits", help="What the model was not made for.")
@click.option("--notes", help="Anything else for the card.")
@click.option("--segmenter", metavar="MODEL", help="Use the segmenter of this model.")
@click.option(
    "--weights",
    "with_weights",
    is_flag=True,
    help="Include the weights in float16; train --start can use them.",
)
@click.option(
    "--package-version", default=VERSION, show_default=True, help="Version of the package."
)
def package(
    run: str,
    name: str,
    target: Path,
    about_path: Path | None,
    segmenter: str | None,
    with_weights: bool,
    package_version: str,
    language: str | None,
    sources: tuple[str, ...],
    attribution: str | None,
    **texts: str | None,
) -> None:
    """Make a package of the model in RUN, a training run or a model folder.

    The package contains the model in int8, a card with data, licence, recipe, command, seed and
    scores, and the files that pip needs; weights only with --weights. The same model gives the same
    bytes.
    """
    about = read_about(about_path) if about_path else About()
    code = _code(language) if language else ""
    code = code or about.language or language_code(name.partition("-")[0]) or ""
    changes = {"language": code} | {key: text for key, text in texts.items() if text is not None}
    if attribution and not sources:
        raise ConfigError("--attribution needs --source", "name the treebank: --source NAME")
    more = [DataSource(name=one, attribution=attribution or "") for one in sources]
    table = msgspec.to_builtins(msgspec.structs.replace(about, sources=(*about.sources, *more)))
    about = to_struct(table | changes, About, "headwise package")
    other = load_bundle(find_model(segmenter)) if segmenter else None
    bundle = load_bundle(find_or_export(run))
    write_package(bundle, name, target, about, other, package_version, with_weights)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    where = target if target.is_absolute() else f"./{target}"
    click.echo(f"{target}: {size / 1e6:.1f} MB; install it with: pip install {where}", err=True)
    if (MODELS_FOLDER / name).is_dir():
        note = f"--model {name} is still the model that comes with headwise"
        click.echo(f"note: {note}; choose another --name", err=True)


def _code(language: str) -> str:
    """Find the code of a language; a code of two or three letters need not be in the table."""
    code = language_code(language) or language
    if not re.fullmatch("[a-z]{2,3}", code):
        what = f"--language: {language[:40]!r} is not a language that headwise knows"
        raise ConfigError(what, "give its code of two or three lower-case letters: fr, tlh")
    return code
