"""`headwise parse`."""

import os
import re
from collections.abc import Iterator
from typing import BinaryIO

import click

from headwise import load
from headwise.cli.choices import check_tags, chosen_columns, chosen_decode, how_to_parse
from headwise.cli.models.choice import choose_by_text, open_models, warn_of_language
from headwise.cli.streams.output import (
    SHOWN,
    OutputFormat,
    Tally,
    choose_format,
    columns_to_show,
    screen_of,
    written,
)
from headwise.cli.streams.share import check_processes, parse_in_processes
from headwise.cli.terminal import help_examples
from headwise.errors import ConfigError, DataError
from headwise.files import open_target
from headwise.model.find import DEFAULT_MODEL
from headwise.runtime.parser import Parser
from headwise.settings.choices import Decoder, Input, Precision, PredictedColumn
from headwise.settings.parsing import MAX_TREES, MEMORY_BUDGET, SMALLEST_MEMORY_BUDGET
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
        "headwise parse --model auto livre.txt",
        "xzcat test.conllu.xz | headwise parse --model runs/ewt --processes 2 > parsed.conllu",
        "headwise parse --input tokens --format json sentences.txt",
        "headwise parse --keep heads,labels --probabilities half-annotated.conllu",
        'headwise parse --k-best 3 --marginals "I saw the man with the telescope."',
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
    help="Name, language or folder; several are an ensemble, which averages their distributions. "
    "auto: the installed model for the language of the input, told by its first 8 KB.",
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
@click.option(
    "--columns",
    metavar="COLUMNS",
    help="Columns that trees and pictures show beside the words: lemma, upos, xpos, feats, with "
    "commas between them.  [default: upos]",
)
@how_to_parse
@click.option(
    "--k-best",
    type=click.IntRange(1, MAX_TREES),
    metavar="K",
    help="Write the K most probable trees of each sentence with their probabilities, in JSON.",
)
@click.option(
    "--marginals",
    is_flag=True,
    help="Write the probability of each arc over all trees, and the entropy of the tree, in JSON.",
)
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
    columns: str | None,
    keep: str,
    keep_tags: bool | None,
    lemmas: str | None,
    probabilities: bool,
    k_best: int | None,
    marginals: bool,
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
    chosen = choose_format(out_form, output, form, screen, probabilities, bool(k_best) or marginals)
    shown = SHOWN if columns is None else _shown_columns(columns, chosen)
    is_file = _is_file(source, form)
    in_processes = processes > 1 and is_file
    if in_processes:
        check_processes(threads, chosen, device)
    models, opened = choose_by_text(models, source, form, is_file, quiet)
    bundles = open_models(models, quiet)
    if keep_tags is False:
        for bundle, model in zip(bundles, models, strict=True):
            check_tags(bundle, model)
    is_other_decoding = decoder is not None or single_root is not None
    parser = load(
        bundles,
        device=device,
        precision=precision,
        decode=chosen_decode(bundles[0], decoder, single_root) if is_other_decoding else None,
        keep=chosen_columns(keep, keep_tags) if keep or keep_tags else (),
        lemmas=lemmas,
        probabilities=probabilities,
        k_best=k_best or 0,
        marginals=marginals,
        treebank=treebank,
        memory_budget=memory_budget << 20,
    )
    if opened is source:  # a stream that auto opened is in the language of its model
        warn_of_language(bundles[0], source, form, is_file, quiet)
    if in_processes:
        parts = parse_in_processes(parser, opened, form, chosen, processes, on_error)
    else:
        items = parser.annotate(_read(opened, form, parser, on_error), threads, on_error)
    with open_target(output) as stream:
        # On a terminal, progress would be mixed with the output.
        tally = Tally(not quiet and not screen.is_terminal, chosen)
        if in_processes:
            for part in parts:
                stream.write(part.data)
                tally.add(part.counts)
        else:
            for data in written(tally.count(items), chosen, screen, shown):
                stream.write(data)
    tally.end()
    if not quiet and not (chosen == "tree" and screen.is_terminal):
        tally.summarise()


def _shown_columns(columns: str, chosen: OutputFormat) -> tuple[PredictedColumn, ...]:
    if chosen not in ("tree", "svg"):
        what = f"--columns: not with --format {chosen}, which has all columns"
        raise ConfigError(what, "use --format tree or svg")
    return columns_to_show(columns)


def _is_file(source: str, form: Input) -> bool:
    """Tell a file from text; what looks like the name of a file that is not there is an error."""
    if source == "-" or os.path.exists(source):
        return True
    if form in ("conllu", "conllx") or _FILE_NAME.fullmatch(source):
        hint = "is the path right? (if it is text: use stdin)"
        raise DataError("No such file or directory", source, hint=hint)
    return False


def _read(
    source: str | BinaryIO, form: Input, parser: Parser, on_error: OnError
) -> Iterator[Sentence | Malformed]:
    """Open a file, or take a string that is not the name of one as text."""
    no_text = why_no_text(parser.vocab.reads) if parser.vocab.reads else None
    if not isinstance(source, str) or _is_file(source, form):
        return read_any(source, form, parser.segmenter, on_error, no_text)
    if no_text is not None:
        raise no_text
    return read_text(source, "text" if form == "auto" else form, parser.segmenter)
