"""`headwise parse`."""

import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator

import click

from headwise import load
from headwise.cli.choices import check_tags, chosen_decode, how_to_parse
from headwise.cli.output import Annotated, OutputFormat, Screen, screen_of, written
from headwise.cli.terminal import ProgressLine, examples
from headwise.config import Decoder
from headwise.errors import ConfigError, DataError, plural
from headwise.model.bundle import find_model, load_bundle
from headwise.model.scorer import Precision
from headwise.parser import DEFAULT_MODEL, Parser
from headwise.stretches import MEMORY_BUDGET, SMALLEST_BUDGET
from headwise.text.read import Input, read_any, read_text, why_no_text
from headwise.words.conllu import Malformed, OnError
from headwise.words.files import open_target
from headwise.words.sentence import Sentence

INPUTS = click.Choice(["auto", "conllu", "conllx", "text", "lines", "tokens"])
FORMATS = click.Choice(["conllu", "conllx", "json", "tree", "svg"])
NAMED_FORMATS: dict[str, OutputFormat] = {".json": "json", ".jsonl": "json", ".svg": "svg"}
FILE_NAME = re.compile(
    r"\S*/\S*|(~|\.{1,2})?/.*"
    r"|.*\.(txt|text|conll|conllu|conllx|json|jsonl|tsv|csv|md|rst|html?|xml|pdf|docx?|gz|xz|bz2|zip)",
    re.IGNORECASE,
)
"""What looks like a file, and is an error if it is none; anything else that names none is text."""


@click.command(
    short_help="Parse text or CoNLL-U.",
    epilog=examples(
        'headwise parse "Kids love candy."',
        "headwise parse book.txt -o book.conllu",
        "xzcat test.conllu.xz | headwise parse --model runs/ewt --threads 2 > parsed.conllu",
        "headwise parse --input tokens --format json sentences.txt",
    ),
)
@click.argument("source", metavar="[FILE|TEXT]", default="-")
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    default=[DEFAULT_MODEL],
    show_default=True,
    help="Name or folder; several are an ensemble, which parses by the mean of what they say.",
)
@click.option("-o", "--output", default="-", show_default=True, help="File; .gz and .xz pack.")
@click.option(
    "--input",
    "form",
    type=INPUTS,
    default="auto",
    show_default=True,
    help="text: running text; lines: one sentence a line; tokens: one sentence a line, a space "
    "between words; auto: conllu where it looks like that, else text.",
)
@click.option(
    "--format",
    "out_form",
    type=FORMATS,
    help="json: one object a line; tree: drawn in characters; svg: one picture. Default: by the "
    "name of the output (.json, .jsonl, .svg); tree on a terminal, elsewhere conllu (conllx if it "
    "came so).",
)
@how_to_parse
@click.option(
    "--treebank",
    default="",
    help="Of a model that tells treebanks apart, the one to parse as in. Default: its main one.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="The output does not depend on it.",
)
@click.option(
    "--memory-budget",
    type=click.IntRange(SMALLEST_BUDGET >> 20),
    default=MEMORY_BUDGET >> 20,
    show_default=True,
    metavar="MIB",
    help="For the sentences in work, besides the model. Longer ones than that allows are parsed in "
    "stretches and joined.",
)
@click.option(
    "--on-error",
    type=click.Choice(["raise", "skip"]),
    default="raise",
    show_default=True,
    help="Malformed CoNLL-U: stop, or report it and pass it through unparsed.",
)
@click.option("--quiet", is_flag=True, help="No progress and no summary on stderr.")
def parse(
    source: str,
    models: tuple[str, ...],
    output: str,
    form: Input,
    out_form: OutputFormat | None,
    keep_tags: bool | None,
    treebank: str,
    threads: int,
    memory_budget: int,
    decoder: Decoder | None,
    single_root: bool | None,
    on_error: OnError,
    precision: Precision,
    device: str,
    quiet: bool,
) -> None:
    """Parse FILE, TEXT or stdin (-, the default).

    FILE is text or CoNLL-U, plain, gz or xz. TEXT is whatever names no file, and does not look
    like the name of one. In CoNLL-U, tags, heads and labels are filled in, and all else stays.
    """
    screen = screen_of(output)
    chosen = _choose_format(out_form or _format_of(output), form, screen)
    bundles = [load_bundle(find_model(model)) for model in models]
    for bundle, model in zip(bundles, models, strict=True):
        check_tags(bundle, model, keep_tags)
    decode = chosen_decode(bundles[0], decoder, single_root)
    parser = load(
        bundles,
        device=device,
        precision=precision,
        decode=decode,
        keep_tags=bool(keep_tags),
        treebank=treebank,
        memory_budget=memory_budget << 20,
    )
    items = _read(source, form, parser, on_error)
    stream_through(parser.annotate(items, threads, on_error), output, chosen, screen, quiet)


def _read(
    source: str, form: Input, parser: Parser, on_error: OnError
) -> Iterator[Sentence | Malformed]:
    """Open a file, or take a string that names none as text."""
    no_text = why_no_text(parser.vocab.reads)
    if source == "-" or os.path.exists(source):
        return read_any(source, form, parser.segmenter, on_error, no_text)
    if form in ("conllu", "conllx") or FILE_NAME.fullmatch(source):
        hint = "is the path right? (if it is text: use stdin)"
        raise DataError("No such file or directory", source, hint=hint)
    if no_text is not None:
        raise no_text
    return read_text(source, "text" if form == "auto" else form, parser.segmenter)


def _format_of(output: str) -> OutputFormat | None:
    """Tell the format by the name of the output, where that says it."""
    name = output.removesuffix(".gz").removesuffix(".xz")
    return NAMED_FORMATS.get(os.path.splitext(name)[1].lower())


def _choose_format(asked: OutputFormat | None, form: Input, screen: Screen) -> OutputFormat:
    hint = "headwise convert makes one of the other"
    if form == "conllx" and asked == "conllu":
        raise ConfigError("--format conllu: the input is CoNLL-X", hint)
    if form != "conllx" and asked == "conllx":
        raise ConfigError("--format conllx: it needs --input conllx", hint)
    if asked or screen.is_terminal:
        return asked or "tree"
    return "conllx" if form == "conllx" else "conllu"


def stream_through(
    items: Iterable[Annotated], output: str, form: OutputFormat, screen: Screen, quiet: bool
) -> None:
    """Write a stream of parses and say how it went."""
    tally = _Tally()
    show_progress = not quiet and not screen.is_terminal  # or it would stand among the output
    with open_target(output) as stream:
        for data in written(tally.count(items, show_progress), form, screen):
            stream.write(data)
    if not quiet and not (form == "tree" and screen.is_terminal):
        tally.summarise()


class _Tally:
    """Counts what passes, and shows it while it does."""

    def __init__(self) -> None:
        self._progress = ProgressLine()
        self._ways: Counter[str] = Counter()
        self._n_words, self._started = 0, time.monotonic()

    def count(self, items: Iterable[Annotated], show_progress: bool) -> Iterator[Annotated]:
        """Let items through."""
        for item, parse in items:
            if isinstance(item, Malformed):
                self._progress.clear()
                click.echo(f"headwise: passed through unparsed: {item.error}", err=True)
                self._ways["unparsed"] += 1
            elif parse is not None and len(item):
                self._ways[parse.how] += 1
                self._n_words += len(item)
            if show_progress:
                self._progress.show(self._speed())
            yield item, parse
        self._progress.clear()

    def summarise(self) -> None:
        """Say how it went, on stderr."""
        how = ", ".join(f"{count:,} {way}" for way, count in self._ways.most_common())
        click.echo(f"{self._speed()}{'; ' if how else ''}{how}", err=True)

    def _speed(self) -> str:
        rate = self._n_words / max(time.monotonic() - self._started, 1e-9)
        counts = f"{plural(self._ways.total(), 'sentence')}, {plural(self._n_words, 'word')}"
        return f"{counts}, {rate:,.0f} words/s"
