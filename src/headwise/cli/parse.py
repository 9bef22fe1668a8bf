"""`headwise parse`."""

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

import click

from headwise import load
from headwise.cli.choices import check_tags, chosen_decode, how_to_parse
from headwise.cli.output import OutputFormat, Screen, screen_of, written
from headwise.cli.share import Job, check_processes, parse_in_processes
from headwise.cli.tally import Tally
from headwise.cli.terminal import examples
from headwise.errors import ConfigError, DataError
from headwise.files import open_target
from headwise.model.bundle import DEFAULT_MODEL, find_model, load_bundle
from headwise.settings.choices import Decoder, Input, Precision
from headwise.settings.parsing import MEMORY_BUDGET, SMALLEST_MEMORY_BUDGET
from headwise.text.read import open_any, read_any
from headwise.text.segmenter import read_text, why_no_text
from headwise.treebank.conllu import Malformed, OnError
from headwise.treebank.sentence import Sentence

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
        "xzcat test.conllu.xz | headwise parse --model runs/ewt --processes 2 > parsed.conllu",
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
    "--processes",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="The same by processes, which share the model; on long input they do more than threads.",
)
@click.option(
    "--memory-budget",
    type=click.IntRange(SMALLEST_MEMORY_BUDGET >> 20),
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
    help="Malformed CoNLL-U: stop, or report it and pass it through unparsed (in CoNLL; other "
    "formats leave it out).",
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
    processes: int,
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
    given = _Source(source, form, threads, processes if _is_file(source) else 1)
    check_processes(given.processes, threads, chosen, device)
    bundles = [load_bundle(find_model(model)) for model in models]
    for bundle, model in zip(bundles, models, strict=True):
        check_tags(bundle, model, keep_tags)
    parser = load(
        bundles,
        device=device,
        precision=precision,
        decode=chosen_decode(bundles[0], decoder, single_root),
        keep_tags=bool(keep_tags),
        treebank=treebank,
        memory_budget=memory_budget << 20,
    )
    _stream_through(Job(parser, on_error, chosen, screen), given, output, quiet)


class _Source(NamedTuple):
    """What is parsed, and by how many."""

    source: str
    form: Input
    threads: int
    processes: int


def _stream_through(job: Job, given: _Source, output: str, quiet: bool) -> None:
    """Parse and write, and say how it went."""
    # On a terminal, progress would stand among the output.
    passes_refused = job.out_form in ("conllu", "conllx")
    tally = Tally(not quiet and not job.screen.is_terminal, passes_refused)
    with open_target(output) as stream:
        for data in _parsed(job, given, tally):
            stream.write(data)
    tally.end()
    if not quiet and not (job.out_form == "tree" and job.screen.is_terminal):
        tally.summarise()


def _parsed(job: Job, given: _Source, tally: Tally) -> Iterator[bytes]:
    """Parse and write, shared out over threads or processes."""
    source, form, threads, processes = given
    if processes == 1:
        items = job.parser.annotate(_read(source, form, job), threads, job.on_error)
        yield from written(tally.count(items), job.out_form, job.screen)
        return
    with open_any(source, form, why_no_text(job.parser.vocab.reads)) as opened:
        for done in parse_in_processes(job, opened, processes):
            tally.add(done.counts)
            yield done.data


def _is_file(source: str) -> bool:
    return source == "-" or os.path.exists(source)


def _read(source: str, form: Input, job: Job) -> Iterator[Sentence | Malformed]:
    """Open a file, or take a string that names none as text."""
    parser = job.parser
    no_text = why_no_text(parser.vocab.reads)
    if _is_file(source):
        return read_any(source, form, parser.segmenter, job.on_error, no_text)
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
