"""`headwise parse`."""

import os
import re
from collections.abc import Iterator

import click

from headwise import load
from headwise.cli.choices import check_tags, chosen_decode, how_to_parse
from headwise.cli.output import OutputFormat, Tally, choose_format, screen_of, written
from headwise.cli.share import check_processes, parse_in_processes
from headwise.cli.terminal import help_examples
from headwise.errors import DataError
from headwise.files import open_target
from headwise.model.bundle import DEFAULT_MODEL, find_model, load_bundle
from headwise.runtime.parser import Parser
from headwise.settings.choices import Decoder, Input, Precision
from headwise.settings.parsing import MEMORY_BUDGET, SMALLEST_MEMORY_BUDGET
from headwise.text.read import read_any
from headwise.text.segmenter import read_text, why_no_text
from headwise.treebank.conllu import Malformed, OnError
from headwise.treebank.sentence import Sentence

_INPUT_FORMS = click.Choice(["auto", "conllu", "conllx", "text", "lines", "tokens"])
_OUTPUT_FORMATS = click.Choice(["conllu", "conllx", "json", "tree", "svg"])
_FILE_NAME = re.compile(
    r"\S*/\S*|(~|\.{1,2})?/.*"
    r"|.*\.(txt|text|conll|conllu|conllx|json|jsonl|tsv|csv|md|rst|html?|xml|pdf|docx?|gz|xz|bz2|zip)",
    re.IGNORECASE,
)
"""What looks like a file name: an error if there is no such file. Other arguments are text."""


@click.command(
    short_help="Parse text or CoNLL-U.",
    epilog=help_examples(
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
    help="Name or folder; several are an ensemble, which averages their distributions.",
)
@click.option("-o", "--output", default="-", show_default=True, help="File; .gz and .xz pack.")
@click.option(
    "--input",
    "form",
    type=_INPUT_FORMS,
    default="auto",
    show_default=True,
    help="text: running text; lines: one sentence a line; tokens: one sentence a line, a space "
    "between words; auto: conllu where it looks like that, else text.",
)
@click.option(
    "--format",
    "out_form",
    type=_OUTPUT_FORMATS,
    help="json: one object a line; tree: drawn in characters; svg: one picture. Default: by the "
    "name of the output (.json, .jsonl, .svg); tree on a terminal, else conllu (conllx if the "
    "input is).",
)
@how_to_parse
@click.option(
    "--treebank",
    default="",
    help="For a model trained on several treebanks: parse in the style of this one. Default: the "
    "main one.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Threads; the output does not depend on them.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Processes, which share the model; on long input they are faster than threads.",
)
@click.option(
    "--memory-budget",
    type=click.IntRange(SMALLEST_MEMORY_BUDGET >> 20),
    default=MEMORY_BUDGET >> 20,
    show_default=True,
    metavar="MIB",
    help="Memory for the sentences being parsed, besides the model. Sentences that need more are "
    "parsed in parts.",
)
@click.option(
    "--on-error",
    type=click.Choice(["raise", "skip"]),
    default="raise",
    show_default=True,
    help="Malformed CoNLL-U: stop, or report it and pass it through unparsed (other formats than "
    "CoNLL leave it out).",
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

    FILE is text or CoNLL-U, plain, gz or xz. TEXT is anything that is not a file and does not look
    like a file name. In CoNLL-U, tags, heads and labels are filled in; all else stays the same.
    """
    screen = screen_of(output)
    chosen = choose_format(out_form, output, form, screen)
    in_processes = processes > 1 and _is_file(source)
    if in_processes:
        check_processes(threads, chosen, device)
    bundles = [load_bundle(find_model(model)) for model in models]
    if keep_tags is False:
        for bundle, model in zip(bundles, models, strict=True):
            check_tags(bundle, model)
    is_other_decoding = decoder is not None or single_root is not None
    parser = load(
        bundles,
        device=device,
        precision=precision,
        decode=chosen_decode(bundles[0], decoder, single_root) if is_other_decoding else None,
        keep_tags=bool(keep_tags),
        treebank=treebank,
        memory_budget=memory_budget << 20,
    )
    if in_processes:
        parts = parse_in_processes(parser, source, form, chosen, processes, on_error)
    else:
        items = parser.annotate(_read(source, form, parser, on_error), threads, on_error)
    with open_target(output) as stream:
        # On a terminal, progress would be mixed with the output.
        tally = Tally(not quiet and not screen.is_terminal, chosen)
        if in_processes:
            for part in parts:
                stream.write(part.data)
                tally.add(part.counts)
        else:
            for data in written(tally.count(items), chosen, screen):
                stream.write(data)
    tally.end()
    if not quiet and not (chosen == "tree" and screen.is_terminal):
        tally.summarise()


def _is_file(source: str) -> bool:
    return source == "-" or os.path.exists(source)


def _read(
    source: str, form: Input, parser: Parser, on_error: OnError
) -> Iterator[Sentence | Malformed]:
    """Open a file, or take a string that is not the name of one as text."""
    no_text = why_no_text(parser.vocab.reads) if parser.vocab.reads else None
    if _is_file(source):
        return read_any(source, form, parser.segmenter, on_error, no_text)
    if form in ("conllu", "conllx") or _FILE_NAME.fullmatch(source):
        hint = "is the path right? (if it is text: use stdin)"
        raise DataError("No such file or directory", source, hint=hint)
    if no_text is not None:
        raise no_text
    return read_text(source, "text" if form == "auto" else form, parser.segmenter)
