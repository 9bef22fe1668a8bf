"""`headwise show`."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from shlex import quote

import click

from headwise.cli.streams.inputs import looks_like_a_file
from headwise.cli.streams.output import (
    SHOWN,
    OutputFormat,
    Screen,
    check_picture,
    columns_to_show,
    format_of,
    screen_of,
    written,
)
from headwise.cli.terminal import help_examples
from headwise.errors import ConfigError, DataError, escape_controls, plural
from headwise.files import open_target
from headwise.render.cells import clip, visible
from headwise.render.terminal import draw
from headwise.settings.choices import Format, PredictedColumn
from headwise.text.read import read_any
from headwise.treebank.sentence import Sentence

_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_LONGEST_TEXT = 1_000
"""Characters of a text that are looked at for one line of a terminal."""
Numbered = tuple[int, Sentence]


@click.command(
    "show",
    short_help="Draw the trees of a treebank as they stand.",
    epilog=help_examples(
        "headwise show treebank.conllu",
        "headwise show treebank.conllu --list",
        "headwise show treebank.conllu --sentence 12 --sentence 20-25",
        "headwise show treebank.conllu --sentence 12 -o tree.png",
        "headwise show treebank.conllu.xz --columns lemma,upos,feats -o treebank.html",
    ),
)
@click.argument("source", metavar="[FILE]", required=False, type=click.Path())
@click.option(
    "-s",
    "--sentence",
    "wanted",
    multiple=True,
    metavar="N|N-M|ID",
    help="Sentences by number, counted from 1, or by sent_id. Repeatable.  [default: all]",
)
@click.option("--list", "as_list", is_flag=True, help="List sentences: number, sent_id and text.")
@click.option(
    "-o", "--output", type=click.Path(), default="-", show_default=True, help="File to write."
)
@click.option(
    "--format",
    "out_form",
    type=click.Choice(["tree", "svg", "png", "html"]),
    help="tree: drawn in characters; svg, png: one picture; html: a page. Default: by the name of "
    "the output, else tree.",
)
@click.option(
    "--columns",
    metavar="COLUMNS",
    help="Columns beside the words: lemma, upos, xpos, feats, separated by commas.  "
    "[default: upos]",
)
@click.option(
    "--input",
    "form",
    type=click.Choice(["conllu", "conllx"]),
    default="conllu",
    show_default=True,
)
def show_trees(
    source: str | None,
    wanted: tuple[str, ...],
    as_list: bool,
    output: str,
    out_form: OutputFormat | None,
    columns: str | None,
    form: Format,
) -> None:
    """Draw the trees of FILE, a treebank, as they stand: nothing is parsed.

    On a terminal, several trees are shown page by page. headwise parse draws trees of text.
    """
    source = _stdin() if source is None else source
    screen = screen_of(output)
    chosen = out_form or _format_of(output)
    check_picture(chosen, screen)
    shown = SHOWN if columns is None else columns_to_show(columns)
    if source != "-" and not os.path.exists(source) and not looks_like_a_file(source):
        hint = f"to parse a text and draw its tree: headwise parse {quote(source)} --format tree"
        raise DataError("No such file or directory", source, hint=hint)
    sentences = select_sentences(
        _read(source, form), [SentenceChoice.read(one) for one in wanted], source
    )
    pieces: Iterable[bytes]
    if as_list or chosen == "tree":
        lines = _listed(sentences, screen) if as_list else _drawn(sentences, screen, shown)
        is_single = len(wanted) == 1 and wanted[0].isdigit()
        if screen.is_terminal and not is_single:
            _page(lines, screen)
            return
        pieces = (line.encode(screen.encoding, "replace") for line in lines)
    else:
        pieces = written(((sentence, None) for _, sentence in sentences), chosen, screen, shown)
    with open_target(output) as stream:
        for piece in pieces:
            stream.write(piece)


def _stdin() -> str:
    """Name stdin if something is piped into it; on a terminal, FILE was forgotten."""
    if sys.stdin is not None and sys.stdin.isatty():
        hint = "name a treebank: headwise show treebank.conllu"
        raise click.UsageError(f"Missing argument FILE.\nhint: {hint}")
    return "-"


def _format_of(output: str) -> OutputFormat:
    """Choose by the name of the output; a treebank or JSON is not drawn."""
    chosen = format_of(output.removesuffix(".gz").removesuffix(".xz"))
    if chosen == "json" or output.lower().endswith((".conllu", ".conllx")):
        what = f"-o {output}: headwise show draws trees, and this name is not that of a drawing"
        raise ConfigError(what, "use .txt, .svg, .png or .html")
    return chosen or "tree"


def _read(source: str, form: Format) -> Iterator[Sentence]:
    """Read a treebank; a text is refused with the command that draws it."""
    name = _named(source)
    hint = f"to parse and draw it: headwise parse {source} --format tree"
    no_text = ConfigError(f"{name} is text, not a treebank: it has no trees", hint)
    for item in read_any(source, "auto" if form == "conllu" else form, None, "raise", no_text):
        assert isinstance(item, Sentence)
        yield item


def _named(source: str) -> str:
    return "the input" if source == "-" else escape_controls(source)


@dataclass(frozen=True, slots=True)
class SentenceChoice:
    """Sentences from `first` to `last`, or the one with an id."""

    name: str
    first: int = 0
    last: int = 0

    @classmethod
    def read(cls, name: str) -> "SentenceChoice":
        """Read `12`, `12-20` or a sent_id."""
        if not (numbers := _RANGE.fullmatch(name)):
            return cls(name)
        first, last = int(numbers[1]), int(numbers[2] or numbers[1])
        if not 1 <= first <= last:
            what = f"--sentence {escape_controls(name)}: there are no such sentences"
            raise ConfigError(what, "numbers count from 1, the smaller one first")
        return cls(name, first, last)

    def has(self, number: int, sentence: Sentence) -> bool:
        """Return whether a sentence is meant."""
        if self.last:
            return self.first <= number <= self.last
        return sentence.metadata.get("sent_id") == self.name


def select_sentences(
    sentences: Iterable[Sentence], wanted: Sequence[SentenceChoice], source: str
) -> Iterator[Numbered]:
    """Give the sentences that are wanted with their numbers, all if none are named.

    What is not there is an error at the end.
    """
    missing, number = set(wanted), 0
    for number, sentence in enumerate(sentences, 1):
        found = {one for one in wanted if one.has(number, sentence)}
        missing -= {one for one in found if number >= one.last}
        if found or not wanted:
            yield number, sentence
        if wanted and not missing:
            return
    if not number:
        click.echo(f"headwise: {_named(source)} has no sentences", err=True)
    if missing:
        one = min(missing, key=wanted.index)
        what = f"there is no sentence {one.name}; the file has {plural(number, 'sentence')}"
        raise DataError(what, source, hint="headwise show FILE --list lists them")


def _listed(sentences: Iterable[Numbered], screen: Screen) -> Iterator[str]:
    for number, sentence in sentences:
        parts = (str(number), sentence.metadata.get("sent_id", ""), sentence.text)
        width = screen.width if screen.is_terminal else None
        yield _one_line("  ".join(filter(None, parts)), width) + "\n"


def _drawn(
    sentences: Iterable[Numbered], screen: Screen, columns: Sequence[PredictedColumn]
) -> Iterator[str]:
    """Draw trees below their numbers and texts."""
    gap = ""
    for number, sentence in sentences:
        drawing = draw(
            sentence,
            width=screen.tree_width,
            colour=screen.colour,
            encoding=screen.encoding,
            columns=columns,
        )
        title = _one_line(f"{number}  {sentence.text}", screen.width)
        yield f"{gap}{title}\n{drawing}\n"
        gap = "\n"


def _one_line(text: str, width: int | None) -> str:
    """Make a text visible in one line, cut to `width` cells if there is a limit."""
    return visible(text) if width is None else clip(visible(text[:_LONGEST_TEXT]), width)


def _page(lines: Iterator[str], screen: Screen) -> None:
    """Show lines in the user's pager; less ends by itself if all fit on the screen."""
    os.environ.setdefault("LESS", "-FRX")
    click.echo_via_pager(lines, color=screen.colour)
