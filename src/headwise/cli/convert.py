"""`headwise convert`."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

import click

from headwise.cli.terminal import ProgressLine, examples
from headwise.convert.heads import load_rules
from headwise.convert.splits import PARTS, Part, SplitName, find_files, hold_out_last
from headwise.convert.treebank import Conversion, Piece, TreebankFormat, convert_file
from headwise.errors import ConfigError, DataError, plural
from headwise.files import open_target

FORMATS = click.Choice(["penn", "conllu", "conllx"])
RULES_OF_SPLIT = {"ptb": "english", "ctb": "chinese"}
NAMED_FORMATS: dict[str, TreebankFormat] = {".conllu": "conllu", ".conllx": "conllx"}
ENDINGS = {"penn": "mrg", "conllu": "conllu", "conllx": "conllx"}
Parts = Iterable[tuple[Part, Piece]]


class _Counts(NamedTuple):
    """What was written into each part, and what was left out on the way."""

    n_sentences: Counter[str]
    n_words: Counter[str]
    lost: Counter[str]


@click.command(
    short_help="Convert treebanks between formats.",
    epilog=examples(
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
    type=FORMATS,
    help="Default: by the name of the input (.conllu, .conllx); otherwise penn, bracketed trees.",
)
@click.option("--to", "target_format", type=FORMATS, default="conllu", show_default=True)
@click.option(
    "--rules",
    metavar="NAME|FILE",
    help="Head rules: english, chinese or a file of your own. Default: those of --split.",
)
@click.option("-o", "--output", default="-", show_default=True, help="File; .gz and .xz pack.")
@click.option(
    "--split",
    type=click.Choice(["ptb", "ctb"]),
    help="Make train, dev and test of the paper from a folder of trees, into --out.",
)
@click.option(
    "--last",
    type=click.IntRange(min=1),
    help="Make dev of the last so many sentences and train of the others, into --out.",
)
@click.option("--out", metavar="DIR", help="Folder for the parts of --split and --last.")
@click.option("--encoding", default="utf-8", show_default=True, help="Of the trees.")
@click.option("--join-words", is_flag=True, help="Write (NR Ken Madsen) as the word Ken_Madsen.")
@click.option("--unescape", is_flag=True, help="Write -LRB- as ( and \\/ as / in words.")
@click.option("--drop", is_flag=True, help="Leave out ranges and empty nodes for CoNLL-X.")
@click.option("--quiet", is_flag=True, help="No progress and no summary on stderr.")
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

    INPUT is a file, or - for stdin (default); for --split it is one folder.
    """
    sources = sources or ("-",)
    _check(sources, source_format or "penn", output, split, last, out)
    source_format = source_format or _format_of(sources)
    name = rules or (RULES_OF_SPLIT[split] if split and target_format != "penn" else None)
    table = load_rules(name) if name else None
    conversion = Conversion(
        source_format, target_format, table, encoding, join_words, unescape, drop
    )
    if out is None:
        with open_target(output) as stream:
            whole: Parts = (("train", piece) for piece in _pieces(sources, conversion))
            counts = _write(whole, {"train": stream}, quiet)
        titles: dict[Part, str] = {"train": ""}
    else:
        names: tuple[Part, ...] = PARTS if split else ("train", "dev")
        paths = {name: Path(out) / f"{name}.{ENDINGS[target_format]}" for name in names}
        counts = _write_folder(_parts(sources, conversion, split, last or 0), paths, quiet)
        titles = {name: f"{path}: " for name, path in paths.items()}
    if not quiet:
        _summarise(counts, titles)


def _format_of(sources: tuple[str, ...]) -> TreebankFormat:
    """Tell the format by the names of the files, which have to be there."""
    for source in sources:
        if source != "-" and not os.path.exists(source):
            raise DataError("No such file or directory", source, hint="is the path right?")
    names = [name.removesuffix(".gz").removesuffix(".xz") for name in sources]
    for ending, kind in NAMED_FORMATS.items():
        if all(name.endswith(ending) for name in names):
            return kind
    return "penn"


def _check(
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
        raise ConfigError("parts are files in a folder, and none is given", "add --out DIR")
    if out and not (split or last):
        raise ConfigError("--out is for --split and --last", "for one file: -o FILE")
    if out and output != "-":
        raise ConfigError("--out and -o exclude each other", "parts go to --out")
    if split and (len(sources) != 1 or source_format != "penn"):
        raise ConfigError("--split takes one folder of bracketed trees", "--from penn FOLDER")


def _parts(
    sources: tuple[str, ...], conversion: Conversion, split: SplitName | None, n_last: int
) -> Parts:
    if split is None:
        return hold_out_last(_pieces(sources, conversion), n_last, lambda piece: piece.n_words > 0)
    files = find_files(sources[0], split)
    return ((part, piece) for part in files for piece in _pieces(files[part], conversion))


def _pieces(sources: Iterable[str | Path], conversion: Conversion) -> Iterator[Piece]:
    return chain.from_iterable(convert_file(source, conversion) for source in sources)


def _write_folder(parts: Parts, paths: Mapping[Part, Path], quiet: bool) -> _Counts:
    """Write a file for each part; all of them appear when all are whole, or none does."""
    folder = paths["train"].parent
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise DataError(str(error.strerror), str(folder), hint="can it be made?") from error
    with ExitStack() as stack:
        streams = {name: stack.enter_context(open_target(path)) for name, path in paths.items()}
        counts = _write(parts, streams, quiet)
        if not counts.n_sentences["train"]:
            what = "no sentence is left to train on"
            raise DataError(what, str(paths["train"]), hint="does the input have more of them?")
    return counts


def _write(parts: Parts, streams: Mapping[Part, BinaryIO], quiet: bool) -> _Counts:
    """Write each sentence into its part, and count."""
    progress = ProgressLine()
    n_sentences: Counter[str] = Counter()
    n_words: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for part, piece in parts:
        streams[part].write(piece.data)
        n_sentences[part] += piece.n_words > 0
        n_words[part] += piece.n_words
        lost += piece.lost
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
    """Count lines, and values of a column, which has no plural."""
    return f"{count:,} {kind}" if kind.isupper() else plural(count, kind)
