"""What `headwise parse` writes: parses in the format that was asked for, progress on stderr."""

import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import click
import msgspec

from headwise.cli.terminal import ProgressLine
from headwise.errors import ConfigError
from headwise.render.svg import stack_svgs, to_svg
from headwise.render.terminal import draw
from headwise.runtime.parser import Annotated
from headwise.settings.choices import Input, PredictedColumn
from headwise.treebank.conllu import Malformed
from headwise.treebank.records import to_json
from headwise.treebank.sentence import Parse, Sentence

OutputFormat = Literal["conllu", "conllx", "json", "tree", "svg"]
BY_SUFFIX: dict[str, OutputFormat] = {".json": "json", ".jsonl": "json", ".svg": "svg"}
SHOWN: tuple[PredictedColumn, ...] = ("upos",)
"""Columns that pictures show unless others are asked for."""
MAX_PICTURES = 1_000
"""Sentences in one SVG, which are all in memory; more could hardly be looked at."""


@dataclass(frozen=True, slots=True)
class Screen:
    """Where trees are drawn: a terminal, or a file or pipe that somebody will look at."""

    is_terminal: bool
    width: int
    colour: bool
    encoding: str


PAGE = Screen(is_terminal=False, width=80, colour=False, encoding="utf-8")


def screen_of(output: str) -> Screen:
    """Find out what `-o OUTPUT` is; `NO_COLOR` and simple terminals get no colour."""
    width = shutil.get_terminal_size().columns
    if output != "-" or sys.stdout is None:
        return Screen(False, width, False, "utf-8")
    is_terminal = sys.stdout.isatty()
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Screen(is_terminal, width, is_terminal and not plain, sys.stdout.encoding)


def choose_format(
    asked: OutputFormat | None,
    output: str,
    form: Input,
    screen: Screen,
    with_probabilities: bool = False,
    with_trees: bool = False,
) -> OutputFormat:
    """Choose the format by the flag, by the name of the output, or by where it goes."""
    name = output.removesuffix(".gz").removesuffix(".xz")
    asked = asked or BY_SUFFIX.get(os.path.splitext(name)[1].lower())
    hint = "headwise convert turns one into the other"
    if form == "conllx" and asked == "conllu":
        raise ConfigError("--format conllu: the input is CoNLL-X", hint)
    if form != "conllx" and asked == "conllx":
        raise ConfigError("--format conllx: it needs --input conllx", hint)
    if with_probabilities and (form == "conllx" or (asked or "conllu") != "conllu"):
        what = f"--probabilities: not in {asked or form}, only in MISC of CoNLL-U"
        raise ConfigError(what, "use --format conllu; json has all probabilities without it")
    if with_trees and asked is None and (with_probabilities or name.lower().endswith(".conllu")):
        asked = "conllu"
    if with_trees and asked not in (None, "json"):
        what = f"--k-best, --marginals: not in {asked}, only in JSON"
        raise ConfigError(what, "use --format json")
    if with_trees:
        return "json"
    if with_probabilities:
        return "conllu"
    return asked or ("tree" if screen.is_terminal else "conllx" if form == "conllx" else "conllu")


def columns_to_show(names: str) -> tuple[PredictedColumn, ...]:
    """Read the names of columns for pictures, with commas between them, in their order."""
    columns: tuple[PredictedColumn, ...] = get_args(PredictedColumn)
    asked = [name.strip() for name in names.split(",") if name.strip()]
    for name in asked:
        if name not in columns:
            hint = f"choose from {', '.join(columns)}; heads and labels are always shown"
            raise ConfigError(f"--columns: there is no column {name[:40]!r}", hint)
    return tuple(column for name in dict.fromkeys(asked) for column in columns if column == name)


def written(
    items: Iterable[Annotated],
    form: OutputFormat,
    screen: Screen = PAGE,
    columns: Sequence[PredictedColumn] = SHOWN,
) -> Iterator[bytes]:
    """Write each item; malformed input passes through in CoNLL, other formats leave it out.

    Pictures show `columns` of each word.
    """
    if form in ("conllu", "conllx"):
        yield from (item.data for item, _ in items)
        return
    sentences = ((item, parse) for item, parse in items if isinstance(item, Sentence) and len(item))
    if form == "json":
        yield from ((to_json(*both) + "\n").encode() for both in sentences)
    elif form == "tree":
        yield from _trees(sentences, screen, columns)
    else:
        yield _picture(sentences, columns)


def _trees(
    sentences: Iterable[tuple[Sentence, Parse | None]],
    screen: Screen,
    columns: Sequence[PredictedColumn],
) -> Iterator[bytes]:
    """Draw trees with a blank line between them."""
    gap = ""
    for sentence, parse in sentences:
        drawing = draw(
            sentence,
            parse,
            width=screen.width,
            colour=screen.colour,
            encoding=screen.encoding,
            columns=columns,
        )
        yield f"{gap}{drawing}\n".encode(screen.encoding, "replace")
        gap = "\n"


def _picture(
    sentences: Iterable[tuple[Sentence, Parse | None]], columns: Sequence[PredictedColumn]
) -> bytes:
    """Draw all sentences in one picture, one below the other."""
    pictures: list[str] = []
    for both in sentences:
        if len(pictures) == MAX_PICTURES:
            raise ConfigError(
                f"--format svg: more than {MAX_PICTURES:,} sentences", "draw fewer at a time"
            )
        pictures.append(to_svg(*both, columns=columns))
    return (stack_svgs(pictures) + "\n").encode()


class Counts(msgspec.Struct, frozen=True):
    """Counts of some sentences: by decoder, of words, and why some were refused."""

    decoders: dict[str, int]
    n_words: int
    refused: list[str]


def counts_of(items: Sequence[Annotated]) -> Counts:
    """Count sentences; those without words are left out."""
    refused = [str(item.error) for item, _ in items if isinstance(item, Malformed)]
    parses = [parse for _, parse in items if parse is not None and parse.heads]
    n_words = sum(len(parse.heads) for parse in parses)
    return Counts(Counter(parse.how for parse in parses), n_words, refused)


class Tally:
    """Adds up counts, and shows them while the work goes on."""

    def __init__(self, show_progress: bool, form: OutputFormat) -> None:
        """Start the clock; progress is shown on a terminal only."""
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._progress = ProgressLine() if show_progress and is_terminal else None
        passes = form in ("conllu", "conllx")
        self._fate = "passed through unparsed" if passes else "left out"
        self._decoders: Counter[str] = Counter()
        self._n_words, self._started = 0, time.monotonic()

    def count(self, items: Iterable[Annotated]) -> Iterator[Annotated]:
        """Pass items on, and count each after it was used."""
        for item in items:
            yield item
            self.add(counts_of([item]))

    def add(self, counts: Counts) -> None:
        """Add counts, and report what was refused."""
        self._decoders.update(counts.decoders)
        self._n_words += counts.n_words
        for error in counts.refused:
            self.end()
            click.echo(f"headwise: {self._fate}: {error}", err=True)
            self._decoders["unparsed"] += 1
        if self._progress:
            self._progress.show(self._speed())

    def end(self) -> None:
        """Remove the progress line."""
        if self._progress:
            self._progress.clear()

    def summarise(self) -> None:
        """Print the totals on stderr."""
        by_count = sorted(self._decoders.items(), key=lambda pair: (-pair[1], pair[0]))
        how = ", ".join(f"{count:,} {decoder}" for decoder, count in by_count)
        click.echo(f"{self._speed()}{'; ' if how else ''}{how}", err=True)

    def _speed(self) -> str:
        n_sentences, n_words = self._decoders.total(), self._n_words
        rate = n_words / max(time.monotonic() - self._started, 1e-9)
        sentences = "sentence" if n_sentences == 1 else "sentences"
        words = "word" if n_words == 1 else "words"
        return f"{n_sentences:,} {sentences}, {n_words:,} {words}, {rate:,.0f} words/s"
