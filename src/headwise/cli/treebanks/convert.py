"""`headwise convert`."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import click

from headwise.cli.terminal import ProgressLine, help_examples
from headwise.convert.conversion import Conversion, Converted, TreebankFormat, convert_file
from headwise.convert.heads import load_rules
from headwise.convert.splits import SPLIT_PARTS, Part, SplitName, find_split_files, hold_out_last
from headwise.errors import ConfigError, DataError, plural
from headwise.files import about_path, make_folder, open_target

_FORMATS = click.Choice(["penn", "conllu", "conllx"])
_RULES_OF_SPLIT = {"ptb": "english", "ctb": "chinese"}
_BY_SUFFIX: dict[str, TreebankFormat] = {".conllu": "conllu", ".conllx": "conllx", ".mrg": "penn"}


class _Counts(NamedTuple):
    """Counts of what was written, by part, and of what was lost, by kind."""

    n_sentences: Counter[str]
    n_words: Counter[str]
    lost: Counter[str]


@click.command(
    short_help="Convert treebanks between formats.",
    epilog=help_examples(
        "headwise convert trees.mrg --rules english -o trees.conllu",
        "headwise convert treebank/wsj --split ptb --out data/ptb",
        "headwise convert ctb/bracketed --split ctb --encoding gb18030 --join-words --out data/ctb",
        "headwise convert train.conll --from conllx --to conllx --last 374 --out data/czech",
        "xzcat ud.conllu.xz | headwise convert --from conllu --to conllx --drop > ud.conllx",
    ),
)
@click.argument("sources", metavar="[INPUT]...", nargs=-1, type=click.Path())
@click.option(
    "--from",
    "source_format",
    type=_FORMATS,
    help="Default: by the suffix of the input (.conllu, .conllx), or else penn, bracketed trees.",
)
@click.option(
    "--to",
    "target_format",
    type=_FORMATS,
    help="Default: by the name of the output (.conllu, .conllx, .mrg), or else conllu.",
)
@click.option(
    "--rules",
    metavar="NAME|FILE",
    help="Head rules: english, chinese or the path of a file. Default: those of --split.",
)
@click.option(
    "-o",
    "--output",
    default="-",
    show_default=True,
    help="Output file; .gz and .xz are compressed.",
)
@click.option(
    "--split",
    type=click.Choice(["ptb", "ctb"]),
    help="Write train, dev and test of the paper to --out, from a folder of trees.",
)
@click.option(
    "--last",
    type=click.IntRange(min=1),
    metavar="N",
    help="Write the last N sentences to dev and all others to train, in --out.",
)
@click.option("--out", metavar="DIR", help="Output folder for --split and --last.")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of the trees.")
@click.option("--join-words", is_flag=True, help="Write (NR Ken Madsen) as the word Ken_Madsen.")
@click.option("--unescape", is_flag=True, help="Write -LRB- as ( and \\/ as / in words.")
@click.option(
    "--drop", is_flag=True, help="Leave out multi-word tokens and empty nodes, for CoNLL-X."
)
@click.option("--quiet", is_flag=True, help="Show no progress and no summary on stderr.")
def convert(
    sources: tuple[str, ...],
    source_format: TreebankFormat | None,
    target_format: TreebankFormat | None,
    rules: str | None,
    output: str,
    split: SplitName | None,
    last: int | None,
    out: str | None,
    encoding: str,
    join_words: bool,
    unescape: bool,
    drop: bool,
    quiet: bool,
) -> None:
    """Convert treebanks: bracketed trees to dependencies, CoNLL-X to CoNLL-U and back.

    INPUT is a file, or - for stdin (default); with --split it is a folder.
    """
    sources = sources or ("-",)
    _check_flags(sources, source_format or "penn", output, split, last, out)
    source_format = source_format or _format_of(sources)
    target_format = target_format or _format_named([output]) or "conllu"
    name = rules or (_RULES_OF_SPLIT[split] if split and target_format != "penn" else None)
    table = load_rules(name) if name else None
    conversion = Conversion(
        source_format, target_format, table, encoding, join_words, unescape, drop
    )
    parts = _parts(sources, conversion, split, last)
    paths: dict[Part, str | Path] = {"train": output}
    if out is not None:
        make_folder(Path(out))
        suffix = "mrg" if target_format == "penn" else target_format
        names: tuple[Part, ...] = SPLIT_PARTS if split else ("train", "dev")
        paths = {name: Path(out) / f"{name}.{suffix}" for name in names}
    counts = _write(parts, paths, quiet)
    if not quiet:
        for part, path in paths.items():
            title = "" if out is None else f"{path}: "
            click.echo(title + _count(counts.n_sentences[part], counts.n_words[part]), err=True)
        if counts.lost:
            # The name of a column, such as DEPS, has no plural.
            lost = ", ".join(
                f"{n:,} {kind}" if kind.isupper() else plural(n, kind)
                for kind, n in counts.lost.most_common()
            )
            click.echo(f"left out: {lost}", err=True)


def _format_of(sources: tuple[str, ...]) -> TreebankFormat:
    """Guess the format by the names of the files, which must exist."""
    for source in sources:
        if source != "-" and not os.path.exists(source):
            raise DataError("No such file or directory", source, hint=about_path(source))
    return _format_named(sources) or "penn"


def _format_named(names: Iterable[str]) -> TreebankFormat | None:
    """Tell the format by the endings of names, if it is the same for all."""
    plain = [name.lower().removesuffix(".gz").removesuffix(".xz") for name in names]
    formats = {_BY_SUFFIX.get(os.path.splitext(name)[1]) for name in plain}
    return formats.pop() if len(formats) == 1 else None


def _check_flags(
    sources: tuple[str, ...],
    source_format: TreebankFormat,
    output: str,
    split: str | None,
    last: int | None,
    out: str | None,
) -> None:
    """Refuse flags that do not go together."""
    conflicts = [
        (sources.count("-") > 1, "stdin can be read only once", "give files for the others"),
        (split and last, "--split and --last exclude each other", "give one of them"),
        ((split or last) and not out, "--split and --last need an output folder", "add --out DIR"),
        (out and not (split or last), "--out is for --split and --last", "for one file: -o FILE"),
        (out and output != "-", "--out and -o exclude each other", "parts go to --out"),
        (
            split and (len(sources) != 1 or source_format != "penn"),
            "--split takes one folder of bracketed trees",
            "--from penn FOLDER",
        ),
    ]
    for is_given, what, hint in conflicts:
        if is_given:
            raise ConfigError(what, hint)


def _parts(
    sources: tuple[str, ...], conversion: Conversion, split: SplitName | None, n_last: int | None
) -> Iterable[tuple[Part, Converted]]:
    """Convert the sources, and assign each sentence to a part."""
    files: Mapping[Part, Iterable[str | Path]] = {"train": sources}
    if split is not None:
        files = find_split_files(sources[0], split)
    parts = (
        (part, item)
        for part, paths in files.items()
        for path in paths
        for item in convert_file(path, conversion)
    )
    if n_last is None:
        return parts
    return hold_out_last((item for _, item in parts), n_last, lambda item: item.n_words > 0)


def _write(
    parts: Iterable[tuple[Part, Converted]], paths: Mapping[Part, str | Path], quiet: bool
) -> _Counts:
    """Write each sentence to the file of its part; either all files appear, or none does."""
    progress = ProgressLine()
    counts = _Counts(Counter(), Counter(), Counter())
    with ExitStack() as stack:
        streams = {name: stack.enter_context(open_target(path)) for name, path in paths.items()}
        for part, converted in parts:
            streams[part].write(converted.data)
            counts.n_sentences[part] += converted.n_words > 0
            counts.n_words[part] += converted.n_words
            counts.lost.update(converted.lost)
            if not quiet:
                progress.show(_count(counts.n_sentences.total(), counts.n_words.total()))
        progress.clear()
        if len(paths) > 1 and not counts.n_sentences["train"]:
            what = "no sentence is left to train on"
            raise DataError(what, str(paths["train"]), hint="the input must have more sentences")
    return counts


def _count(n_sentences: int, n_words: int) -> str:
    return f"{plural(n_sentences, 'sentence')}, {plural(n_words, 'word')}"
