"""`headwise convert`."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

import click

from headwise.cli.terminal import ProgressLine, help_examples
from headwise.convert.conversion import Conversion, Converted, TreebankFormat, convert_file
from headwise.convert.heads import load_rules
from headwise.convert.splits import SPLIT_PARTS, Part, SplitName, find_split_files, hold_out_last
from headwise.errors import ConfigError, DataError, plural
from headwise.files import make_folder, open_target

_FORMATS = click.Choice(["penn", "conllu", "conllx"])
_RULES_OF_SPLIT = {"ptb": "english", "ctb": "chinese"}
_FORMAT_OF_SUFFIX: dict[str, TreebankFormat] = {".conllu": "conllu", ".conllx": "conllx"}
_SUFFIX_OF_FORMAT = {"penn": "mrg", "conllu": "conllu", "conllx": "conllx"}
_Parts = Iterable[tuple[Part, Converted]]


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
@click.argument("sources", metavar="[INPUT]...", nargs=-1)
@click.option(
    "--from",
    "source_format",
    type=_FORMATS,
    help="Default: by the suffix of the input (.conllu, .conllx), or else penn, bracketed trees.",
)
@click.option("--to", "target_format", type=_FORMATS, default="conllu", show_default=True)
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
    target_format: TreebankFormat,
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
    name = rules or (_RULES_OF_SPLIT[split] if split and target_format != "penn" else None)
    table = load_rules(name) if name else None
    conversion = Conversion(
        source_format, target_format, table, encoding, join_words, unescape, drop
    )
    if out is None:
        with open_target(output) as stream:
            parts: _Parts = (("train", item) for item in _convert(sources, conversion))
            counts = _write(parts, {"train": stream}, quiet)
        titles: dict[Part, str] = {"train": ""}
    else:
        names: tuple[Part, ...] = SPLIT_PARTS if split else ("train", "dev")
        paths = {name: Path(out) / f"{name}.{_SUFFIX_OF_FORMAT[target_format]}" for name in names}
        counts = _write_folder(_parts(sources, conversion, split, last or 0), paths, quiet)
        titles = {name: f"{path}: " for name, path in paths.items()}
    if not quiet:
        _summarise(counts, titles)


def _format_of(sources: tuple[str, ...]) -> TreebankFormat:
    """Guess the format by the names of the files, which must exist."""
    for source in sources:
        if source != "-" and not os.path.exists(source):
            raise DataError("No such file or directory", source, hint="is the path right?")
    names = [name.removesuffix(".gz").removesuffix(".xz") for name in sources]
    for suffix, treebank_format in _FORMAT_OF_SUFFIX.items():
        if all(name.endswith(suffix) for name in names):
            return treebank_format
    return "penn"


def _check_flags(
    sources: tuple[str, ...],
    source_format: TreebankFormat,
    output: str,
    split: str | None,
    last: int | None,
    out: str | None,
) -> None:
    """Refuse flags that do not go together."""
    if sources.count("-") > 1:
        raise ConfigError("stdin can be read only once", "give files for the others")
    if split and last:
        raise ConfigError("--split and --last exclude each other", "give one of them")
    if (split or last) and not out:
        raise ConfigError("--split and --last need an output folder", "add --out DIR")
    if out and not (split or last):
        raise ConfigError("--out is for --split and --last", "for one file: -o FILE")
    if out and output != "-":
        raise ConfigError("--out and -o exclude each other", "parts go to --out")
    if split and (len(sources) != 1 or source_format != "penn"):
        raise ConfigError("--split takes one folder of bracketed trees", "--from penn FOLDER")


def _parts(
    sources: tuple[str, ...], conversion: Conversion, split: SplitName | None, n_last: int
) -> _Parts:
    if split is None:
        return hold_out_last(_convert(sources, conversion), n_last, lambda item: item.n_words > 0)
    files = find_split_files(sources[0], split)
    return ((part, item) for part in files for item in _convert(files[part], conversion))


def _convert(sources: Iterable[str | Path], conversion: Conversion) -> Iterator[Converted]:
    return chain.from_iterable(convert_file(source, conversion) for source in sources)


def _write_folder(parts: _Parts, paths: Mapping[Part, Path], quiet: bool) -> _Counts:
    """Write a file for each part; either all of them appear, or none does."""
    make_folder(paths["train"].parent)
    with ExitStack() as stack:
        streams = {name: stack.enter_context(open_target(path)) for name, path in paths.items()}
        counts = _write(parts, streams, quiet)
        if not counts.n_sentences["train"]:
            what = "no sentence is left to train on"
            raise DataError(what, str(paths["train"]), hint="the input must have more sentences")
    return counts


def _write(parts: _Parts, streams: Mapping[Part, BinaryIO], quiet: bool) -> _Counts:
    """Write each sentence to its part, and count."""
    progress = ProgressLine()
    n_sentences: Counter[str] = Counter()
    n_words: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for part, converted in parts:
        streams[part].write(converted.data)
        n_sentences[part] += converted.n_words > 0
        n_words[part] += converted.n_words
        lost += converted.lost
        if not quiet:
            progress.show(_count(n_sentences.total(), n_words.total()))
    progress.clear()
    return _Counts(n_sentences, n_words, lost)


def _summarise(counts: _Counts, titles: Mapping[Part, str]) -> None:
    for part, title in titles.items():
        click.echo(title + _count(counts.n_sentences[part], counts.n_words[part]), err=True)
    if counts.lost:
        what = ", ".join(_lost(n, kind) for kind, n in counts.lost.most_common())
        click.echo(f"left out: {what}", err=True)


def _count(n_sentences: int, n_words: int) -> str:
    return f"{plural(n_sentences, 'sentence')}, {plural(n_words, 'word')}"


def _lost(count: int, kind: str) -> str:
    """Write a count of lines, or of values of a column, whose name has no plural."""
    return f"{count:,} {kind}" if kind.isupper() else plural(count, kind)
